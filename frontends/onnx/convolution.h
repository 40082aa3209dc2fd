// convolution.h: a convolution with the attributes that all operators of that kind share.
#pragma once

#include "frontends/onnx/node.h"

namespace relaxc::frontend {

/// Convolves x [N, C, spatial…] with a weight [O, C / group, spatial…] of the same dtype; strides, pads, dilations,
/// auto_pad, group and kernel_shape are the node's. Defined in ops/nn.cpp.
Result<Value*> convolution(Node& node, Value* x, Value* weight);

}  // namespace relaxc::frontend
