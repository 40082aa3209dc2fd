// sizes.h: integer tensors that hold sizes.
//
// Relay computes shapes as tensors: shape_of, take, concatenate, and then dyn.reshape. What is known of such a tensor
// when compiling is a list of expressions; a shape made of them keeps dims that are known, where one that is read from
// the tensor would have new symbols.
#pragma once

#include <optional>

#include "frontends/relay/operators.h"

namespace relaxc::relay {

/// The elements of an integer tensor of few of them, in row-major order, if all are known as expressions.
std::optional<Exprs> known_elements(arith::Context& context, const Value* tensor);
/// A tensor of sizes as a shape value.
Result<Value*> shape_from(TvmCall& c, Value* tensor);
/// The argument as integers, known when compiling.
Result<Ints> known_integers(TvmCall& c, std::string_view param);
/// The one element of a constant.
std::optional<double> known_number(const Value* tensor);

}  // namespace relaxc::relay
