// blocks.h: the current block, and the buffers that have been written so far.
#pragma once

#include <set>
#include <vector>

#include "compiler/tir/stmt.h"
#include "frontends/relax/prim/views.h"
#include "frontends/relax/text/source_text.h"

namespace relaxc::frontend {

/// A block, and what its body has contained so far.
struct BlockState {
  tir::Block* block = nullptr;
  Place place;
  std::vector<arith::Expr> loops;        ///< the variables of the enclosing loops, up to the next block
  std::vector<tir::BufferRef> read;      ///< in T.reads, also of the enclosing blocks
  std::vector<tir::BufferRef> stored;    ///< by its statements
  std::vector<tir::BufferRef> before;    ///< stored by the enclosing blocks before this one, in T.init among others
  std::vector<tir::BufferRef> combined;  ///< stored with a value that reads them, and not before in the block
};

class Blocks {
 public:
  explicit Blocks(const Views& views) : views_(views) {}
  Blocks(const Blocks&) = delete;

  /// The innermost block; null if there is none.
  BlockState* current() { return state_.block == nullptr ? nullptr : &state_; }
  /// The number of enclosing blocks with axes.
  size_t with_axes() const { return with_axes_; }
  void count_axes() { ++with_axes_; }

  /// Records a store. A block's stores count as written when the block ends, since its own reductions must not see
  /// them. `value` is null for a call. `certain`: the store is executed unconditionally.
  void note_store(tir::BufferRef buffer, arith::Expr value, bool certain);
  void note_written(tir::BufferRef buffer) { written_.insert(views_.root_of(buffer)); }
  bool is_written(tir::BufferRef buffer) const { return written_.count(views_.root_of(buffer)) != 0; }

  /// While it lives, `block` is the current one.
  class Inside {
   public:
    Inside(Blocks& blocks, tir::Block& block, Place place, std::vector<arith::Expr> loops);
    Inside(const Inside&) = delete;
    ~Inside();

   private:
    Blocks& blocks_;
    BlockState outer_;
    size_t with_axes_;
  };

 private:
  const Views& views_;
  BlockState state_;
  size_t with_axes_ = 0;
  std::set<tir::BufferRef> written_;  ///< views are replaced by their roots
};

}  // namespace relaxc::frontend
