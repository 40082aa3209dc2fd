// requantization.h: quantizations of results that were computed from integers.
#pragma once

#include <optional>
#include <utility>

#include "compiler/relax/builder.h"

namespace relaxc {

/// Returns scale and zero point of a quantize or dequantize if both are one known number for the whole tensor.
std::optional<std::pair<double, int64_t>> quantization_parameters(const relax::Op& op);

/// Returns a `requantize` that replaces a `quantize` of a result computed from integers, with scales, biases, relus and
/// clips before it taken in; null for every other op.
Result<relax::Value*> as_requantization(relax::GraphBuilder& b, const relax::Op& op);

}  // namespace relaxc
