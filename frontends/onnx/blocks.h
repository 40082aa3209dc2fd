// blocks.h: weights of 2, 4 or 8 bits as bytes. Defined in ops/contrib_blocks.cpp.
#pragma once

#include "frontends/onnx/conversion_builder.h"

namespace relaxc::frontend {

/// Bytes [..., n] as the values they hold, [..., n * 8 / bits], lowest bits first.
Value* unpacked_bits(ConversionBuilder& c, Value* packed, int64_t bits);

}  // namespace relaxc::frontend
