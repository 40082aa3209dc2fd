// cells.cpp: small buffers for the values of symbols.
#include "compiler/transform/lower/host/cells.h"

namespace relaxc::lower {

Cells::Cells(InsertionPoint& at, const std::string& name, const std::vector<Var>& symbols, size_t more) : at_(at) {
  tir::Builder& build = at.build();
  size_t count = 0;
  for (Var symbol : symbols) {
    bool index = symbol.dtype().is_index();
    places_.emplace_back(index ? nullptr : at.arena_buffer(name, symbol.dtype(), {build.index(1)}), index ? count : 0);
    count += index;
  }
  for (size_t i = 0; i < more; ++i) places_.emplace_back(nullptr, count++);
  if (count > 0) indices_ = at.arena_buffer(name, DType::i(64), {build.index(static_cast<int64_t>(count))});
}

void Cells::alloc() const {
  if (indices_ != nullptr) at_.alloc(indices_);
  for (const auto& [own, at] : places_)
    if (own != nullptr) at_.alloc(own);
}

Expr Cells::get(size_t k) const {
  const auto& [own, at] = places_.at(k);
  tir::Builder& build = at_.build();
  Expr value = build.load(own == nullptr ? indices_ : own, {build.index(static_cast<int64_t>(at))});
  return own == nullptr ? arith::cast(DType::index(), value) : value;
}

tir::Stmt Cells::set(size_t k, Expr value) const {
  const auto& [own, at] = places_.at(k);
  tir::Builder& build = at_.build();
  BufferRef memory = own == nullptr ? indices_ : own;
  return build.store(memory, {build.index(static_cast<int64_t>(at))}, arith::cast(memory->dtype, value));
}

}  // namespace relaxc::lower
