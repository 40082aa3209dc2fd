// buffer_addresses.cpp: sets and restores addresses by scope; tells which buffers share memory by their views.
#include "compiler/codegen/llvm/lower/buffer_addresses.h"

#include "compiler/arith/visit.h"
#include "compiler/tir/visit.h"

namespace relaxc::codegen_llvm {

const BufferAddress* BufferAddresses::find(tir::BufferRef buffer) const {
  auto it = addresses_.find(buffer);
  return it != addresses_.end() ? &it->second : nullptr;
}

const BufferAddress& BufferAddresses::at(tir::BufferRef buffer) const {
  const BufferAddress* address = find(buffer);
  RELAXC_CHECK(address != nullptr, "buffer " + buffer->name + " does not exist here");
  return *address;
}

void BufferAddresses::put_in_scope(tir::BufferRef buffer, BufferAddress address) {
  auto [known, is_new] = addresses_.emplace(buffer, address);
  log_.emplace_back(buffer, is_new ? std::nullopt : std::optional(known->second));
  known->second = address;
}

void BufferAddresses::put_view(tir::BufferRef view, tir::BufferRef base, llvm::Value* address) {
  put_in_scope(view, {address, false});
  bases_[view] = base;
}

void BufferAddresses::undo_since(size_t mark) {
  for (; log_.size() > mark; log_.pop_back()) {
    const auto& [buffer, before] = log_.back();
    if (before)
      addresses_.insert_or_assign(buffer, *before);
    else
      addresses_.erase(buffer);
  }
}

tir::BufferRef BufferAddresses::memory_of(tir::BufferRef buffer) const {
  for (auto base = bases_.find(buffer); base != bases_.end(); base = bases_.find(buffer)) buffer = base->second;
  return buffer;
}

bool BufferAddresses::may_read(tir::Stmt s, tir::BufferRef buffer) const {
  const tir::BufferRef stored = memory_of(buffer);
  bool reads = stored == nullptr || !source_.is_apart(stored);
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
