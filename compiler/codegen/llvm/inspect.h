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
  bool code = false;
};

/// An object or shared library: ELF, COFF, Mach-O or WebAssembly, with names as the format has them. Of sections only
/// those that are loaded and hold something; sections and symbols in the file's order, undefined symbols by name, each
/// once. Only ELF and WebAssembly have the size of a symbol; of others it is the distance to the next.
struct ObjectContents {
  std::vector<ObjectSection> sections;
  std::vector<ObjectSymbol> globals, locals;  ///< locals: functions alone
  std::vector<std::string> undefined;
};

/// Fails (kIo) if the file cannot be read as one of these; `shown` is its path for messages.
Result<ObjectContents> inspect_object(const std::string& path, const std::string& shown, Diagnostics& diag);

}  // namespace relaxc::codegen_llvm
