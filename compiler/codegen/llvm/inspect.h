// inspect.h: what an object file holds, read from the file itself.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/support/result.h"

namespace relaxc::codegen_llvm {

struct ObjectSection {
  std::string name;
  uint64_t bytes = 0;
  bool code = false, writable = false;
};

struct ObjectSymbol {
  std::string name;
  uint64_t bytes = 0;
};

/// An ELF object or shared library. Of sections only those that are loaded; sections and symbols in the file's order,
/// undefined symbols by name, each once.
struct ObjectContents {
  std::vector<ObjectSection> sections;
  std::vector<ObjectSymbol> globals;
  std::vector<std::string> undefined;
};

/// Fails (kIo) if the file cannot be read as ELF; `shown` is its path for messages.
Result<ObjectContents> inspect_object(const std::string& path, const std::string& shown, Diagnostics& diag);

}  // namespace relaxc::codegen_llvm
