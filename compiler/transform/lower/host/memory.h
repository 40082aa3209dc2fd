// memory.h: where tensors of a host function are, and views of them.
//
// Owns which buffer is a view of which, the constants that the body reads, and how much room destinations have that may
// prove too small. Uses the insertion point, the shape program, the heap for sizes without a bound, the names of nodes,
// and the module's weights.
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

  /// A buffer of these dims, from here to the end of the region: in the arena by the bound of what depends on data, or
  /// claimed from the heap where there is none.
  BufferRef allocate(const std::string& name, DType dtype, const std::vector<Expr>& shape);
  /// A small vector in the arena for a shape or a scalar, with its numbers in it if they will be `read`.
  BufferRef in_memory(relax::Info info, DType dtype, bool read);
  /// The constant's place among the weights.
  BufferRef constant(const std::string& name, DType dtype, const std::vector<Expr>& shape,
                     const relax::ConstantRef& data);
  /// `body` with the constants that were asked for.
  tir::Stmt with_constants(tir::Stmt body);

  /// `base` under another dtype and shape, from `byte_offset` (null: its beginning) on.
  BufferRef view_as(BufferRef base, const std::string& name, DType dtype, std::vector<Expr> shape,
                    Expr byte_offset = {});
  /// The destination `output` under the dims that its value has, for which it must have room.
  BufferRef view_of_output(BufferRef output, const std::string& name, const std::vector<Expr>& shape);
  /// `destination` has room for as many elements, which may prove too few.
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
