// string_permutation.h: converts operators that only move elements, for tensors of strings.
#pragma once

#include "frontends/onnx/converter.h"

namespace relaxc::frontend {

/// Converts a node with a tensor of strings as an input by a row that does not read elements: it moves their positions
/// (Strings::kMoved), or uses only sizes (kSized).
Status convert_on_positions(const Converter& converter, Node& node);

}  // namespace relaxc::frontend
