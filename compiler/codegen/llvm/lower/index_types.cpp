// index_types.cpp: decides which index values have 32 bits.
//
// If a kernel of a 32-bit machine keeps indices in 32 bits (compiler/tir/index_widths.h), the value of an expression
// has the type that its range allows, and an operation uses the widest type among its result and operands. So nothing
// overflows that would not in 64 bits, and "no signed wrap" stays true. In other functions every index has 64 bits, and
// these functions change nothing.
#include "compiler/codegen/llvm/lower/lanes.h"

namespace relaxc::codegen_llvm {

using arith::Expr;
using llvm::Value;

namespace {

llvm::Type* type_of(const Lanes& value) {
  return value.vector != nullptr ? value.vector->getType()->getScalarType() : value.scalar->getType();
}

llvm::Type* wider(llvm::Type* a, llvm::Type* b) {
  return a->getIntegerBitWidth() < b->getIntegerBitWidth() ? b : a;
}

}  // namespace

IndexTypes::IndexTypes(Frame& frame) : b_(frame.builder()) {
  const bool narrow = frame.module().module().getDataLayout().getPointerSizeInBits() == 32;
  if (narrow && tir::may_have_narrow_indices(frame.source())) widths_.emplace(frame.source());
}

llvm::Type* IndexTypes::of(Expr index) {
  return widths_ && widths_->is_narrow(index) ? b_.getInt32Ty() : widest();
}

llvm::Type* IndexTypes::of(const tir::For& loop) {
  return widths_ && widths_->is_narrow(loop) ? b_.getInt32Ty() : widest();
}

Value* IndexTypes::resized(Value* value, llvm::Type* type) {
  if (auto* vector = llvm::dyn_cast<llvm::VectorType>(value->getType()))
    type = llvm::VectorType::get(type, vector->getElementCount());
  return b_.CreateSExtOrTrunc(value, type);
}

Lanes IndexTypes::resized(Lanes value, llvm::Type* type) {
  if (type_of(value) == type) return value;
  Value*& given = value.vector != nullptr ? value.vector : value.scalar;
  given = resized(given, type);
  return value;
}

Lanes IndexTypes::as(Expr index, Lanes value) {
  return are_mixed() && index.dtype().is_index() ? resized(value, of(index)) : value;
}

std::pair<Lanes, Lanes> IndexTypes::operands_of(Expr result, Lanes a, Lanes b) {
  if (!are_mixed()) return {a, b};
  llvm::Type* type = wider(type_of(a), type_of(b));
  if (result.dtype().is_index()) type = wider(type, of(result));
  return {resized(a, type), resized(b, type)};
}

}  // namespace relaxc::codegen_llvm
