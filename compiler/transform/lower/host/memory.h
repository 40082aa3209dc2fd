// memory.h: buffers of a host function's tensors, and views of them.
//
// Owns which buffer is a view of which, the constants that the body reads, and the capacities of destinations that
// data-dependent sizes may exceed. Uses the insertion point, the shape program, the heap for sizes without a bound, the
// names of nodes, and the module's weights.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/transform/lower/host/heap.h"
#include "compiler/transform/lower/host/shared.h"

namespace relaxc::lower {

class Memory {
 public:
  Memory(Shared& shared, InsertionPoint& at, ShapeProgram& shapes, Heap& heap, Origins& origins)
      : shared_(shared), at_(at), build_(at.build()), shapes_(shapes), heap_(heap), origins_(origins) {}
  Memory(const Memory&) = delete;

  /// Returns a buffer of these dims that exists to the end of the region: in the arena, with the bound of a
  /// data-dependent size, or claimed from the heap if the size has no bound.
  BufferRef allocate(const std::string& name, DType dtype, const std::vector<Expr>& shape);
  /// Returns a small buffer in the arena for a shape or a scalar; stores its numbers there if they will be `read`.
  BufferRef in_memory(relax::Info info, DType dtype, bool read);
  /// Returns a buffer for a constant, which gets an offset in the weights.
  BufferRef constant(const std::string& name, DType dtype, const std::vector<Expr>& shape,
                     const relax::ConstantRef& data);
  /// Returns `body` inside views of the weights for all constants that `constant` returned.
  tir::Stmt with_constants(tir::Stmt body);

  /// Returns a view of `base` with another dtype and shape, from `byte_offset` (null: its beginning) on.
  BufferRef view_as(BufferRef base, const std::string& name, DType dtype, std::vector<Expr> shape,
                    Expr byte_offset = {});
  /// Returns the destination `output` with the dims of its value, which are required to fit its `limit`.
  BufferRef view_of_output(BufferRef output, const std::string& name, const std::vector<Expr>& shape);
  /// Sets the number of elements that `destination` has room for; data-dependent sizes may exceed it.
  void limit(BufferRef destination, Expr elements) { capacities_[destination] = elements; }
  /// Whether `buffer` is `base` or a view of it.
  bool aliases(BufferRef buffer, BufferRef base) const;
  void copy(BufferRef from, BufferRef to);

 private:
  Shared& shared_;
  InsertionPoint& at_;
  tir::Builder& build_;
  ShapeProgram& shapes_;
  Heap& heap_;
  Origins& origins_;
  std::map<BufferRef, BufferRef> bases_;  ///< of views
  std::map<BufferRef, Expr> capacities_;
  std::vector<std::pair<BufferRef, uint64_t>> constants_;  ///< with offsets
};

}  // namespace relaxc::lower
