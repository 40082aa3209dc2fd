// cells.h: where a branch or an iteration leaves the values of symbols.
//
// The indices among them share a vector, any other has a place of its own. Uses the insertion point.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compiler/transform/lower/host/insertion_point.h"

namespace relaxc::lower {

class Cells {
 public:
  /// Cells for the values of `symbols`, and `more` for indices behind them; nothing allocates them yet.
  Cells(InsertionPoint& at, const std::string& name, const std::vector<Var>& symbols, size_t more);

  /// They exist from here to the end of the region.
  void alloc() const;
  /// The value in cell `k`.
  Expr get(size_t k) const;
  tir::Stmt set(size_t k, Expr value) const;

 private:
  InsertionPoint& at_;
  BufferRef indices_ = nullptr;
  std::vector<std::pair<BufferRef, size_t>> places_;  ///< of each symbol: its own memory, or where in `indices_`
};

}  // namespace relaxc::lower
