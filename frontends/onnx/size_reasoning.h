// size_reasoning.h: facts and queries about the symbols of the imported function.
#pragma once

#include <memory>

#include "compiler/arith/prover.h"
#include "compiler/relax/graph.h"

namespace relaxc::frontend {

class SizeReasoning {
 public:
  explicit SizeReasoning(relax::Function& function)
      : facts_(function.facts), context_(function.context()), simplifier_(function.facts) {}

  arith::Expr simplify(arith::Expr e) { return simplifier_.simplify(e); }
  /// Returns a prover that caches until the facts change: of n sizes that each contain the one before, no node is
  /// visited twice.
  arith::Prover& prover();
  /// Adds the fact that bare dims in `info` are not negative.
  void add_facts(relax::Info info);

 private:
  arith::Facts& facts_;
  arith::Context& context_;
  arith::Simplifier simplifier_;
  std::unique_ptr<arith::Prover> prover_;  ///< for the facts at prover_revision_
  uint64_t prover_revision_ = 0;
};

}  // namespace relaxc::frontend
