// quantized.h: the arithmetic of quantized tensors that all converters of that kind share. Defined in ops/quantize.cpp.
#pragma once

#include "frontends/onnx/chain.h"

namespace relaxc::frontend {

// Scales and zero points: one number, or a list along `axis`. A zero point may be null, which is 0.

/// x in int32 with its zero point taken away.
Value* centered(Chain& c, Value* x, Value* zero, int64_t axis);
/// (x - zero) * scale.
Value* dequantized(Chain& c, Value* x, Value* scale, Value* zero, int64_t axis = 0);
/// saturate(round(x / scale) + zero), rounding halves to even. `zero` null: of dtype `dtype`.
Value* quantized(Chain& c, Value* x, Value* scale, Value* zero, DType dtype, int64_t axis = 0);

}  // namespace relaxc::frontend
