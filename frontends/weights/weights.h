// weights.h: reads model data from a file beside the program: `.npz` or `.safetensors`.
//
// A tensor of such a file is a reference to its bytes, so reading gigabytes of weights only costs address space.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/relax/constant.h"
#include "compiler/support/result.h"

namespace relaxc::frontend {

/// Tensors by their names in the file.
using NamedConstants = std::map<std::string, relax::ConstantRef>;

/// Reads the file; its extension gives the format. Reports malformed_model if the file is truncated, its parts lie
/// outside of it or overlap, a checksum is wrong, or a name occurs twice; unsupported for another extension or an
/// unsupported dtype.
Result<NamedConstants> read_weights(const std::string& path, Location where, Diagnostics& diag);
/// Same for an open file; its path's extension gives the format.
Result<NamedConstants> read_weights(const std::shared_ptr<const relax::MappedFile>& file, Location where,
                                    Diagnostics& diag);

/// Same for a mapped file of a known format; the path only occurs in messages.
Result<NamedConstants> read_safetensors(const std::shared_ptr<const relax::MappedFile>& file, Location where,
                                        Diagnostics& diag);
Result<NamedConstants> read_npz(const std::shared_ptr<const relax::MappedFile>& file, Location where,
                                Diagnostics& diag);

/// Returns whether safetensors has a name for the dtype.
bool has_safetensors_dtype(DType dtype);
/// Returns the head of a `.safetensors` file, before the bytes of the tensors in this order.
std::string safetensors_head(const std::vector<std::pair<std::string, relax::ConstantRef>>& tensors);

}  // namespace relaxc::frontend
