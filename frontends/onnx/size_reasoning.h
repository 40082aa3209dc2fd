// size_reasoning.h: what is known of the symbols of the function that an import makes.
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
  /// Answers are remembered until the facts change: of n sizes that are each made of the one before, none is looked
  /// through twice.
  arith::Prover& prover();
  /// Dims that occur bare in `info` are sizes: not negative.
  void add_facts(relax::Info info);

 private:
  arith::Facts& facts_;
  arith::Context& context_;
  arith::Simplifier simplifier_;
  std::unique_ptr<arith::Prover> prover_;  ///< by the facts as they were at
  uint64_t prover_revision_ = 0;
};

}  // namespace relaxc::frontend
