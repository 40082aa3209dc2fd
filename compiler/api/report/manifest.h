// manifest.h: `--manifest`: what an object is and needs, for programs that decide whether it fits.
#pragma once

#include <string>
#include <vector>

#include "compiler/api/observe/profile.h"
#include "compiler/codegen/llvm/inspect.h"

namespace relaxc::api {

struct Manifest {
  std::string output, weights_file;  ///< file names without folders; no weights file: empty
  uint64_t output_bytes = 0;
  std::vector<uint64_t> stack_max;      ///< of each entry; UINT64_MAX, or none at all: not known
  std::vector<uint64_t> run_stack_max;  ///< the same of the typed call
  std::vector<std::string> flags;       ///< what the hash covers besides the inputs
  codegen_llvm::ObjectContents contents;
  std::vector<std::vector<EntryProfile>> profiles;  ///< of each entry
};

/// The manifest as JSON, documented in docs/command-line.md.
std::string manifest_json(const Manifest& manifest, const interface::Object& object, const Target& target);

}  // namespace relaxc::api
