// loops.cpp: lowers serial, unrolled and vectorized loops.
#include "compiler/codegen/llvm/lower/loops.h"

#include <algorithm>

#include "compiler/arith/visit.h"
#include "compiler/codegen/llvm/lower/byte_tile.h"
#include "compiler/codegen/llvm/lower/checks.h"
#include "compiler/codegen/llvm/lower/halves_tile.h"
#include "compiler/codegen/llvm/lower/interleaved.h"
#include "compiler/codegen/llvm/lower/lines_ahead.h"
#include "compiler/codegen/llvm/lower/row_copies.h"
#include "compiler/codegen/llvm/lower/statements.h"
#include "compiler/codegen/llvm/lower/values.h"
#include "compiler/tir/annotations.h"
#include "compiler/tir/lanes.h"
#include "compiler/tir/visit.h"

namespace relaxc::codegen_llvm {
namespace {

using llvm::Value;

constexpr size_t kLongBody = 40;  ///< nodes: a requantization has fewer, exp more

/// Whether copies of the loop's body are more code than the counter that they save.
bool has_long_body(const tir::For& s) {
  size_t nodes = 0;
  tir::for_each_stmt(s.body, [&](tir::Stmt part) {
    for (arith::Expr e : tir::expressions(part)) arith::for_each_node(e, [&](arith::Expr) { ++nodes; });
  });
  return nodes > kLongBody;
}

/// Keeps LLVM from unrolling the loop.
void keep_rolled(llvm::BranchInst& back) {
  llvm::LLVMContext& context = back.getContext();
  llvm::MDNode* never = llvm::MDNode::get(context, llvm::MDString::get(context, "llvm.loop.unroll.disable"));
  llvm::MDNode* loop = llvm::MDNode::getDistinct(context, {nullptr, never});
  loop->replaceOperandWith(0, loop);
  back.setMetadata(llvm::LLVMContext::MD_loop, loop);
}

}  // namespace

void Loops::leave() {
  RELAXC_CHECK(!around_.empty(), "a break outside of loops");
  frame_.branch_to(around_.back().leave);
}

void Loops::lower_continue() {
  RELAXC_CHECK(!around_.empty(), "a continue outside of loops");
  frame_.branch_to(around_.back().next);
}

void Loops::lower(const tir::For& s) {
  constexpr int64_t kMostLanes = 1024;
  Value* min = values_.isolated([&] { return values_.scalar(s.min); });
  Value* extent = values_.isolated([&] { return values_.scalar(s.extent); });
  auto* constant = llvm::dyn_cast<llvm::ConstantInt>(extent);
  const int64_t count = constant != nullptr ? constant->getSExtValue() : 0;  // 0: not known
  if (constant != nullptr && count <= 0) return;
  bool outermost_vector = s.loop_kind == tir::LoopKind::kVectorized && lanes_.count() == 0;
  if (outermost_vector && count > 1 && count <= kMostLanes && tir::Lanes(s).may_run_together())
    return lower_vectorized(s, min, static_cast<uint32_t>(count));
  if (s.loop_kind == tir::LoopKind::kUnrolled && count != 0) return lower_unrolled(s, min, count);
  IndexTypes& types = lanes_.indices();
  if (lanes_.count() == 0 && !checks_.are_on() && tasks_.can_run(s))
    return tasks_.lower(s, types.resized(min, types.widest()), types.resized(extent, types.widest()));
  const bool plain = s.loop_kind == tir::LoopKind::kSerial && !checks_.are_on();
  if (plain && (byte_tiles_.lower(s) || halves_tiles_.lower(s) || row_copies_.lower(s))) return;
  lower_serial(s, min, extent);
}

void Loops::lower_body(const tir::For& s, Lanes var) {
  Bindings::Scope scope(bindings_);
  bindings_.bind_range(s.var, s.min, s.extent, var);
  statements_.lower(s.body);
}

void Loops::lower_unrolled(const tir::For& s, Value* min, int64_t count) {
  llvm::Type* type = lanes_.indices().of(s);
  min = lanes_.indices().resized(min, type);
  interleaved_.together(interleaved_.buffer_of(s, count), count, [&] {
    llvm::BasicBlock* leave = frame_.block("unrolled");
    for (int64_t i = 0; i < count; ++i) {
      llvm::BasicBlock* next = frame_.block("copy");
      {
        Inside loop(*this, {leave, next});
        lower_body(s, {b_.CreateNSWAdd(min, llvm::ConstantInt::getSigned(type, i))});
      }
      b_.CreateBr(next);
      b_.SetInsertPoint(next);
    }
    b_.CreateBr(leave);
    b_.SetInsertPoint(leave);
  });
}

void Loops::lower_serial(const tir::For& s, Value* min, Value* extent) {
  llvm::BasicBlock *head = frame_.block("loop"), *step = frame_.block("next"), *leave = frame_.block("done");
  llvm::Type* type = lanes_.indices().of(s);
  min = lanes_.indices().resized(min, type), extent = lanes_.indices().resized(extent, type);
  bool sure = !checks_.are_on() || s.min.is_constant(0) || checks_.all_fit(s.min + s.extent);
  Value* end = sure ? b_.CreateNSWAdd(min, extent) : checks_.checked_now(arith::ExprKind::kAdd, min, extent);
  llvm::BasicBlock* before = b_.GetInsertBlock();
  b_.CreateCondBr(b_.CreateICmpSLT(min, end), head, leave);
  b_.SetInsertPoint(head);
  llvm::PHINode* i = b_.CreatePHI(type, 2, s.var.name());
  i->addIncoming(min, before);
  {
    Inside loop(*this, {leave, step});
    prefetch(s, {i});
    lower_body(s, {i});
  }
  b_.CreateBr(step);
  b_.SetInsertPoint(step);
  Value* next = b_.CreateNSWAdd(i, llvm::ConstantInt::get(type, 1));
  i->addIncoming(next, b_.GetInsertBlock());
  llvm::BranchInst* back = b_.CreateCondBr(b_.CreateICmpSLT(next, end), head, leave);
  if (frame_.options().small && has_long_body(s)) keep_rolled(*back);
  b_.SetInsertPoint(leave);
}

/// Asks for what a later iteration reads. Lanes whose loop does not begin at 0 have no first one that is known by name.
void Loops::prefetch(const tir::For& s, Lanes var) {
  const auto ahead = s.annotations.find(tir::kPrefetchIterations);
  if (ahead == s.annotations.end() || checks_.are_on() || (lanes_.count() != 0 && !lanes_.var())) return;
  Bindings::Scope scope(bindings_);
  bindings_.bind_range(s.var, s.min, s.extent, var);
  values_.isolated([&] {
    for (const LinesAhead& lines : lines_ahead(s, lanes_.var(), std::max<int64_t>(lanes_.count(), 1)))
      memory_.prefetch(lines, ahead->second);
  });
}

void Loops::lower_vectorized(const tir::For& s, Value* min, uint32_t lanes) {
  auto ahead = s.annotations.find(tir::kPrefetch);
  LaneArithmetic::Loop loop(lanes_, s.min.is_constant(0) ? s.var : arith::Var(), lanes,
                            ahead != s.annotations.end() ? ahead->second : 0);
  lower_body(s, {lanes_.indices().resized(min, lanes_.indices().of(s)), 1});
}

void Loops::lower(const tir::While& s) {
  llvm::BasicBlock *head = frame_.block("while"), *body = frame_.block("while_body"),
                   *leave = frame_.block("while_done");
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  Value* condition = values_.isolated([&] { return values_.scalar(s.condition); });
  b_.CreateCondBr(condition, body, leave);
  b_.SetInsertPoint(body);
  {
    Inside loop(*this, {leave, head});
    statements_.lower(s.body);
  }
  b_.CreateBr(head);
  b_.SetInsertPoint(leave);
}

}  // namespace relaxc::codegen_llvm
