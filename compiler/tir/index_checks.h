// index_checks.h: finds the index arithmetic of a prim func that may overflow int64.
//
// A prim func with an overflow code returns a status if a sum, a difference or a product of indices does not fit int64.
// Backends ask here which nodes need a check: those that the ranges of variables do not bound. Ranges come from scalar
// parameters and symbols (IndexChecks::ranges, which guards of the entry check before the call), from Lets, loop
// variables and axes of blocks.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/arith/facts.h"
#include "compiler/tir/prim_func.h"

namespace relaxc::tir {

/// The ranges of the index expressions of one prim func. Results are cached for each node.
class IndexRanges {
 public:
  explicit IndexRanges(const PrimFunc& function);
  /// For expressions over variables with the given ranges.
  explicit IndexRanges(std::unordered_map<Expr, arith::Range> vars) : vars_(std::move(vars)) {}

  /// Returns whether the operation at the root of `e` fits int64 for all values of the variables, given operands that
  /// fit; true for everything that is not a sum, difference or product of indices.
  bool fits(Expr e) { return known(e).fits; }
  /// Returns whether that is true of every node of `e`.
  bool all_fit(Expr e) { return known(e).all; }
  /// Returns the range of the value of `e`, if it is computed without overflow.
  arith::Range range(Expr e) { return known(e).range; }
  /// Returns whether no node of the function needs a check.
  bool all_fit();
  /// Returns whether computing `e` overflows for all values of the variables.
  bool never_fits(Expr e);

 private:
  struct Known {
    arith::Range range;
    bool fits = true, never = false;
    bool all = true;  ///< whether `e` and all nodes below it fit
  };
  Known known(Expr e);
  Known learn(Expr e) const;
  void bind_all(const std::unordered_map<Expr, int>& lets);
  void bind(Expr var, arith::Range range);
  arith::Range range_of_let(const Let& let);

  const PrimFunc* function_ = nullptr;
  bool widened_ = false;  ///< whether a variable with several bindings got a larger range than before
  std::unordered_map<Expr, arith::Range> vars_;
  std::unordered_map<Expr, Known> known_;
};

/// Returns an upper bound of the values of `var` for which `size` does not overflow, when all variables have `ranges`;
/// for large expressions of many variables up to twice the least bound, and for very large ones that of its range.
int64_t most_that_fits(Expr size, Expr var, const std::unordered_map<Expr, arith::Range>& known);

/// Returns the guard that fails on overflow. Its record is that of the guard whose condition is computed; its code is
/// the function's overflow code, except in a guard of a function whose sizes only data decides. With `computed_by`
/// null, the node is the function's.
Guard overflow_record(const PrimFunc& function, const Guard* computed_by);
/// Returns that guard for the arguments of a call that has a node (`error_node` >= 0).
Guard overflow_of(const PrimFunc& function, const Invoke& call);
/// Returns the record's `actual` if the guard has none: INT64_MAX, or 0 for the code "out of memory".
int64_t overflow_actual(const Guard& record);

}  // namespace relaxc::tir
