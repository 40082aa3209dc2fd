// cpu_levels.h: CPUs that one object serves in several versions, and how a program distinguishes them while it runs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/interface/object.h"
#include "targets/machine.h"
#include "targets/target.h"

namespace relaxc::codegen_llvm {

/// A CPU of `--mcpu=A,B`.
struct CpuLevel {
  std::string name;  ///< as the user says it
  Target target;
  uint64_t needs = 0;  ///< RLX_CPU_* bits that rlx_context.cpu_features must have
};

/// The CPUs of a list, each a name of the architecture's baseline or of --print-targets, with features behind it:
/// "x86-64-v4+avx512vnni". Fails (usage) on what rlx_context.cpu_features cannot express, and on architectures other
/// than x86-64 and aarch64.
Result<std::vector<CpuLevel>> resolve_levels(const Machine& machine, const std::string& list, Diagnostics& diag);

/// The one level of an object for `target` that refuses other CPUs; nothing on architectures that have no levels.
std::optional<CpuLevel> only_level(const Target& target);

/// What every CPU of the levels' architecture does: for code that runs before a level is chosen.
Result<Target> baseline_of(const CpuLevel& level, Diagnostics& diag);

/// One version of the program, and the CPUs that it is for.
struct LevelVersion {
  const CpuLevel* level = nullptr;
  const interface::Object* object = nullptr;  ///< all of one interface
};

}  // namespace relaxc::codegen_llvm
