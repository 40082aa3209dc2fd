// interpret.h: interprets a module op by op at the Relax level; the oracle of tests.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "compiler/relax/op_def.h"
#include "compiler/tir/evaluator.h"

namespace relaxc::relax {

/// A tensor in host memory; also a field of a tuple, a shape or a scalar.
struct HostTensor {
  DType dtype;
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;

  int64_t elements() const;
  friend bool operator==(const HostTensor&, const HostTensor&) = default;
};

/// Why a run failed.
struct RunFault {
  tir::RunStatus status;
  std::string text;  ///< the guard or op, in the form of rlx_function.nodes: with slots, or only its location
};

/// The budget of a run without a limit. Only iterations and calls consume budget: a program without them always
/// terminates.
constexpr int64_t kUnboundedRun = INT64_MAX;
/// The code of a run that exceeded its budget; no value of rlx_status.
constexpr int32_t kGivenUp = -2;

/// Runs `function` on `inputs` (one for each parameter, tuples flattened) and returns its outputs (flattened), or why
/// it failed. Guards, match_casts, regions, calls and data-dependent shapes are executed. Operators with `expand` are
/// expanded first. `evaluator` runs definitions; `external` runs external functions. Each call and each iteration of a
/// loop consumes 4096 of `budget`, and the bytes of its arguments or carried values.
std::variant<std::vector<HostTensor>, RunFault> interpret(Module& module, const OpTable& table,
                                                          const Function& function, std::span<const HostTensor> inputs,
                                                          tir::Evaluator& evaluator,
                                                          const tir::CallExternal& external = {},
                                                          int64_t budget = kUnboundedRun);

}  // namespace relaxc::relax
