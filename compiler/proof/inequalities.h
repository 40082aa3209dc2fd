// inequalities.h: proves that one of several inequalities holds for all values that the facts admit.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/arith/prover.h"
#include "compiler/proof/verdict.h"

namespace relaxc::proof {

using arith::Context;
using arith::Expr;

/// Returns whether the expression reads memory.
bool has_loads(Expr e);

/// The claim a <= b about index expressions without loads.
struct Inequality {
  Expr a, b;
};

/// Answers questions under one set of facts, and caches what it derives.
class Inequalities {
 public:
  /// \param inputs ids of variables that can have any values that the facts admit; counterexamples use only these
  Inequalities(Context& context, const arith::Facts& facts, std::set<uint32_t> inputs);
  ~Inequalities();

  /// Returns whether for all admitted values at least one of `alternatives` holds; which one may depend on the values.
  /// Sets `why` to values at which none does, or to a sentence that none were found.
  Verdict any_of(const std::vector<Inequality>& alternatives, std::string& why);
  bool equal(Expr a, Expr b);
  Context& context() const { return context_; }

 private:
  struct Case;
  bool proved(Case& known, const std::vector<Inequality>& alternatives, int depth);
  bool proved_by_cases(Case& known, const std::vector<Inequality>& alternatives, Expr condition, int depth);
  Expr with_canonical_choices(Expr e);
  std::string counterexample(const std::vector<Inequality>& alternatives);

  Context& context_;
  std::set<uint32_t> inputs_;  ///< ids of variables
  std::unique_ptr<Case> root_;
  arith::Simplifier simplifier_;
  std::unordered_map<Expr, Expr> canonical_choices_;  ///< results of with_canonical_choices()
};

}  // namespace relaxc::proof
