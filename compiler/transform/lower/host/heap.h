// heap.h: memory of a host function for sizes that have no bound before the run.
//
// A block is two words in the arena, address and bytes, which functions of the runtime fill in; its content is a View
// at that address. It is released after its last use, so iterations of a loop reuse the memory. Owns the buffer of the
// run's heap, which a function has if it claims blocks or calls one that does: an entry creates it, other functions
// take it as a parameter. Uses the insertion point, the shape program and the names of nodes.
//
// Results of branches, loops and callees may be claimed where they are written and be used after that. Such code is
// lowered with a destination of unknown size; then each view of that becomes a claim of the view's size.
#pragma once

#include <string>
#include <vector>

#include "compiler/transform/lower/host/shape_program.h"

namespace relaxc::lower {

class Heap {
 public:
  Heap(InsertionPoint& at, ShapeProgram& shapes, Origins& origins)
      : at_(at), build_(at.build()), shapes_(shapes), origins_(origins) {}
  Heap(const Heap&) = delete;

  /// Returns the buffer of the run's heap; the function needs the heap from then on.
  BufferRef buffer();
  bool is_needed() const { return heap_ != nullptr; }
  /// Returns `body`, of an entry, inside the allocation and initialization of the heap's buffer, which is in the arena.
  tir::Stmt begun_around(tir::Stmt body);

  /// Returns a buffer for the words of a block, without allocating it.
  BufferRef block_buffer(const std::string& name);
  /// Allocate the words of a block: with `bytes` of memory, and without memory (all words are 0).
  BufferRef claimed_block(const std::string& name, Expr bytes);
  BufferRef empty_block(const std::string& name);
  /// Returns the statement that gives the block `bytes` of memory and preserves its first `keep` bytes.
  tir::Stmt reserve(BufferRef block, Expr keep, Expr bytes);
  tir::Stmt release(BufferRef block);
  /// Swaps the memory of two blocks.
  void swap_blocks(BufferRef a, BufferRef b);

  /// Returns a view of the block's memory, from here to the end of the region.
  BufferRef view_block(BufferRef block, const std::string& name, DType dtype, std::vector<Expr> shape,
                       Expr byte_offset = {});
  /// Returns such a view, and releases the block after its last use.
  BufferRef own_block(BufferRef block, const std::string& name, DType dtype, std::vector<Expr> shape);
  BufferRef claim(const std::string& name, DType dtype, const std::vector<Expr>& shape);
  /// Returns `body` with each view of `room` replaced by a claim of the view's size in `block` and a view of that.
  tir::Stmt claim_views(tir::Stmt body, BufferRef room, BufferRef block);

 private:
  InsertionPoint& at_;
  tir::Builder& build_;
  ShapeProgram& shapes_;
  Origins& origins_;
  BufferRef heap_ = nullptr;
};

/// Returns word `word` of a block, or of an external function's result, as an index; word 0 is the address.
Expr block_word(tir::Builder& build, BufferRef block, int64_t word);

}  // namespace relaxc::lower
