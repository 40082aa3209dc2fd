// is_onnx.h: whether a file is an ONNX model, whatever it is called.
#pragma once

#include <string>

#include "compiler/relax/mapped_file.h"

namespace relaxc::frontend {

/// Whether `path` is an ONNX model: by its extension or, for a file that can be read, because its bytes are the fields
/// of a ModelProto with a graph among them. A model that was cut off in its graph is one.
bool is_onnx_file(const std::string& path, const relax::MemoryFiles& memory);

}  // namespace relaxc::frontend
