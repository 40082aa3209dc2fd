// is_onnx.h: recognizes ONNX models by their content.
#pragma once

#include <string>

#include "compiler/relax/mapped_file.h"

namespace relaxc::frontend {

/// Returns whether `path` is an ONNX model: by its extension or, for a readable file, because its bytes are fields of a
/// ModelProto that include a graph. A model that is truncated within its graph counts as one.
bool is_onnx_file(const std::string& path, const relax::MemoryFiles& memory);

}  // namespace relaxc::frontend
