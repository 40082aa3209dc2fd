// quantized.h: the arithmetic of quantized tensors that all converters of that kind share. Defined in ops/quantize.cpp.
#pragma once

#include "frontends/onnx/chain.h"

namespace relaxc::frontend {

// Scales and zero points: one number, a list along `axis`, or with `block` > 0 one number for each block of that many
// elements along it. A zero point may be null, which is 0.

/// x in int32 with its zero point taken away.
Value* centered(Chain& c, Value* x, Value* zero, int64_t axis = 0);
/// (x - zero) * scale.
Value* dequantized(Chain& c, Value* x, Value* scale, Value* zero, int64_t axis = 0, int64_t block = 0);
/// saturate(round(x / scale) + zero), rounding halves to even, as `dtype`.
Value* quantized(Chain& c, Value* x, Value* scale, Value* zero, DType dtype, int64_t axis = 0);

struct Quantization {
  Value *y, *scale, *zero;
};
/// x in uint8 by a scale and a zero point of its own range, which always holds 0.
Quantization quantized_by_range(Chain& c, Value* x);

}  // namespace relaxc::frontend
