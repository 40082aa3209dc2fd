// manifest.h: `--manifest`: describes an object and what it needs, for programs that decide whether it fits.
#pragma once

#include <string>
#include <vector>

#include "compiler/api/observe/profile.h"
#include "compiler/codegen/llvm/inspect.h"

namespace relaxc::api {

struct Manifest {
  std::string output, weights_file;  ///< file names without folders; `weights_file` is empty if there is none
  uint64_t output_bytes = 0;
  std::vector<uint64_t> stack_max;      ///< of each entry; UINT64_MAX, or an empty list, if not known
  std::vector<uint64_t> run_stack_max;  ///< the same for the typed call
  std::vector<std::string> flags;       ///< the flags in the object's hash
  codegen_llvm::ObjectContents contents;
  std::vector<std::vector<EntryProfile>> profiles;  ///< of each entry
};

/// Returns the manifest as JSON, which docs/command-line.md documents.
std::string manifest_json(const Manifest& manifest, const interface::Object& object, const Target& target);

}  // namespace relaxc::api
