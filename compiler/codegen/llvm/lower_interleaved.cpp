// lower_interleaved.cpp: stores in lanes that together leave no gaps.
//
// What gives pixels their channels stores, lane by lane, as many elements apart as there are channels, and an unrolled
// loop, or statements one after the other, fill in the channels. Each of those stores would be one of single elements.
// Here they wait for the last one, and the vectors are shuffled into one that is contiguous in memory. (X86 and Arm
// have patterns for such shuffles; scatters exist for words of AVX-512 alone and take a store an element.)
#include <llvm/Analysis/VectorUtils.h>

#include "compiler/arith/simplify.h"
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

/// A store, and the condition that it stands under, if any.
struct Guarded {
  arith::Expr condition;
  const tir::Store* store = nullptr;
};

Guarded guarded(tir::Stmt s) {
  const auto* branch = s.as<tir::If>();
  if (branch == nullptr || branch->else_body) return {{}, s.as<tir::Store>()};
  return {branch->condition, branch->then_body.as<tir::Store>()};
}

/// `other` stores `distance` elements behind `first`, under the same condition.
bool follows(const Guarded& first, const Guarded& other, int64_t distance, const arith::Facts& facts) {
  if (other.store == nullptr || other.store->buffer != first.store->buffer || !(other.condition == first.condition))
    return false;
  const std::vector<arith::Expr>&a = first.store->indices, &b = other.store->indices;
  return std::equal(a.begin(), a.end() - 1, b.begin()) && arith::prove_equal(b.back(), a.back() + distance, facts);
}

}  // namespace

tir::BufferRef FunctionLowering::interleaved_by(const tir::For& s, int64_t count) const {
  if (lanes_ == 0 || count < 2 || count > kMostApart) return nullptr;
  tir::Lanes iterations(s);
  const tir::Store* store = iterations.may_run_together() ? only_store(s, iterations) : nullptr;
  if (store == nullptr || place(store->buffer).per_lane || may_read(s.body, store->buffer)) return nullptr;
  return iterations.step(store->buffer, store->indices) == 1 ? store->buffer : nullptr;
}

/// What a view is of, through all views; null: an address that a number gives.
tir::BufferRef FunctionLowering::memory_of(tir::BufferRef buffer) const {
  for (auto base = bases_.find(buffer); base != bases_.end(); base = bases_.find(buffer)) buffer = base->second;
  return buffer;
}

/// Whether the statements may read what a store to the buffer has put there.
bool FunctionLowering::may_read(tir::Stmt s, tir::BufferRef buffer) const {
  const tir::BufferRef stored = memory_of(buffer);
  bool reads = !source_.noalias || stored == nullptr;
  tir::for_each_stmt(s, [&](tir::Stmt inner) {
    for (arith::Expr e : tir::expressions(inner))
      arith::for_each_node(e, [&](arith::Expr node) {
        const auto* load = node.as<arith::Load>();
        const tir::BufferRef memory = load != nullptr ? memory_of(load->buffer) : nullptr;
        reads |= load != nullptr && (memory == nullptr || memory == stored);
      });
  });
  return reads;
}

size_t FunctionLowering::lower_interleaved(std::span<const tir::Stmt> body) {
  const Guarded first = guarded(body[0]);
  if (lanes_ == 0 || first.store == nullptr || first.store->indices.empty()) return 0;
  const tir::BufferRef buffer = first.store->buffer;
  if (!buffer->strides.empty() || place(buffer).per_lane) return 0;
  const Lanes offset = isolated([&] { return offset_of(buffer, first.store->indices); });
  if (offset.vector != nullptr || offset.step < 2 || offset.step > kMostApart) return 0;
  const auto count = static_cast<size_t>(offset.step);
  if (body.size() < count) return 0;
  for (size_t i = 0; i < count; ++i)
    if (!follows(first, guarded(body[i]), static_cast<int64_t>(i), facts_) || may_read(body[i], buffer)) return 0;
  auto store = [&] {
    interleave(buffer, offset.step, [&] {
      for (tir::Stmt s : body.first(count)) lower(tir::Stmt(guarded(s).store));
    });
  };
  if (!first.condition) return store(), count;
  const Lanes condition = isolated([&] { return value(first.condition); });
  if (!condition.is_uniform() && !llvm::isa<llvm::Constant>(condition.vector)) return 0;
  return lower_under(condition, store, {}), count;
}

void FunctionLowering::interleave(tir::BufferRef buffer, int64_t count, const std::function<void()>& stores) {
  Interleaved together{buffer, count, nullptr, {}};
  Interleaved* around = std::exchange(interleaved_, buffer != nullptr ? &together : nullptr);
  stores();
  interleaved_ = around;
  store_interleaved(together);
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
  RELAXC_CHECK(count == all.count, "a store did not come that others waited for");
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
