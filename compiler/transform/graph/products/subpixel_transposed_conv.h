// subpixel_transposed_conv.h: a rule of reduce_strength about transposed convolutions with strides.
#pragma once

#include "compiler/transform/graph/rewriting/rewrite.h"

namespace relaxc {

/// A transposed convolution with strides is a convolution whose results are put between each other.
relax::Value* transposed_conv_in_phases(const Site& s);

}  // namespace relaxc
