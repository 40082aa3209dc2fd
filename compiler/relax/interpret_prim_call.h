// interpret_prim_call.h: runs a call of a prim func as the source or any pass has it.
//
// The prim func of a data-dependent operator fills buffers of upper bounds and writes the actual extents into buffers
// after the results; hoist_scratch adds temporary memory after those. Symbols of the callee are scalar parameters, bare
// dims, or parts of dims that the types of the call's operands determine.
#pragma once

#include <memory>
#include <vector>

#include "compiler/relax/interpret_values.h"

namespace relaxc::relax::interpreter {

class PrimCall {
 public:
  PrimCall(const Op& op, const tir::PrimFunc& function, tir::Evaluator& evaluator, FrameValues& values);

  /// Runs a call in destination passing style and sets the op's results.
  bool run();
  /// Runs a call that writes some of its operands, which are passed as leaves and scalars. `fresh` receives the results
  /// that have memory of their own.
  bool run_inplace(Parts tensors, std::vector<int64_t> scalars, std::vector<std::shared_ptr<HostTensor>>& fresh);

 private:
  bool solve_symbols();
  bool make_buffers();
  bool run_prim_func();
  bool bind_results();

  const Op& op_;
  const tir::PrimFunc& function_;
  tir::Evaluator& evaluator_;
  FrameValues& values_;
  Parts inputs_;
  std::vector<int64_t> scalars_;
  std::vector<const TensorInfo*> operands_, results_;
  std::vector<tir::BufferRef> formals_;  ///< the callee's parameters: operands, results, bound values, scratch
  SymbolValues::Map sizes_;              ///< values of the callee's scalars and symbols
  std::vector<std::shared_ptr<HostTensor>> outputs_;
  std::vector<int64_t> bound_values_;  ///< values of the symbols that the op binds
};

}  // namespace relaxc::relax::interpreter
