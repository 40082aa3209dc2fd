// destinations.h: where what is made is written.
//
// A result that a kernel makes and the function returns is written to the caller's memory at once; views on the way
// cost nothing. Operands of a concatenation are written where they belong in its result (in_place_concat.cpp). Owns the
// destinations of values, their places in concatenations, and the memory of those. Uses the signature's outputs, memory
// and the shape program.
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

  /// Where `value` is to be written; null: not decided.
  BufferRef of(const relax::Value& value) const;
  /// `value`, and what it is a view of, are written to `target`.
  void assign(relax::Value& value, BufferRef target);
  /// What `value` is a view of can be made in memory of the size of `value`: no view in between checks its size only
  /// afterwards.
  bool fits(const relax::Value& value) const;
  /// The op in `region` that can write `value` where it is told as it makes it; null: there is none.
  const relax::Op* can_write(relax::Value& value, const relax::Region& region) const;
  /// Results that are made in `region` are written to `targets` (null: none) at once, if they can be; says which. A
  /// target whose size is not known yet may become a block of the heap, which is claimed where it is seen: by one
  /// kernel alone.
  std::vector<bool> assign_targets(const relax::Region& region, const std::vector<BufferRef>& targets);
  /// Outputs of `function` that are made in its body are written there at once, if they can be.
  void choose_outputs(const relax::Function& function);

  /// The buffer that the producer of `value` writes: its place in a concatenation, its destination, or a new one.
  BufferRef produce(const relax::Value& value);
  /// `target` as memory of a value of this shape, for which an output must have room.
  BufferRef view_of(BufferRef target, const std::string& name, const std::vector<Expr>& shape);

  /// Where a value is in the result of a concatenation.
  struct Part {
    relax::Op* concat = nullptr;
    Expr byte_offset;
  };
  /// `value` is made at its place in a concatenation.
  void place(const relax::Value& value, Part part) { parts_[&value] = part; }
  /// Its place; null: it has none.
  const Part* part_of(const relax::Value& value) const;
  /// The memory of a concatenation's result, from the first time that somebody asks.
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
