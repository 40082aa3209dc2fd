// multiversion.h: one object for several CPUs: gives the versions of a program one interface.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "compiler/codegen/llvm/cpu_levels.h"
#include "compiler/interface/object.h"
#include "compiler/relax/module.h"
#include "compiler/support/diagnostics.h"

namespace relaxc::api {

/// A version of the program for a CPU that is not the best one of the list.
struct LesserVersion {
  relax::Module module;  ///< owns what the object refers to
  interface::Object object;
  uint64_t own_weights = 0;  ///< bytes that better versions have in another packing
};

/// Makes the interface of `object`, the best version, valid for all versions: its arena sizes are their maxima. Fails
/// (reported) if a prim func needs memory of the caller in some versions only.
Status cover(interface::Object& object, const std::deque<LesserVersion>& lesser, Diagnostics& diag);

/// Returns, for -v, a line for each version about what it does not share. `levels` and versions: least first.
std::vector<std::string> duplicated(const interface::Object& object, const std::deque<LesserVersion>& lesser,
                                    const std::vector<codegen_llvm::CpuLevel>& levels);

/// Returns the versions for the emitter, least first.
std::vector<codegen_llvm::LevelVersion> versions(const interface::Object& object,
                                                 const std::deque<LesserVersion>& lesser,
                                                 const std::vector<codegen_llvm::CpuLevel>& levels);

}  // namespace relaxc::api
