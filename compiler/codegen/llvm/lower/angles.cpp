// angles.cpp: emits the branch around the runtime's reduction of angles.
#include "compiler/codegen/llvm/lower/angles.h"

#include <llvm/IR/MDBuilder.h>

#include "compiler/arith/angle.h"
#include "compiler/tir/runtime_functions.h"

namespace relaxc::codegen_llvm {

using llvm::Value;

Lanes Angles::reduced(const arith::Extern& e) {
  arith::Context& context = *e.context;
  std::vector<Lanes> found;
  bool uniform = true;
  Value* overflow = nullptr;
  for (arith::Expr arg : e.args) {
    found.push_back(values_.pending(arg));
    overflow = lanes_.any_of(overflow, found.back().overflow);
    uniform &= found.back().is_uniform();
  }
  std::vector<Value*> values;
  for (Lanes lanes : found) values.push_back(uniform ? lanes.scalar : lanes_.widened(lanes, e.dtype));
  auto [rest, quadrant] = reduce(values[0], values[1], values[2]);
  auto lanes_of = [&](Value* out) { return uniform ? Lanes{out, 0, nullptr, overflow} : Lanes{nullptr, 0, out}; };
  bool is_rest = e.name == arith::kAngleRest;
  arith::Expr other =
      context.external(e.dtype, std::string(is_rest ? arith::kAngleQuadrant : arith::kAngleRest), e.args);
  if (!values_.knows(other)) values_.remember(other, lanes_of(is_rest ? quadrant : rest));
  return lanes_of(is_rest ? rest : quadrant);
}

std::pair<Value*, Value*> Angles::reduce(Value* x, Value* rest, Value* quadrant) {
  llvm::Type* type = x->getType();
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  Value* bound = llvm::ConstantFP::get(type, arith::kLargeAngle);
  Value* large = b_.CreateFCmpOGE(b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x), bound);
  if (vector != nullptr) large = b_.CreateOrReduce(large);
  llvm::BasicBlock *near = b_.GetInsertBlock(), *far = frame_.block("large_angle"), *join = frame_.block("reduced");
  b_.CreateCondBr(large, far, join, llvm::MDBuilder(b_.getContext()).createUnlikelyBranchWeights());
  b_.SetInsertPoint(far);
  Value* places[3] = {frame_.at_entry(type), frame_.at_entry(type), frame_.at_entry(type)};
  b_.CreateStore(x, places[0]);
  b_.CreateStore(rest, places[1]);
  b_.CreateStore(quadrant, places[2]);
  Value* count = b_.getInt32(vector != nullptr ? vector->getNumElements() : 1);
  llvm::CallInst* call = frame_.call_symbol(tir::runtime_name(tir::RuntimeFunction::kReduceAngles), b_.getVoidTy(),
                                            {count, places[0], places[1], places[2]});
  call->addFnAttr(llvm::Attribute::Cold);
  Value *exact_rest = b_.CreateLoad(type, places[1]), *exact_quadrant = b_.CreateLoad(type, places[2]);
  b_.CreateBr(join);
  b_.SetInsertPoint(join);
  auto either = [&](Value* exact, Value* quick) {
    llvm::PHINode* phi = b_.CreatePHI(type, 2);
    phi->addIncoming(quick, near);
    phi->addIncoming(exact, far);
    return phi;
  };
  Value* joined_rest = either(exact_rest, rest);
  return {joined_rest, either(exact_quadrant, quadrant)};
}

}  // namespace relaxc::codegen_llvm
