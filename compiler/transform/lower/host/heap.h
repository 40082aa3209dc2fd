// heap.h: memory of a host function for sizes that have no bound before the run.
//
// A block is two words in the arena, address and bytes, which functions of the runtime fill in; a buffer is then a View
// at that address. What is claimed is released after its last use, so a loop's iterations use the same memory in turn.
// Owns the buffer of the run's heap, which a function has if it claims anything, or calls one that does: an entry makes
// it, others are given it. Uses the insertion point, the shape program and the names of nodes.
//
// Some results are claimed where they are written and live on elsewhere: those of branches, of loops and of callees.
// Their code is written for a room of unknown size; what looks into the room becomes a claim of the size seen there.
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

  /// The heap of the run; who asks needs it.
  BufferRef buffer();
  bool is_needed() const { return heap_ != nullptr; }
  /// `body` in an entry: the heap begins where it does, and is in its arena.
  tir::Stmt begun_around(tir::Stmt body);

  /// The words of a block, which nothing allocates yet.
  BufferRef block_buffer(const std::string& name);
  /// Words of a block: of one that has memory, and of one that has none yet.
  BufferRef claimed_block(const std::string& name, Expr bytes);
  BufferRef empty_block(const std::string& name);
  /// The block has `bytes` after it, and in the first `keep` of them what it had.
  tir::Stmt reserve(BufferRef block, Expr keep, Expr bytes);
  tir::Stmt release(BufferRef block);
  /// The blocks change places.
  void swap_blocks(BufferRef a, BufferRef b);

  /// What is in a block, from here to the end of the region …
  BufferRef view_block(BufferRef block, const std::string& name, DType dtype, std::vector<Expr> shape,
                       Expr byte_offset = {});
  /// … and is released after its last use.
  BufferRef own_block(BufferRef block, const std::string& name, DType dtype, std::vector<Expr> shape);
  BufferRef claim(const std::string& name, DType dtype, const std::vector<Expr>& shape);
  /// `body` with `block` for the memory of `room`, as large as each view of it.
  tir::Stmt claim_views(tir::Stmt body, BufferRef room, BufferRef block);

 private:
  InsertionPoint& at_;
  tir::Builder& build_;
  ShapeProgram& shapes_;
  Origins& origins_;
  BufferRef heap_ = nullptr;
};

/// The address that a block or the words of a result begin with.
Expr block_word(tir::Builder& build, BufferRef block, int64_t word);

}  // namespace relaxc::lower
