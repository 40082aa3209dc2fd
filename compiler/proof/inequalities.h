// inequalities.h: whether one of several inequalities holds, for all values that the facts admit.
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

/// Whether the value depends on memory.
bool has_loads(Expr e);

/// a <= b, over index expressions without loads.
struct Inequality {
  Expr a, b;
};

/// Answers questions under the same facts.
class Inequalities {
 public:
  /// \param inputs  variables that take all values that the facts admit; a counterexample has no others
  Inequalities(Context& context, const arith::Facts& facts, std::set<uint32_t> inputs);
  ~Inequalities();

  /// Whether for all admitted values at least one of `alternatives` holds; which one may differ from value to value.
  /// `why` gets the values at which none does, or says that none were found.
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
  std::set<uint32_t> inputs_;  ///< by id
  std::unique_ptr<Case> root_;
  arith::Simplifier simplifier_;
  std::unordered_map<Expr, Expr> canonical_choices_;  ///< what with_canonical_choices() has made
};

}  // namespace relaxc::proof
