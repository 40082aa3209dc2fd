// multiversion.h: one object for several CPUs: the versions of a program, made one interface.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "compiler/codegen/llvm/cpu_levels.h"
#include "compiler/interface/object.h"
#include "compiler/relax/module.h"
#include "compiler/support/diagnostics.h"

namespace relaxc::api {

/// The program as compiled for a CPU that is not the best of the list.
struct LesserVersion {
  relax::Module module;  ///< owns what the object refers to
  interface::Object object;
  uint64_t own_weights = 0;  ///< bytes that the better versions have in another packing
};

/// Makes the interface of `object`, which is the best version, that of all: its arenas serve each of them. Fails
/// (reported) where a prim func needs memory of the caller in some versions alone.
Status cover(interface::Object& object, const std::deque<LesserVersion>& lesser, Diagnostics& diag);

/// What the versions have each for themselves, a line for -v each. `levels` and versions least first.
std::vector<std::string> duplicated(const interface::Object& object, const std::deque<LesserVersion>& lesser,
                                    const std::vector<codegen_llvm::CpuLevel>& levels);

/// The versions as the emitter takes them, least first.
std::vector<codegen_llvm::LevelVersion> versions(const interface::Object& object,
                                                 const std::deque<LesserVersion>& lesser,
                                                 const std::vector<codegen_llvm::CpuLevel>& levels);

}  // namespace relaxc::api
