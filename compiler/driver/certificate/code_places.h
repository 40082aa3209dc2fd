// code_places.h: where the code of each kernel is in what was written.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/api/compile.h"

namespace relaxc::driver {

using namespace api;

/// A symbol in an object or library, or a function in C text.
struct CodePlace {
  std::string file;                        ///< without its folder
  std::string symbol;                      ///< as the file has it
  std::string section;                     ///< of an object; empty in C text
  uint64_t offset = 0, bytes = 0;          ///< in the section, or the address in a library
  uint64_t first_line = 0, last_line = 0;  ///< of C text, from 1 on; 0 in an object
};

/// A file that was written, under its name without a folder.
struct WrittenFile {
  std::string name;
  relax::FileRef content;
};

/// Returns the places of each kernel by its name, in the order of the files: its function, and the parts that run as
/// tasks or were split off by the optimizer. A kernel of which there is no symbol, as in a stripped library, is not in
/// the map. Fails (io) if the object cannot be read again.
Result<std::map<std::string, std::vector<CodePlace>>> code_places(const CompileOptions& options,
                                                                  const Artifact& artifact,
                                                                  const std::vector<WrittenFile>& written,
                                                                  Diagnostics& diag);

}  // namespace relaxc::driver
