// interpret_prim_call.h: one call of a prim func, as the source or any later pass has it.
//
// The prim func of a data-dependent operator fills buffers of its upper bounds, and writes the true extents into
// buffers that follow the results; hoist_scratch adds memory for temporaries behind those. Symbols of the callee are
// scalars, dims that are alone, or parts of dims whose other side the call's types have.
#pragma once

#include <memory>
#include <vector>

#include "compiler/relax/interpret_values.h"

namespace relaxc::relax::interpreter {

class PrimCall {
 public:
  PrimCall(const Op& op, const tir::PrimFunc& function, tir::Evaluator& evaluator, FrameValues& values);

  /// A call in destination passing style: gives the op its results.
  bool run();
  /// A call that writes some of its operands, which are given as leaves and scalars. `fresh` receives the results with
  /// memory of their own.
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
  std::vector<tir::BufferRef> formals_;  ///< of the callee: operands, results, bound values, scratch
  SymbolValues::Map sizes_;              ///< of the callee's scalars and symbols
  std::vector<std::shared_ptr<HostTensor>> outputs_;
  std::vector<int64_t> bound_values_;  ///< of the symbols that the op binds
};

}  // namespace relaxc::relax::interpreter
