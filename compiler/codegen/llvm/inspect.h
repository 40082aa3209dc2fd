// inspect.h: the sections and symbols of an object file.
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
  std::string section;  ///< empty if it is in none
  uint64_t offset = 0;  ///< from the start of its section in an object, else its address
};

/// The contents of an object or shared library (ELF, COFF, Mach-O or WebAssembly), with names as the format has them,
/// in the file's order; undefined symbols are sorted by name. Sections that are not loaded or are empty are left out.
/// Only ELF and WebAssembly record the size of a symbol; in other formats it is the distance to the next symbol.
struct ObjectContents {
  std::vector<ObjectSection> sections;
  std::vector<ObjectSymbol> globals, locals;  ///< `locals` holds functions alone
  std::vector<std::string> undefined;
};

/// Reads an object file. Fails (kIo) if it is not of one of these formats; `shown` is its path in messages.
Result<ObjectContents> inspect_object(const std::string& path, const std::string& shown, Diagnostics& diag);

}  // namespace relaxc::codegen_llvm
