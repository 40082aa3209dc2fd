// loop.h: a loop while it is differentiated.
#pragma once

#include "compiler/transform/graph/gradients/differentiation.h"

namespace relaxc::gradients {

struct Differentiation::Loop {
  arith::Expr steps;  ///< how many the loop has
  arith::Expr now;    ///< the step whose derivatives are computed, from the last to the first
  size_t carried = 0;
  std::vector<Adjoint> by_results;      ///< of the loop that is differentiated
  std::vector<relax::Value*> captured;  ///< from outside of the loop, and read in it
  std::vector<relax::Value*> sums;      ///< those of which not only a row for each step is read
  relax::Op* op = nullptr;              ///< the loop that computes the derivatives
  relax::Region* body = nullptr;        ///< of that: arguments are step, derivatives by carried floats, sums
  std::vector<size_t> floats;           ///< which carried values have derivatives
  std::vector<relax::Value*> states;    ///< the carried values at the step `now`
  std::unordered_map<relax::Value*, Adjoint> rows;  ///< derivatives by row `now` of captured tensors

  /// Whether the op is row `step` of a captured tensor that has a row for each step.
  bool takes_row(const relax::Op& op, arith::Expr step) const;
  /// Whether the step of `loop`, which is differentiated, reads only its row of the captured tensor.
  bool reads_rows_only(const relax::Op& loop, const relax::Value* value) const;
};

}  // namespace relaxc::gradients
