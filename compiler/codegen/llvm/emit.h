// emit.h: writes an object, a library or a program to a file.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/codegen/llvm/cpu_levels.h"
#include "compiler/interface/object.h"
#include "targets/target.h"

namespace relaxc::codegen_llvm {

/// The numbers are those of the driver's own enumeration of outputs, where C is 4 and the text IR is 6.
enum class OutputKind {
  kObject = 0,
  kAssembly = 1,
  kIr = 2,
  kBitcode = 3,
  kSharedLibrary = 5,
  kArchive = 7,
  kExecutable = 8
};

/// Upper bounds of the stack that each entry uses, in bytes; UINT64_MAX, or an empty list, if they are not known.
struct StackBounds {
  std::vector<uint64_t> generic;  ///< of rlx_function.run
  std::vector<uint64_t> typed;    ///< of the typed call that the header declares
};

/// Reports progress: how many functions of an object have been started, and how many there are.
using TellParts = std::function<void(size_t begun, size_t all)>;

struct EmitOptions {
  OutputKind kind = OutputKind::kObject;
  std::string opt = "2";             ///< optimization level: "0", "1", "2", "3", "s", "z"
  bool fast = false;                 ///< whether LLVM takes as little time as possible, whatever `opt` is
  bool line_tables = false;          ///< whether to write DWARF line tables
  int32_t jobs = 1;                  ///< threads that compile; the object is the same for any number
  std::string runtime, linker;       ///< see Linking::runtime, Linking::compiler
  std::string scratch;               ///< path of a temporary file for the object that is linked or archived
  std::string import_library;        ///< see Linking::import_library
  std::vector<LevelVersion> levels;  ///< the program's versions, least CPU first; empty if `object` is the only one
  StackBounds* stack = nullptr;      ///< receives the stack of each entry; may be null
  std::function<bool()> stop;        ///< asked between parts, from any thread, whether to cancel; null: never
  TellParts tell;                    ///< called from any thread, never concurrently; may be null
  std::string shown_path;            ///< the path that messages show; empty: the path itself
};

/// Writes the object to `path`. If it fails (kIo, kUnsupported), the content of `path` is undefined.
Status emit(const interface::Object& object, const Target& target, const EmitOptions& options, const std::string& path,
            Diagnostics& diag);

}  // namespace relaxc::codegen_llvm
