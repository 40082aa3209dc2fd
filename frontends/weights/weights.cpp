// weights.cpp: selects the reader for a file of weights, and checks what must hold for the tensors of every format.
#include "frontends/weights/weights.h"

#include <algorithm>

#include "compiler/relax/mapped_file.h"

namespace relaxc::frontend {
namespace {

/// Reports a bool that is neither 0 nor 1: all other code relies on that.
Status check_bools(const std::string& path, const NamedConstants& constants, Location where, Diagnostics& diag) {
  for (const auto& [name, constant] : constants) {
    if (!constant->dtype().is_bool()) continue;
    bool wrong = false;
    constant->with_bytes([&](std::span<const std::byte> bytes) {
      wrong = std::any_of(bytes.begin(), bytes.end(), [](std::byte b) { return b > std::byte{1}; });
    });
    if (wrong)
      return diag.error(where, Kind::malformed_model, "{}: '{}' has a bool that is neither 0 nor 1", path, name);
  }
  return Done{};
}

}  // namespace

Result<NamedConstants> read_weights(const std::shared_ptr<const relax::MappedFile>& file, Location where,
                                    Diagnostics& diag) {
  const std::string& path = file->path();
  bool npz = path.ends_with(".npz"), safetensors = path.ends_with(".safetensors");
  if (!npz && !safetensors)
    return diag.error(where, Kind::unsupported, "{}: weights are read from .npz and .safetensors files", path);
  RELAXC_TRY(NamedConstants constants, npz ? read_npz(file, where, diag) : read_safetensors(file, where, diag));
  RELAXC_DO(check_bools(path, constants, where, diag));
  return constants;
}

Result<NamedConstants> read_weights(const std::string& path, Location where, Diagnostics& diag) {
  RELAXC_TRY(relax::FileRef file, relax::map_file(path, where, diag));
  return read_weights(file, where, diag);
}

}  // namespace relaxc::frontend
