// quantized.h: the arithmetic of quantized tensors, shared by converters. Defined in ops/quantize.cpp.
#pragma once

#include "frontends/onnx/conversion_builder.h"

namespace relaxc::frontend {

// Scales and zero points are one number, a list along `axis`, or with `block` > 0 one number for each block of that
// many elements along it. A zero point may be null, which means 0.

/// Returns x in int32 minus its zero point.
Value* centered(ConversionBuilder& c, Value* x, Value* zero, int64_t axis = 0);
/// Returns (x - zero) * scale.
Value* dequantized(ConversionBuilder& c, Value* x, Value* scale, Value* zero, int64_t axis = 0, int64_t block = 0);
/// Returns saturate(round(x / scale) + zero), ties to even, as `dtype`.
Value* quantized(ConversionBuilder& c, Value* x, Value* scale, Value* zero, DType dtype, int64_t axis = 0);

struct Quantization {
  Value *y, *scale, *zero;
};
/// Quantizes x to uint8 by a scale and a zero point of its own range, extended to include 0.
Quantization quantized_by_range(ConversionBuilder& c, Value* x);

}  // namespace relaxc::frontend
