// facts.h: what is known of variables at a point of the program.
//
// Guards, annotations (`tir_var_upper_bound`), `--dim seq=1..512:64` and loop ranges become facts; simplify, bounds and
// the provers use them as assumptions. A Facts is a value: copy it to add facts of an inner scope.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/arith/expr.h"

namespace relaxc::arith {

/// An inclusive range of integers; INT64_MIN and INT64_MAX mean no bound. Arithmetic saturates.
struct Range {
  int64_t lower = INT64_MIN, upper = INT64_MAX;

  static Range exactly(int64_t value) { return {value, value}; }
  static Range at_least(int64_t value) { return {value, INT64_MAX}; }
  bool is_exact() const { return lower == upper; }
  bool has_lower() const { return lower != INT64_MIN; }
  bool has_upper() const { return upper != INT64_MAX; }
  friend bool operator==(Range, Range) = default;
};

/// The integers n with n % modulus == remainder, 0 <= remainder < modulus; {1, 0} are all integers. In results, modulus
/// 0 is the single number `remainder`.
struct Congruence {
  int64_t modulus = 1, remainder = 0;
  friend bool operator==(Congruence, Congruence) = default;
};

/// Facts about variables. A fact that contradicts earlier ones is ignored; conflict() then says why.
class Facts {
 public:
  /// Says that `var` is in `range`, in addition to earlier facts.
  void bound(Var var, Range range);
  /// Says that `var` is a multiple of `factor` (> 0); facts combine to the least common multiple.
  void multiple(Var var, int64_t factor) { congruent(var, {factor, 0}); }
  /// Says that `var` is one of these integers (modulus > 0, any remainder).
  void congruent(Var var, Congruence known);
  /// Says that `condition` (bool, over index expressions) is true. A condition on one variable becomes a bound or a
  /// congruence; inequalities and equalities between variables are stored for the provers.
  void assume(Expr condition);

  Range range_of(Expr var) const;
  Congruence congruence_of(Expr var) const;
  /// Returns the greatest known divisor of `var`; 1 if there is none.
  int64_t multiple_of(Expr var) const;
  const std::vector<Expr>& assumptions() const { return assumptions_; }
  /// Returns the distinct variables of assumptions()[place], in order of creation.
  std::span<const Var> variables_of(size_t place) const;
  /// Returns the indices in assumptions() of those that contain `var`, the latest first.
  std::vector<size_t> assumptions_of(Expr var) const;
  /// Returns why no values satisfy all facts, as half a sentence ("'n' is at least 5 and at most 3"); empty if no
  /// contradiction was found. Not every contradiction is found.
  const std::string& conflict() const { return conflict_; }
  /// Returns a number that changes with each new fact, for users that cache answers.
  uint64_t revision() const { return revision_; }

 private:
  struct Known {
    Range range;
    Congruence congruence;
  };
  struct Variable {
    Known known;
    size_t mentions = 0;  ///< 1 + the index of its latest entry in mentions_; 0 if no assumption contains it
  };
  /// The assumption of a variable's entry, and the entry of the same variable before it, as in Variable.
  struct Mention {
    size_t assumption = 0, earlier = 0;
  };
  void learn(Var var, Known known);
  void keep(Expr assumption);
  bool learn_comparison(ExprKind kind, Expr a, Expr b);

  std::unordered_map<Expr, Variable> vars_;
  std::vector<Expr> assumptions_;
  std::vector<size_t> first_variable_;  ///< for each assumption, the index in variables_ of its first one
  std::vector<Var> variables_;          ///< the variables of all assumptions, concatenated
  std::vector<Mention> mentions_;       ///< one for each entry of variables_
  std::string conflict_;
  uint64_t revision_ = 0;
};

}  // namespace relaxc::arith
