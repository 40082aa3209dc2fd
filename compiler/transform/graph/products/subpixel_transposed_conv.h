// subpixel_transposed_conv.h: a rule of reduce_strength for transposed convolutions with strides.
#pragma once

#include "compiler/transform/graph/rewriting/rewrite.h"

namespace relaxc {

/// Replaces a transposed convolution with strides by a convolution whose result channels are interleaved.
relax::Value* subpixel_transposed_conv(const Site& s);

}  // namespace relaxc
