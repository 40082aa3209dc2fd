// destinations.h: the buffers that values are written to.
//
// A result that a kernel computes and the function returns is written to the caller's memory directly; views in between
// cost nothing. Operands of a concatenation are written to their place in its result (in_place_concat.cpp). Owns the
// destinations of values, their places in concatenations, and the memory of the concatenations' results. Uses the
// signature's outputs, memory and the shape program.
#pragma once

#include <map>
#include <vector>

#include "compiler/transform/lower/host/memory.h"
#include "compiler/transform/lower/host/signature.h"

namespace relaxc::lower {

class Destinations {
 public:
  Destinations(InsertionPoint& at, ShapeProgram& shapes, Memory& memory, const Signature& signature)
      : at_(at), build_(at.build()), shapes_(shapes), memory_(memory), signature_(signature) {}
  Destinations(const Destinations&) = delete;

  /// Returns the buffer that was assigned to `value`; null if there is none.
  BufferRef of(const relax::Value& value) const;
  /// Makes `target` the destination of `value` and of all values that it is a view of.
  void assign(relax::Value& value, BufferRef target);
  /// Whether the tensor that `value` is a view of is sure to fit memory of the size of `value`: false if a view in
  /// between checks only afterwards that both have the same number of elements.
  bool fits(const relax::Value& value) const;
  /// Returns the op in `region` that computes `value` (through views) if it can write to a given buffer; else null.
  const relax::Op* can_write(relax::Value& value, const relax::Region& region) const;
  /// Assigns `targets` (null: none) to the results of `region` whose producers can write to them; returns which results
  /// got theirs. A target whose shape is not known at the entry may become a claim from the heap where it is viewed, so
  /// only a result that one kernel writes gets it.
  std::vector<bool> assign_targets(const relax::Region& region, const std::vector<BufferRef>& targets);
  /// Assigns the outputs of `function` that its body can write directly.
  void choose_outputs(const relax::Function& function);

  /// Returns the buffer for the producer of `value`: a place in a concatenation, the destination, or a new buffer.
  BufferRef produce(const relax::Value& value);
  /// Returns `target` as a view of this shape; guards that an output of data-dependent size has room for it.
  BufferRef view_of(BufferRef target, const std::string& name, const std::vector<Expr>& shape);

  /// The place of a value in the result of a concatenation.
  struct Part {
    relax::Op* concat = nullptr;
    Expr byte_offset;
  };
  /// Has `value` written to its place in a concatenation's result.
  void place(const relax::Value& value, Part part) { parts_[&value] = part; }
  /// Returns the place that `value` was given in a concatenation; null if it has none.
  const Part* part_of(const relax::Value& value) const;
  /// Returns the memory of a concatenation's result, which the first call creates.
  BufferRef whole_of(relax::Op& concat);

 private:
  void require_capacity(const Output& output, const std::vector<Expr>& shape);

  InsertionPoint& at_;
  tir::Builder& build_;
  ShapeProgram& shapes_;
  Memory& memory_;
  const Signature& signature_;
  std::map<const relax::Value*, BufferRef> destinations_;
  std::map<const relax::Value*, Part> parts_;
  std::map<const relax::Op*, BufferRef> wholes_;
};

}  // namespace relaxc::lower
