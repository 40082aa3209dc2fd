// emit.h: writing what was compiled.
#pragma once

#include <string>

#include "compiler/interface/object.h"
#include "targets/target.h"

namespace relaxc::codegen_llvm {

enum class OptLevel { kO0, kO1, kO2, kO3, kOs, kOz };
enum class OutputKind { kObject, kAssembly, kIr, kBitcode, kSharedLibrary };

struct EmitOptions {
  OutputKind kind = OutputKind::kObject;
  OptLevel level = OptLevel::kO2;
  std::string runtime_library;  ///< path of librelax_rt.a; needed for kSharedLibrary
};

/// Writes the object to `path`, which holds anything or nothing if it fails (kIo, kUnsupported).
Status emit(const interface::Object& object, const Target& target, const EmitOptions& options, const std::string& path,
            Diagnostics& diag);

}  // namespace relaxc::codegen_llvm
