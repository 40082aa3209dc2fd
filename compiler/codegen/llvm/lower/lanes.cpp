// lanes.cpp: arithmetic on values that are uniform, affine in the lane, or vectors.
#include "compiler/codegen/llvm/lower/lanes.h"

namespace relaxc::codegen_llvm {

using llvm::Value;

Value* LaneArithmetic::mask_of_all() {
  return mask_ != nullptr ? mask_ : llvm::ConstantInt::getTrue(llvm::FixedVectorType::get(b_.getInt1Ty(), count_));
}

Lanes LaneArithmetic::apply(const std::vector<Lanes>& operands, const std::vector<DType>& dtypes,
                            const std::function<Value*(const std::vector<Value*>&)>& f) {
  bool uniform = true;
  Value* overflow = nullptr;
  for (const Lanes& operand : operands) {
    uniform &= operand.is_uniform();
    overflow = any_of(overflow, operand.overflow);
  }
  std::vector<Value*> values;
  for (size_t i = 0; i < operands.size(); ++i)
    values.push_back(uniform ? operands[i].scalar : widened(operands[i], dtypes[i]));
  Value* out = f(values);
  return uniform ? Lanes{out, 0, nullptr, overflow} : Lanes{nullptr, 0, out};
}

Value* LaneArithmetic::widened(Lanes value, DType dtype) {
  if (value.vector != nullptr) return value.vector;
  Value* splat = b_.CreateVectorSplat(count_, value.scalar);
  if (value.step == 0) return splat;
  llvm::Type* type = dtype.is_index() ? value.scalar->getType() : numeric_.register_type(dtype);
  std::vector<llvm::Constant*> steps;
  for (uint32_t lane = 0; lane < count_; ++lane) steps.push_back(llvm::ConstantInt::getSigned(type, lane * value.step));
  return b_.CreateAdd(splat, llvm::ConstantVector::get(steps), "", false, true);
}

Lanes LaneArithmetic::add(Lanes a, Lanes b) {
  if (a.vector == nullptr && b.vector == nullptr)
    return {b_.CreateNSWAdd(a.scalar, b.scalar), a.step + b.step, nullptr};
  return {nullptr, 0, b_.CreateNSWAdd(widened(a, DType::index()), widened(b, DType::index()))};
}

Lanes LaneArithmetic::subtract(Lanes a, Lanes b) {
  if (a.vector == nullptr && b.vector == nullptr)
    return {b_.CreateNSWSub(a.scalar, b.scalar), a.step - b.step, nullptr};
  DType dtype = DType::index();
  return {nullptr, 0, b_.CreateNSWSub(widened(a, dtype), widened(b, dtype))};
}

Lanes LaneArithmetic::multiply(Lanes a, Lanes b) {
  if (a.is_uniform() && b.is_uniform()) return {b_.CreateNSWMul(a.scalar, b.scalar), 0, nullptr};
  if (a.is_uniform()) std::swap(a, b);
  auto* factor = b.is_uniform() ? llvm::dyn_cast<llvm::ConstantInt>(b.scalar) : nullptr;
  if (a.vector == nullptr && factor != nullptr)
    return {b_.CreateNSWMul(a.scalar, b.scalar), a.step * factor->getSExtValue(), nullptr};
  return {nullptr, 0, b_.CreateNSWMul(widened(a, DType::index()), widened(b, DType::index()))};
}

Value* LaneArithmetic::any_of(Value* a, Value* b) {
  if (a == nullptr || a == b) return b;
  return b == nullptr ? a : b_.CreateOr(a, b);
}

}  // namespace relaxc::codegen_llvm
