// values.h: what each Relax value is in a host function.
//
// Owns the slots of values. Uses the insertion point, to load numbers, and the symbols.
#pragma once

#include <map>
#include <vector>

#include "compiler/transform/lower/host/shape_program.h"

namespace relaxc::lower {

/// What a Relax value is. A shape or an index scalar is what its struct info says and needs none.
struct ValueStorage {
  BufferRef buffer = nullptr;        ///< of a tensor
  std::vector<ValueStorage> fields;  ///< of a tuple
};

class Values {
 public:
  Values(InsertionPoint& at, ShapeProgram& shapes) : build_(at.build()), shapes_(shapes) {}
  Values(const Values&) = delete;

  /// The value's slot, an empty one at first.
  ValueStorage& slot(const relax::Value& value) { return slots_[&value]; }
  /// The memory of a value that has some.
  BufferRef buffer(const relax::Value& value);
  /// A scalar or a tensor's first element as a number.
  Expr scalar(const relax::Value& value);
  /// The same as a condition.
  Expr truth(const relax::Value& value);
  /// The slot `path` leads to through the fields of tuples.
  ValueStorage& leaf(const relax::Value& value, const std::vector<size_t>& path);

 private:
  tir::Builder& build_;
  ShapeProgram& shapes_;
  std::map<const relax::Value*, ValueStorage> slots_;
};

}  // namespace relaxc::lower
