// prover.h: answers many queries under the same facts.
//
// A single query (simplify.h) reads the assumptions each time and caches nothing. Users with many queries, such as a
// planner that compares every two sizes, use a Prover, which caches.
#pragma once

#include <memory>

#include "compiler/arith/simplify.h"

namespace relaxc::arith {

/// Answers like the functions of simplify.h, under the facts at the time it was made.
class Prover {
 public:
  Prover(Context& context, const Facts& facts);
  ~Prover();

  Range bounds(Expr e);     ///< of an index expression
  int64_t divisor(Expr e);  ///< of an index expression, too
  bool proves_le(Expr a, Expr b);
  bool proves_equal(Expr a, Expr b);
  Truth decide(Expr condition);
  /// Returns the cost of all answers so far, in the steps of budgets.
  int64_t steps() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Simplifies like arith::simplify, and caches: of n expressions that each contain the one before, no node is visited
/// twice. New facts clear the cache.
class Simplifier {
 public:
  explicit Simplifier(const Facts& facts);  ///< `facts` must outlive it
  ~Simplifier();
  Expr simplify(Expr e);

 private:
  struct State;
  const Facts& facts_;
  std::unique_ptr<State> state_;  ///< null until the first query
};

}  // namespace relaxc::arith
