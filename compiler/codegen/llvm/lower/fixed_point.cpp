// fixed_point.cpp: see fixed_point.h.
#include "compiler/codegen/llvm/lower/fixed_point.h"

#include <llvm/IR/IntrinsicsARM.h>

#include "compiler/arith/high_product.h"

namespace relaxc::codegen_llvm {

using llvm::Value;

std::optional<Lanes> FixedPoint::rounded_product(const arith::Cast& e) {
  constexpr uint32_t kHeliumLanes = 4;
  if (!numeric_.capabilities().lane_sums || lanes_.count() != kHeliumLanes) return {};
  const std::optional<arith::HighProduct> product = arith::as_high_product(arith::Expr(&e));
  if (!product || !product->rounded) return {};
  const Lanes a = values_.pending(product->a), b = values_.pending(product->b);
  if (a.vector == nullptr && b.vector == nullptr) return {};
  Value *x = lanes_.widened(a, DType::i(32)), *y = lanes_.widened(b, DType::i(32));
  Value* rounded = b_.CreateIntrinsic(llvm::Intrinsic::arm_mve_vrmulh, {x->getType()}, {x, y, b_.getInt32(0)});
  return Lanes{nullptr, 0, rounded};
}

}  // namespace relaxc::codegen_llvm
