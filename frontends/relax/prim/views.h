// views.h: the buffers that are parts of others.
#pragma once

#include <map>
#include <string>

#include "compiler/tir/stmt.h"

namespace relaxc::frontend {

class Views {
 public:
  Views() = default;
  Views(const Views&) = delete;

  /// Returns the buffer that a view is a part of, through all views; any other buffer is returned itself.
  tir::BufferRef root_of(tir::BufferRef buffer) const {
    for (auto base = bases_.find(buffer); base != bases_.end(); base = bases_.find(buffer)) buffer = base->second;
    return buffer;
  }
  void set_base(tir::BufferRef view, tir::BufferRef base) { bases_[view] = base; }
  /// Returns the latest view of this name; null if there was none.
  tir::BufferRef latest(const std::string& name) const {
    auto known = latest_.find(name);
    return known == latest_.end() ? nullptr : known->second;
  }
  /// Sets the offset of a view's first element in its base, in elements.
  void set_offset(tir::BufferRef view, arith::Expr elements) { offsets_[view] = elements; }
  /// Returns null for a buffer that is not a view.
  arith::Expr offset_of(tir::BufferRef view) const {
    auto known = offsets_.find(view);
    return known == offsets_.end() ? arith::Expr() : known->second;
  }
  void set_latest(const std::string& name, tir::BufferRef view) { latest_[name] = view; }

 private:
  std::map<tir::BufferRef, tir::BufferRef> bases_;
  std::map<std::string, tir::BufferRef> latest_;
  std::map<tir::BufferRef, arith::Expr> offsets_;
};

}  // namespace relaxc::frontend
