// requantization.h: quantizations of results that were computed from integers.
#pragma once

#include <optional>
#include <utility>

#include "compiler/relax/builder.h"

namespace relaxc {

/// Scale and zero point of a quantize or dequantize, if they are numbers for the whole tensor.
std::optional<std::pair<double, int64_t>> quantization_parameters(const relax::Op& op);

/// What can stand for a `quantize` whose operand comes from integers: a `requantize` of their sum, with biases, relus
/// and clips between them taken in. Null for every other op.
Result<relax::Value*> as_requantization(relax::GraphBuilder& b, const relax::Op& op);

}  // namespace relaxc
