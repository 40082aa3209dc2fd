// sorted_keys.h: statements that sort a list of keys and positions in place, in linear time for any
// data.
#pragma once

#include <functional>

#include "compiler/ops/common/family.h"

namespace relaxc::ops {

/// Returns the dtype of counts and positions up to `most`: int32 if they are known to fit, else int64.
DType place_dtype(Expr most);

/// A list of at most `capacity` keys (unsigned integers, see sort_key.h), each with a position. Workspace: 2 * capacity
/// of either, and 256 counts for each byte of a key.
class SortedKeys {
 public:
  SortedKeys(tir::Builder& b, DType key, Expr capacity);

  /// Allocates the memory around `body`.
  Stmt with(Stmt body) const;
  /// Makes the list begin at index 0, where it is filled, as it does before it is sorted.
  Stmt begin() const { return set(from_, b_.index(0)); }
  /// The buffer of the keys before they are sorted.
  BufferRef keys() const { return keys_; }
  /// Stores the entry at index `place`, before sorting.
  Stmt put(Expr place, Expr key, Expr position) const;
  /// Sorts the first `count` entries by ascending keys; equal ones keep their order.
  Stmt sort(Expr count) const;
  /// Return the key, and the position, of the entry at `rank` after sorting.
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
