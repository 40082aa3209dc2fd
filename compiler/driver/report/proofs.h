// proofs.h: what `inspect --prove` finds out of the memory and the kernels of a compiled model.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/api/compile.h"
#include "compiler/proof/kernels/check_kernel.h"
#include "compiler/proof/verdict.h"

namespace relaxc::driver {

using namespace api;

/// The claims that were checked; a part that was not asked for is not there.
struct Proofs {
  std::optional<std::vector<proof::Claims>> memory;          ///< of each host function
  std::optional<std::vector<proof::KernelVerdict>> kernels;  ///< of each kernel that was scheduled

  /// Whether something is refuted.
  bool refuted() const;
};

/// "proved", "checked", "refuted", "undecided".
std::string_view name_of(proof::KernelAnswer answer);

/// Checks the plan of memory, the schedules of kernels, or both ("memory", "kernels", "all"). The artifact was
/// observed. `print` gets lines about each function and kernel as soon as it is checked, which may take minutes, and
/// totals. Kernels are checked by `jobs` threads, one for each core if that is 0.
Proofs prove(const Artifact& artifact, const std::string& what, int32_t jobs,
             const std::function<void(const std::string&)>& print);

}  // namespace relaxc::driver
