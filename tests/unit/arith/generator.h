// generator.h: random expressions, random facts, and points that satisfy them.
#pragma once

#include <functional>
#include <random>

#include "compiler/arith/simplify.h"
#include "oracle.h"

namespace relaxc::test {

/// How many programs of a kind a case looks at, and from which seed on. ARITH_RUNS and ARITH_SEED in the environment
/// multiply the one and shift the other, for long runs by hand.
struct Seeds {
  uint32_t first, count;
};
Seeds seeds(uint32_t first, uint32_t count);

class Generator {
 public:
  Generator(arith::Context& context, uint32_t seed);

  int64_t pick(int64_t from, int64_t to) { return std::uniform_int_distribution<int64_t>(from, to)(random_); }
  arith::Expr index(int depth);
  arith::Expr condition(int depth);

  /// Calls `check` with some points that satisfy the facts; where there is none, with none.
  void points(const std::function<void(const std::vector<int64_t>&)>& check);

  const arith::Facts& facts() const { return facts_; }
  const std::vector<arith::Var>& vars() const { return vars_; }

 private:
  static constexpr size_t kVars = 4;

  void add_variable(const char* name);
  void add_assumption();
  arith::Expr var() { return vars_[static_cast<size_t>(pick(0, kVars - 1))]; }
  arith::Expr divided(arith::Expr a, int depth);
  arith::Expr through_element(arith::Expr a, int depth);
  bool admissible(const std::vector<int64_t>& values);

  arith::Context& context_;
  std::mt19937 random_;
  arith::Facts facts_;
  std::vector<arith::Var> vars_;
  std::vector<int64_t> lower_, upper_, factor_, rest_;
  std::vector<arith::Expr> assumed_;
  std::vector<Oracle> assumed_values_;
};

}  // namespace relaxc::test
