// facts.h: what is known of variables at the place of an expression.
//
// Guards, annotations (`tir_var_upper_bound`), `--dim seq=1..512:64` and loop ranges become facts; simplify, bounds and
// the provers take them as assumptions. A Facts is a value: copy it to add what holds in an inner scope.
#pragma once

#include <cstdint>
#include <span>
#include <string>
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

/// The integers that leave `remainder` when divided by `modulus`, 0 <= remainder < modulus; {1, 0} are all of them. As
/// an answer, modulus 0 stands for the one number `remainder`.
struct Congruence {
  int64_t modulus = 1, remainder = 0;
  friend bool operator==(Congruence, Congruence) = default;
};

/// What is known of variables. A fact that contradicts an earlier one is not taken; conflict() then says why.
class Facts {
 public:
  /// Narrows what is known of `var` (intersects with earlier facts).
  void bound(Var var, Range range);
  /// `var` is a multiple of `factor` (> 0); facts combine by least common multiple.
  void multiple(Var var, int64_t factor) { congruent(var, {factor, 0}); }
  /// `var` is one of these integers (modulus > 0, any remainder).
  void congruent(Var var, Congruence known);
  /// `condition` (bool, over index expressions) holds. What it says of one variable becomes a bound or a congruence;
  /// inequalities and equalities between variables are kept for the provers.
  void assume(Expr condition);

  Range range_of(Expr var) const;
  Congruence congruence_of(Expr var) const;
  /// The greatest number that is known to divide `var`; 1 if none is.
  int64_t multiple_of(Expr var) const;
  const std::vector<Expr>& assumptions() const { return assumptions_; }
  /// The distinct variables of assumptions()[place], in order of creation.
  std::span<const Var> variables_of(size_t place) const;
  /// The places in assumptions() of those that mention `var`, the latest first.
  std::vector<size_t> assumptions_of(Expr var) const;
  /// Why no values satisfy all that was said, as half a sentence ("'n' is at least 5 and at most 3"); empty if no
  /// contradiction was seen. Not every contradiction is.
  const std::string& conflict() const { return conflict_; }
  /// Another number after each fact that was taken: who keeps answers asks whether they are still the best ones.
  uint64_t revision() const { return revision_; }

 private:
  struct Known {
    Range range;
    Congruence congruence;
  };
  struct Variable {
    Known known;
    size_t mentions = 0;  ///< 1 + the place of the latest in variables_; 0: no assumption mentions it
  };
  /// Where a variable of an assumption is, and where the same variable was mentioned before, as in Variable.
  struct Mention {
    size_t assumption = 0, earlier = 0;
  };
  void learn(Var var, Known known);
  void keep(Expr assumption);
  bool learn_comparison(ExprKind kind, Expr a, Expr b);

  std::unordered_map<Expr, Variable> vars_;
  std::vector<Expr> assumptions_;
  std::vector<size_t> first_variable_;  ///< by assumption: the place of its first one in variables_
  std::vector<Var> variables_;          ///< of all assumptions, one after another
  std::vector<Mention> mentions_;       ///< by place in variables_
  std::string conflict_;
  uint64_t revision_ = 0;
};

}  // namespace relaxc::arith
