// cpu_levels.h: the CPUs for which one object holds a version of the program each, and how a run tells them apart.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/interface/object.h"
#include "targets/machine.h"
#include "targets/target.h"

namespace relaxc::codegen_llvm {

/// One CPU of `--mcpu=A,B`.
struct CpuLevel {
  std::string name;  ///< as the user wrote it
  Target target;
  uint64_t needs = 0;  ///< RLX_CPU_* bits that rlx_context.cpu_features must have
};

/// Resolves a list of CPUs. Each is a name of the architecture's baseline or of --print-targets, optionally followed by
/// features: "x86-64-v4+avx512vnni". Fails (usage) on CPUs and features that rlx_context.cpu_features cannot express,
/// and on architectures other than x86-64 and aarch64.
Result<std::vector<CpuLevel>> resolve_levels(const Machine& machine, const std::string& list, Diagnostics& diag);

/// Returns the level of an object for `target` that refuses other CPUs; nullopt on architectures that have no levels.
std::optional<CpuLevel> only_level(const Target& target);

/// Returns the baseline CPU of the level's architecture, for code that runs before a level is chosen.
Result<Target> baseline_of(const CpuLevel& level, Diagnostics& diag);

/// One version of the program, and the CPU level that it is compiled for.
struct LevelVersion {
  const CpuLevel* level = nullptr;
  const interface::Object* object = nullptr;  ///< has the same interface in all versions
};

}  // namespace relaxc::codegen_llvm
