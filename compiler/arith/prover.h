// prover.h: many questions under the same facts.
//
// A single question (simplify.h) reads the assumptions anew and forgets what it found out. Who asks often, as a planner
// does about every two sizes, asks a Prover, which remembers.
#pragma once

#include <memory>

#include "compiler/arith/simplify.h"

namespace relaxc::arith {

/// Answers as the functions of simplify.h do, under the facts that held when it was made.
class Prover {
 public:
  Prover(Context& context, const Facts& facts);
  ~Prover();

  Range bounds(Expr e);     ///< of an index expression
  int64_t divisor(Expr e);  ///< the same
  bool proves_le(Expr a, Expr b);
  bool proves_equal(Expr a, Expr b);
  Truth decide(Expr condition);
  /// What the answers so far have cost, in the steps that budgets are counted in.
  int64_t steps() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Simplifies as arith::simplify does, and remembers: of n expressions that are each made of the one before, none is
/// looked through twice. What it knows goes when facts come.
class Simplifier {
 public:
  explicit Simplifier(const Facts& facts);  ///< which outlive it
  ~Simplifier();
  Expr simplify(Expr e);

 private:
  struct State;
  const Facts& facts_;
  std::unique_ptr<State> state_;  ///< null: nothing has been asked
};

}  // namespace relaxc::arith
