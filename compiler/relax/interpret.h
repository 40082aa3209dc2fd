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

/// Runs `function` on `inputs` (one a parameter, tuples flattened) and gives its outputs (flattened). Guards,
/// match_casts, regions, calls, data-dependent shapes are all executed as the language says. Operators with `expand`
/// are expanded on the fly. `evaluator` runs the definitions; `external` the external functions.
std::variant<std::vector<HostTensor>, RunFault> interpret(Module& module, const OpTable& table,
                                                          const Function& function, std::span<const HostTensor> inputs,
                                                          tir::Evaluator& evaluator,
                                                          const tir::CallExternal& external = {});

}  // namespace relaxc::relax
