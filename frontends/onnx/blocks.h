// blocks.h: weights of 2, 4 or 8 bits, packed in bytes. Defined in ops/contrib_blocks.cpp.
#pragma once

#include "frontends/onnx/conversion_builder.h"

namespace relaxc::frontend {

/// Unpacks bytes [..., n] to the values in them, [..., n * 8 / bits], lowest bits first.
Value* unpacked_bits(ConversionBuilder& c, Value* packed, int64_t bits);

}  // namespace relaxc::frontend
