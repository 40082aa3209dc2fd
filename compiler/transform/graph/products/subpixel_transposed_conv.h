// subpixel_transposed_conv.h: a rule of reduce_strength about transposed convolutions with strides.
#pragma once

#include "compiler/transform/graph/rewriting/rewrite.h"

namespace relaxc {

/// A transposed convolution with strides is a convolution whose results are put between each other.
relax::Value* subpixel_transposed_conv(const Site& s);

}  // namespace relaxc
