// weights.h: model data that is in a file of its own beside a program: `.npz` and `.safetensors`.
//
// A tensor of such a file is a reference to its bytes, so that reading gigabytes of weights costs address space only.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/relax/constant.h"
#include "compiler/support/result.h"

namespace relaxc::frontend {

/// Tensors by the names that their file gives them.
using NamedConstants = std::map<std::string, relax::ConstantRef>;

/// Reads the file, by its extension. Reports (malformed_model) a file that is cut, whose parts are outside of it or
/// over each other, whose checksums are wrong, or that holds a name twice; (unsupported) an extension or a dtype that
/// is not read.
Result<NamedConstants> read_weights(const std::string& path, Location where, Diagnostics& diag);
/// The same of a file that is open, whose path's extension says what it is.
Result<NamedConstants> read_weights(const std::shared_ptr<const relax::MappedFile>& file, Location where,
                                    Diagnostics& diag);

/// The same for files that are mapped already; the path is for messages.
Result<NamedConstants> read_safetensors(const std::shared_ptr<const relax::MappedFile>& file, Location where,
                                        Diagnostics& diag);
Result<NamedConstants> read_npz(const std::shared_ptr<const relax::MappedFile>& file, Location where,
                                Diagnostics& diag);

/// True if safetensors has a name for the dtype.
bool has_safetensors_dtype(DType dtype);
/// What a `.safetensors` file begins with, before the bytes of the tensors in this order.
std::string safetensors_head(const std::vector<std::pair<std::string, relax::ConstantRef>>& tensors);

}  // namespace relaxc::frontend
