// sizes.h: finds the values of integer tensors that hold sizes.
//
// Relay computes shapes as tensors: shape_of, take, concatenate, and then dyn.reshape. If the elements of such a tensor
// are known at compile time as expressions, a shape made from these keeps known dims; a shape read from the tensor
// would only have new symbols.
#pragma once

#include <optional>

#include "frontends/relay/operators.h"

namespace relaxc::relay {

/// Returns the elements of a small integer tensor in row-major order, if all are known as expressions.
std::optional<Exprs> known_elements(arith::Context& context, const Value* tensor);
/// Converts a tensor of sizes to a shape value, of known dims if possible; a shape value is returned as it is.
Result<Value*> shape_from(TvmCall& c, Value* tensor);
/// Returns the argument as integers; reports an error unless they are known at compile time.
Result<Ints> known_integers(TvmCall& c, std::string_view param);
/// Returns the element of a constant with one element, else nothing.
std::optional<double> known_number(const Value* tensor);

}  // namespace relaxc::relay
