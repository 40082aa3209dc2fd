// index_checks.h: which index arithmetic of a prim func may leave int64.
//
// A prim func with an overflow code leaves with a status where a sum, a difference or a product of indices does not fit
// int64. What the ranges of its variables exclude needs no check, so backends ask here which nodes do. The ranges are
// those of its scalar parameters and symbols (a field of the function, since guards of the entry check them before the
// call), of what a Let binds, of loop variables and of the axes of blocks.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/arith/facts.h"
#include "compiler/tir/prim_func.h"

namespace relaxc::tir {

/// The ranges of the index expressions of one prim func. Each node is looked at once.
class IndexRanges {
 public:
  explicit IndexRanges(const PrimFunc& function);
  /// Of expressions over variables with these ranges.
  explicit IndexRanges(std::unordered_map<Expr, arith::Range> vars) : vars_(std::move(vars)) {}

  /// Whether `e` itself, computed from operands that fit, fits int64 whatever the variables are. True of all that is no
  /// sum, difference or product of indices.
  bool fits(Expr e) { return known(e).fits; }
  /// Whether that holds of every node of `e`.
  bool all_fit(Expr e) { return known(e).all; }
  /// Of its value, once it was computed without overflow.
  arith::Range range(Expr e) { return known(e).range; }
  /// Whether nothing in the function needs a check.
  bool all_fit();
  /// Whether computing `e` overflows for all values of the variables.
  bool never_fits(Expr e);

 private:
  struct Known {
    arith::Range range;
    bool fits = true, never = false;
    bool all = true;  ///< `e` and all that it is made of fit
  };
  Known known(Expr e);
  Known learn(Expr e) const;
  void bind_all(const std::unordered_map<Expr, int>& lets);
  void bind(Expr var, arith::Range range);
  arith::Range range_of_let(const Let& let);

  const PrimFunc* function_ = nullptr;
  bool widened_ = false;  ///< a variable that is bound at several places got a larger range than it had
  std::unordered_map<Expr, arith::Range> vars_;
  std::unordered_map<Expr, Known> known_;
};

/// What `var` is at most where computing `size` does not overflow, all variables having `ranges`; of large expressions
/// with many variables up to twice that.
int64_t most_that_fits(Expr size, Expr var, std::unordered_map<Expr, arith::Range> ranges);

/// What leaves the function where index arithmetic overflows, which has the function's overflow code: the record's
/// indices are those of the guard that computes it, and so is the code, if only data decides it. Null: none does, and
/// the node is the function's.
Guard overflow_record(const PrimFunc& function, const Guard* computed_by);
/// The guard that computes the arguments of a call, which has a node (its `error_node` is 0 or more).
Guard overflow_of(const PrimFunc& function, const Invoke& call);
/// The value of the record's `actual` where the guard gives none: saturated, or 0 where no memory is that large.
int64_t overflow_actual(const Guard& record);

}  // namespace relaxc::tir
