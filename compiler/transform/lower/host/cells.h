// cells.h: memory in which branches and iterations leave the values of symbols.
//
// Index symbols share one vector; a symbol of another dtype has a buffer of its own. Uses the insertion point.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compiler/transform/lower/host/insertion_point.h"

namespace relaxc::lower {

class Cells {
 public:
  /// Makes cells for the values of `symbols`, followed by `more` cells for indices; `alloc` allocates them.
  Cells(InsertionPoint& at, const std::string& name, const std::vector<Var>& symbols, size_t more);

  /// Allocates the cells, from here to the end of the region.
  void alloc() const;
  /// Returns the value in cell `k`.
  Expr get(size_t k) const;
  tir::Stmt set(size_t k, Expr value) const;

 private:
  InsertionPoint& at_;
  BufferRef indices_ = nullptr;
  std::vector<std::pair<BufferRef, size_t>> places_;  ///< each cell's own buffer (null: `indices_`) and index in it
};

}  // namespace relaxc::lower
