// lower_interleaved.cpp: stores of an unrolled loop in lanes that together leave no gaps.
//
// What gives pixels their channels stores, lane by lane, as many elements apart as there are channels, and an unrolled
// loop fills in the channels one after the other. Each of those stores would be one of single elements. Here they
// wait for the loop's end, where the vectors are shuffled into one that is contiguous in memory. (X86 and Arm have
// patterns for such shuffles; scatters exist for words of AVX-512 alone and take a store an element.)
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Analysis/VectorUtils.h>

#include "compiler/codegen/llvm/lower_function.h"
#include "compiler/tir/lanes.h"
#include "compiler/tir/visit.h"

namespace relaxc::codegen_llvm {

using llvm::Value;

namespace {

constexpr int64_t kMostApart = 8;  ///< vectors that wait in registers

/// The one store of the body, which each iteration reaches, to memory that outlives the iteration; null: there is none.
const tir::Store* only_store(const tir::For& s, const tir::Lanes& iterations) {
  const tir::Store* only = nullptr;
  bool plain = true;
  std::function<void(tir::Stmt, bool)> look = [&](tir::Stmt inner, bool always) {
    const auto* store = inner.as<tir::Store>();
    const auto* block = inner.as<tir::Block>();
    if (store != nullptr && !iterations.is_private(store->buffer)) {
      plain &= only == nullptr && always;
      only = store;
    }
    plain &= inner.as<tir::For>() == nullptr && inner.as<tir::While>() == nullptr &&
             inner.as<tir::Guard>() == nullptr && inner.as<tir::Invoke>() == nullptr &&
             (block == nullptr || (!block->init && !block->predicate));
    for (tir::Stmt child : tir::children(inner)) look(child, always && inner.as<tir::If>() == nullptr);
  };
  look(s.body, true);
  return plain ? only : nullptr;
}

}  // namespace

tir::BufferRef FunctionLowering::interleaved_by(const tir::For& s, int64_t count) const {
  if (lanes_ == 0 || count < 2 || count > kMostApart) return nullptr;
  tir::Lanes iterations(s);
  const tir::Store* store = iterations.may_run_together() ? only_store(s, iterations) : nullptr;
  if (store == nullptr || place(store->buffer).per_lane || may_read(s.body, store->buffer)) return nullptr;
  return iterations.step(store->buffer, store->indices) == 1 ? store->buffer : nullptr;
}

/// Whether the statements may read what a store to the buffer has put there.
bool FunctionLowering::may_read(tir::Stmt s, tir::BufferRef buffer) const {
  auto memory = [&](tir::BufferRef of) { return llvm::getUnderlyingObject(place(of).address); };
  bool reads = !source_.noalias;
  tir::for_each_stmt(s, [&](tir::Stmt inner) {
    for (arith::Expr e : tir::expressions(inner))
      arith::for_each_node(e, [&](arith::Expr node) {
        const auto* load = node.as<arith::Load>();
        reads |= load != nullptr && places_.count(load->buffer) != 0 && memory(load->buffer) == memory(buffer);
      });
  });
  return reads;
}

bool FunctionLowering::wait_for_neighbours(tir::BufferRef buffer, Lanes offset, Value* stored) {
  if (interleaved_ == nullptr || interleaved_->buffer != buffer) return false;
  if (offset.vector != nullptr || offset.step != interleaved_->count) return false;
  if (interleaved_->parts.empty()) interleaved_->first = offset.scalar;
  interleaved_->parts.push_back(stored);
  return true;
}

void FunctionLowering::store_interleaved(const Interleaved& all) {
  if (all.parts.empty()) return;
  auto count = static_cast<unsigned>(all.parts.size());
  RELAXC_CHECK(count == all.count, "an iteration did not store what was to lie beside the others'");
  Value* shuffled =
      b_.CreateShuffleVector(llvm::concatenateVectors(b_, all.parts), llvm::createInterleaveMask(lanes_, count));
  Value* at = address(all.buffer, {all.first, 0, nullptr});
  llvm::Align align(static_cast<uint64_t>(all.buffer->dtype.bytes()));
  if (mask_ == nullptr) {
    b_.CreateAlignedStore(shuffled, at, align);
    return;
  }
  Value* mask = b_.CreateShuffleVector(mask_, llvm::createReplicatedMask(static_cast<int>(count), lanes_));
  b_.CreateMaskedStore(shuffled, at, align, mask);
}

}  // namespace relaxc::codegen_llvm
