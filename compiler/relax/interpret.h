// interpret.h: the oracle: runs a module at the Relax level, op by op, each by its meaning.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "compiler/relax/op_def.h"
#include "compiler/tir/evaluator.h"

namespace relaxc::relax {

/// A tensor (or flattened part of a tuple, shape or scalar) of the host.
struct HostTensor {
  DType dtype;
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;

  int64_t elements() const;
  friend bool operator==(const HostTensor&, const HostTensor&) = default;
};

/// Why a run ended early.
struct RunFault {
  tir::RunStatus status;
  std::string text;  ///< which guard or op, as a text of rlx_function.nodes is: with slots, or a place alone
};

/// The budget of a run that is not given up. Only iterations and calls take from a budget: a program without them ends
/// by itself.
constexpr int64_t kUnboundedRun = INT64_MAX;
/// The code of the fault of a run that was given up; no status of rlx_status.
constexpr int32_t kGivenUp = -2;

/// Runs `function` on `inputs` (one a parameter, tuples flattened) and gives its outputs (flattened). Guards,
/// match_casts, regions, calls, data-dependent shapes are all executed as the language says. Operators with `expand`
/// are expanded on the fly. `evaluator` runs the definitions; `external` the external functions. Each call, and each
/// iteration of a loop, takes 4096 of `budget`, and the bytes that it is given.
std::variant<std::vector<HostTensor>, RunFault> interpret(Module& module, const OpTable& table,
                                                          const Function& function, std::span<const HostTensor> inputs,
                                                          tir::Evaluator& evaluator,
                                                          const tir::CallExternal& external = {},
                                                          int64_t budget = kUnboundedRun);

}  // namespace relaxc::relax
