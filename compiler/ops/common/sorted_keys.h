// sorted_keys.h: a list of keys and positions that is sorted in place, as statements: in linear time, whatever the
// data.
#pragma once

#include <functional>

#include "compiler/ops/common/family.h"

namespace relaxc::ops {

/// The dtype of counts and positions up to `most`: int32 where they are known to fit, else int64.
DType place_dtype(Expr most);

/// A list of at most `capacity` keys (unsigned integers, see sort_key.h) with a position each. Workspace: 2 * capacity
/// of either, and 256 counts for each byte of a key.
class SortedKeys {
 public:
  SortedKeys(tir::Builder& b, DType key, Expr capacity);

  /// The memory, around `body`.
  Stmt with(Stmt body) const;
  /// The list is to be filled from its beginning, as it is before it is sorted.
  Stmt begin() const { return set(from_, b_.index(0)); }
  /// Until it is sorted, the keys are here.
  BufferRef keys() const { return keys_; }
  /// Before sorting: what is at `place`.
  Stmt put(Expr place, Expr key, Expr position) const;
  /// The first `count` in ascending order of keys; equal ones keep their order.
  Stmt sort(Expr count) const;
  /// Of the one at `rank`.
  Expr key(Expr rank) const;
  Expr position(Expr rank) const;  ///< an index

 private:
  Expr get(BufferRef scalar) const;
  Stmt set(BufferRef scalar, Expr value) const;
  Expr digit(Expr key, Expr byte) const;
  Stmt insert_each(Expr count) const;
  Stmt sort_many(Expr count) const;
  Stmt count_steps(Expr count, bool rising) const;
  Stmt turn(Expr end) const;
  Stmt reverse(Expr count) const;
  Stmt by_digits(Expr count) const;
  Stmt count_digits(Expr count) const;
  Stmt distribute(Expr count, Expr byte) const;

  tir::Builder& b_;
  DType key_, place_;
  Expr capacity_;
  BufferRef keys_, positions_, counts_, from_, hole_;
};

}  // namespace relaxc::ops
