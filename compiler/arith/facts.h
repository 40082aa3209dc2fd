// facts.h: what is known of variables where an expression stands.
//
// Guards, annotations (`tir_var_upper_bound`), `--dim seq=1..512:64` and loop ranges become facts; simplify, bounds and
// the provers take them as assumptions. A Facts is a value: copy it to add what holds in an inner scope.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "compiler/arith/expr.h"

namespace relaxc::arith {

/// An inclusive range of integers; INT64_MIN and INT64_MAX stand for no bound. Arithmetic saturates.
struct Range {
  int64_t lower = INT64_MIN, upper = INT64_MAX;

  static Range exactly(int64_t value) { return {value, value}; }
  static Range at_least(int64_t value) { return {value, INT64_MAX}; }
  bool is_exact() const { return lower == upper; }
  bool has_lower() const { return lower != INT64_MIN; }
  bool has_upper() const { return upper != INT64_MAX; }
  friend bool operator==(Range, Range) = default;
};

class Facts {
 public:
  /// Narrows what is known of `var` (intersects with earlier facts).
  void bound(Var var, Range range);
  /// `var` is a multiple of `factor` (> 0); facts combine by least common multiple.
  void multiple(Var var, int64_t factor);
  /// `condition` (bool, over index expressions) holds. Comparisons of a variable with a constant become bounds; others
  /// are kept.
  void assume(Expr condition);

  Range range_of(Expr var) const;
  int64_t multiple_of(Expr var) const;
  const std::vector<Expr>& assumptions() const { return assumptions_; }

 private:
  struct Known {
    Range range;
    int64_t multiple = 1;
  };
  std::unordered_map<Expr, Known> vars_;
  std::vector<Expr> assumptions_;
};

}  // namespace relaxc::arith
