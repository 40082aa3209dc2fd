// interleaved.cpp: finds stores that together leave no gaps, and emits the store that replaces them.
#include "compiler/codegen/llvm/lower/interleaved.h"

#include <llvm/Analysis/VectorUtils.h>

#include "compiler/arith/simplify.h"
#include "compiler/codegen/llvm/lower/bindings.h"
#include "compiler/codegen/llvm/lower/buffer_addresses.h"
#include "compiler/codegen/llvm/lower/memory.h"
#include "compiler/codegen/llvm/lower/transpose.h"
#include "compiler/codegen/llvm/lower/values.h"
#include "compiler/tir/lanes.h"
#include "compiler/tir/visit.h"

namespace relaxc::codegen_llvm {

using llvm::Value;

namespace {

constexpr int64_t kMostApart = 8;                      ///< vectors that wait in registers for one store
constexpr int64_t kLeastSquare = 4, kMostSquare = 16;  ///< the same for columns of squares

/// The only store of the body to memory that outlives an iteration, if each iteration reaches it; else null.
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

/// A store, and the condition of the `if` around it, if any.
struct Guarded {
  arith::Expr condition;
  const tir::Store* store = nullptr;
};

Guarded guarded(tir::Stmt s) {
  const auto* branch = s.as<tir::If>();
  if (branch == nullptr || branch->else_body) return {{}, s.as<tir::Store>()};
  return {branch->condition, branch->then_body.as<tir::Store>()};
}

/// Whether `other` stores `distance` elements after `first`, under the same condition.
bool follows(const Guarded& first, const Guarded& other, int64_t distance, const arith::Facts& facts) {
  if (other.store == nullptr || other.store->buffer != first.store->buffer || !(other.condition == first.condition))
    return false;
  const std::vector<arith::Expr>&a = first.store->indices, &b = other.store->indices;
  return std::equal(a.begin(), a.end() - 1, b.begin()) && arith::prove_equal(b.back(), a.back() + distance, facts);
}

}  // namespace

bool InterleavedStores::are_squares(int64_t count) const {
  const int64_t lanes = lanes_.count();
  return lanes >= kLeastSquare && count <= kMostSquare && count % lanes == 0 &&
         llvm::isPowerOf2_64(static_cast<uint64_t>(lanes));
}

tir::BufferRef InterleavedStores::buffer_of(const tir::For& s, int64_t count) const {
  if (lanes_.count() == 0 || count < 2 || (count > kMostApart && !are_squares(count))) return nullptr;
  tir::Lanes iterations(s);
  const tir::Store* store = iterations.may_run_together() ? only_store(s, iterations) : nullptr;
  if (store == nullptr || addresses_.at(store->buffer).per_lane || addresses_.may_read(s.body, store->buffer))
    return nullptr;
  return iterations.step(store->buffer, store->indices) == 1 ? store->buffer : nullptr;
}

InterleavedStores::Run InterleavedStores::run_of(std::span<const tir::Stmt> body) {
  const Guarded first = guarded(body[0]);
  if (lanes_.count() == 0 || first.store == nullptr || first.store->indices.empty()) return {};
  const tir::BufferRef buffer = first.store->buffer;
  if (!buffer->strides.empty() || addresses_.at(buffer).per_lane) return {};
  const Lanes offset = values_.isolated([&] { return memory_.offset_of(buffer, first.store->indices); });
  if (offset.vector != nullptr || offset.step < 2 || offset.step > kMostApart) return {};
  const auto count = static_cast<size_t>(offset.step);
  if (body.size() < count) return {};
  Run run{buffer, {}, first.condition};
  for (size_t i = 0; i < count; ++i) {
    const Guarded other = guarded(body[i]);
    if (!follows(first, other, static_cast<int64_t>(i), bindings_.facts()) || addresses_.may_read(body[i], buffer))
      return {};
    run.stores.push_back(tir::Stmt(other.store));
  }
  return run;
}

void InterleavedStores::together(tir::BufferRef buffer, int64_t count, const std::function<void()>& stores) {
  Waiting all{buffer, count, {}, false, {}};
  Waiting* around = std::exchange(waiting_, buffer != nullptr ? &all : nullptr);
  stores();
  waiting_ = around;
  store(all);
}

bool InterleavedStores::take(tir::BufferRef buffer, Lanes offset, Value* stored) {
  if (waiting_ == nullptr || waiting_->buffer != buffer) return false;
  const bool apart = offset.vector == nullptr && offset.step == waiting_->count && offset.step <= kMostApart;
  if (!apart && (lanes_.mask() != nullptr || !are_squares(waiting_->count))) return false;
  if (waiting_->parts.empty()) waiting_->first = offset, waiting_->in_rows = !apart;
  waiting_->parts.push_back(stored);
  return true;
}

void InterleavedStores::store(const Waiting& all) {
  if (all.parts.empty()) return;
  auto count = static_cast<unsigned>(all.parts.size());
  RELAXC_CHECK(count == all.count, "a store did not come that others waited for");
  if (all.in_rows) return store_rows(all);
  Value* shuffled = b_.CreateShuffleVector(llvm::concatenateVectors(b_, all.parts),
                                           llvm::createInterleaveMask(lanes_.count(), count));
  Value* at = memory_.address(all.buffer, {all.first.scalar, 0, nullptr});
  Value* mask = lanes_.mask();
  if (mask == nullptr) {
    b_.CreateAlignedStore(shuffled, at, align_of(all.buffer));
    return;
  }
  mask = b_.CreateShuffleVector(mask, llvm::createReplicatedMask(static_cast<int>(count), lanes_.count()));
  b_.CreateMaskedStore(shuffled, at, align_of(all.buffer), mask);
}

void InterleavedStores::store_rows(const Waiting& all) {
  const Lanes& first = all.first;
  llvm::Type* type = (first.vector != nullptr ? first.vector : first.scalar)->getType()->getScalarType();
  auto number = [&](int64_t n) { return llvm::ConstantInt::getSigned(type, n); };
  const size_t lanes = lanes_.count();
  for (size_t begin = 0; begin < all.parts.size(); begin += lanes) {
    const auto from = all.parts.begin() + static_cast<std::ptrdiff_t>(begin);
    const std::vector<Value*> rows = transposed(b_, {from, from + static_cast<std::ptrdiff_t>(lanes)});
    for (size_t lane = 0; lane < lanes; ++lane) {
      Value* place = first.vector != nullptr
                         ? b_.CreateExtractElement(first.vector, lane)
                         : b_.CreateAdd(first.scalar, number(static_cast<int64_t>(lane) * first.step));
      place = b_.CreateAdd(place, number(static_cast<int64_t>(begin)));
      b_.CreateAlignedStore(rows[lane], memory_.address(all.buffer, {place, 0, nullptr}), align_of(all.buffer));
    }
  }
}

}  // namespace relaxc::codegen_llvm
