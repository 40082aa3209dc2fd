// values.h: the storage of each Relax value in a host function.
//
// Owns the storage of values. Uses the insertion point, to load numbers, and the symbols.
#pragma once

#include <map>
#include <vector>

#include "compiler/transform/lower/host/shape_program.h"

namespace relaxc::lower {

/// Where a Relax value is. A shape or an index scalar needs no storage: its struct info has the numbers.
struct ValueStorage {
  BufferRef buffer = nullptr;        ///< of a tensor
  std::vector<ValueStorage> fields;  ///< of a tuple
};

class Values {
 public:
  Values(InsertionPoint& at, ShapeProgram& shapes) : build_(at.build()), shapes_(shapes) {}
  Values(const Values&) = delete;

  /// The value's storage, empty at first.
  ValueStorage& slot(const relax::Value& value) { return slots_[&value]; }
  /// Returns the buffer of a value, which must have one.
  BufferRef buffer(const relax::Value& value);
  /// Returns a scalar, or the first element of a tensor, as an expression.
  Expr scalar(const relax::Value& value);
  /// Returns the same as a condition (is not 0).
  Expr truth(const relax::Value& value);
  /// Returns the storage that `path` leads to through the fields of tuples.
  ValueStorage& leaf(const relax::Value& value, const std::vector<size_t>& path);

 private:
  tir::Builder& build_;
  ShapeProgram& shapes_;
  std::map<const relax::Value*, ValueStorage> slots_;
};

}  // namespace relaxc::lower
