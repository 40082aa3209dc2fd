// emit.h: writing what was compiled.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/codegen/llvm/cpu_levels.h"
#include "compiler/interface/object.h"
#include "targets/target.h"

namespace relaxc::codegen_llvm {

/// The numbers are those of the driver's own list of outputs, in which C is at 4 and the text IR at 6.
enum class OutputKind {
  kObject = 0,
  kAssembly = 1,
  kIr = 2,
  kBitcode = 3,
  kSharedLibrary = 5,
  kArchive = 7,
  kExecutable = 8
};

/// Bytes of stack of each entry; UINT64_MAX, or none at all: not known.
struct StackBounds {
  std::vector<uint64_t> generic;  ///< of rlx_function.run
  std::vector<uint64_t> typed;    ///< of the call that the header declares
};

/// How many functions of an object have been begun, and of how many.
using TellParts = std::function<void(size_t begun, size_t all)>;

struct EmitOptions {
  OutputKind kind = OutputKind::kObject;
  std::string opt = "2";             ///< "0", "1", "2", "3", "s", "z": LLVM's pipelines
  bool fast = false;                 ///< LLVM takes as little time as it can, whatever `opt` says
  bool line_tables = false;          ///< DWARF that says which source an instruction comes from
  int32_t jobs = 1;                  ///< threads that compile; the object is the same for any number
  std::string runtime, linker;       ///< what to link with, and by what: Linking::runtime, Linking::compiler
  std::string scratch;               ///< a file for the object that is linked or put into an archive
  std::string import_library;        ///< Linking::import_library
  std::vector<LevelVersion> levels;  ///< of the program, least first; empty: the object is its only version
  StackBounds* stack = nullptr;      ///< gets the stack that each entry takes
  std::function<bool()> stop;        ///< asked between parts, from any thread, whether to fail (cancelled); null: never
  TellParts tell;                    ///< called from any thread, one at a time; null: nothing is reported
  std::string shown_path;            ///< how messages call the file; empty: its path
};

/// Writes the object to `path`, which holds anything or nothing if it fails (kIo, kUnsupported).
Status emit(const interface::Object& object, const Target& target, const EmitOptions& options, const std::string& path,
            Diagnostics& diag);

}  // namespace relaxc::codegen_llvm
