// row_copies.cpp: see row_copies.h.
#include "compiler/codegen/llvm/lower/row_copies.h"

#include <algorithm>

#include "compiler/arith/simplify.h"

namespace relaxc::codegen_llvm {
namespace {

using arith::Expr;

/// Whether the element of the next iteration is the next one in memory.
bool steps_by_one(const tir::For& s, tir::BufferRef buffer, const std::vector<Expr>& indices) {
  const Expr offset = tir::element_offset(s.extent.context(), *buffer, indices);
  return arith::simplify(arith::substitute(offset, {{s.var, s.var + 1}}) - offset).is_constant(1);
}

}  // namespace

bool RowCopies::may_overlap(tir::BufferRef buffer) const {
  const tir::PrimFunc& source = frame_.source();
  return std::any_of(source.memory.overlapping.begin(), source.memory.overlapping.end(),
                     [&](size_t param) { return source.params[param].buffer == addresses_.memory_of(buffer); });
}

llvm::Value* RowCopies::first_element(const tir::For& s, tir::BufferRef buffer, const std::vector<Expr>& indices) {
  std::vector<Expr> first;
  for (Expr index : indices) first.push_back(arith::simplify(arith::substitute(index, {{s.var, s.min}})));
  return memory_.address(buffer, memory_.offset_of(buffer, first));
}

bool RowCopies::lower(const tir::For& s) {
  const auto* store = s.body.as<tir::Store>();
  const auto* load = store != nullptr ? store->value.as<arith::Load>() : nullptr;
  const int64_t* count = s.extent.constant();
  if (load == nullptr || count == nullptr || *count < 2 || lanes_.count() != 0 || frame_.in_task()) return false;
  if (load->buffer == store->buffer || !may_overlap(store->buffer) || !may_overlap(load->buffer)) return false;
  if (load->buffer->dtype != store->buffer->dtype || !steps_by_one(s, store->buffer, store->indices) ||
      !steps_by_one(s, load->buffer, load->indices))
    return false;
  llvm::Value* from = first_element(s, load->buffer, load->indices);
  llvm::Value* to = first_element(s, store->buffer, store->indices);
  llvm::Type* word = b_.getIntPtrTy(frame_.module().module().getDataLayout());
  llvm::Value* bytes = llvm::ConstantInt::getSigned(word, *count * store->buffer->dtype.bytes());
  b_.CreateMemCpy(to, align_of(store->buffer), from, align_of(load->buffer), bytes);
  return true;
}

}  // namespace relaxc::codegen_llvm
