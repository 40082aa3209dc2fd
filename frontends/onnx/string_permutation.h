// string_permutation.h: operators that only move elements, on tensors of strings.
#pragma once

#include "frontends/onnx/converter.h"

namespace relaxc::frontend {

/// Converts a node that has a tensor of strings as an input, by a row that does not look at elements: what is moved are
/// their positions (Strings::kMoved), or only sizes are asked for (kSized).
Status convert_on_positions(const Converter& converter, Node& node);

}  // namespace relaxc::frontend
