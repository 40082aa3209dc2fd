// places.cpp: buffers come and go with their scopes; which ones share memory is known of views.
#include "compiler/codegen/llvm/lower/places.h"

#include "compiler/arith/visit.h"
#include "compiler/tir/visit.h"

namespace relaxc::codegen_llvm {

const Place* Places::find(tir::BufferRef buffer) const {
  auto it = places_.find(buffer);
  return it != places_.end() ? &it->second : nullptr;
}

const Place& Places::at(tir::BufferRef buffer) const {
  const Place* place = find(buffer);
  RELAXC_CHECK(place != nullptr, "buffer " + buffer->name + " does not exist here");
  return *place;
}

void Places::put_in_scope(tir::BufferRef buffer, Place place) {
  auto [known, is_new] = places_.emplace(buffer, place);
  log_.emplace_back(buffer, is_new ? std::nullopt : std::optional(known->second));
  known->second = place;
}

void Places::put_view(tir::BufferRef view, tir::BufferRef base, llvm::Value* address) {
  put_in_scope(view, {address, false});
  bases_[view] = base;
}

void Places::undo_since(size_t mark) {
  for (; log_.size() > mark; log_.pop_back()) {
    const auto& [buffer, before] = log_.back();
    if (before)
      places_.insert_or_assign(buffer, *before);
    else
      places_.erase(buffer);
  }
}

/// What a view is of, through all views; null: an address that a number gives.
tir::BufferRef Places::memory_of(tir::BufferRef buffer) const {
  for (auto base = bases_.find(buffer); base != bases_.end(); base = bases_.find(buffer)) buffer = base->second;
  return buffer;
}

bool Places::may_read(tir::Stmt s, tir::BufferRef buffer) const {
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

}  // namespace relaxc::codegen_llvm
