// size_reasoning.cpp: see size_reasoning.h.
#include "frontends/onnx/size_reasoning.h"

namespace relaxc::frontend {

arith::Prover& SizeReasoning::prover() {
  if (prover_ == nullptr || prover_revision_ != facts_.revision()) {
    prover_ = std::make_unique<arith::Prover>(context_, facts_);
    prover_revision_ = facts_.revision();
  }
  return *prover_;
}

void SizeReasoning::add_facts(relax::Info info) {
  const auto* tensor = info->as<relax::TensorInfo>();
  if (tensor == nullptr || !tensor->shape) return;
  for (arith::Expr extent : *tensor->shape)
    if (const auto* var = extent.as<arith::VarNode>()) facts_.bound(arith::Var(var), arith::Range::at_least(0));
}

}  // namespace relaxc::frontend
