// select_first.h: selects and sorts the first k of n elements without sorting the others.
#pragma once

#include <functional>

#include "compiler/ops/common/sorted_keys.h"

namespace relaxc::ops {

/// The first `k` of `n` elements in ascending or descending order (sort_key.h), equal ones by position; 0 <= k <= n.
class SelectFirst {
 public:
  /// `element_at(i)` returns the element at position i, an index.
  SelectFirst(tir::Builder& b, DType element, Expr n, Expr k, bool descending, std::function<Expr(Expr)> element_at);

  /// Selects and sorts; `use` emits the statements that read `position`.
  Stmt run(const std::function<Stmt()>& use) const;
  /// Returns the position of the element at `rank` < k, as an index.
  Expr position(Expr rank) const { return found_.position(rank); }

 private:
  /// A method to find candidates for the first elements.
  struct Way {
    int64_t block = 0;  ///< elements per block, whose least one is tested first; 0: all elements are candidates
    Expr when;          ///< the condition for using this method; null for the last one
  };

  std::vector<Way> ways() const;
  Expr most_found(const Way& way) const;
  Expr capacity() const;
  Expr blocks(const Way& way) const { return arith::ceildiv(n_, way.block); }
  Expr get(BufferRef scalar) const { return cast(DType::index(), b_.load(scalar, {b_.index(0)})); }
  Stmt set(BufferRef scalar, Expr value) const { return b_.store(scalar, {b_.index(0)}, cast(scalar->dtype, value)); }
  Expr value(BufferRef scalar) const { return b_.load(scalar, {b_.index(0)}); }
  /// The element is loaded first: a select with a load in an arm becomes a branch, and keys contain selects.
  Stmt with_key(Expr i, const std::function<Stmt(Expr key)>& use) const;
  Stmt take(const Way& way) const;
  Stmt take_all() const;
  Stmt take_by_bound(const Way& way) const;
  Stmt find_least(BufferRef least, const Way& way) const;
  Stmt count_keys(BufferRef keys, Expr count, Expr bound, bool or_equal) const;
  Stmt find_bound(BufferRef keys, Expr count) const;
  Stmt find_bound_by_columns(BufferRef keys) const;
  Stmt put(Expr key, Expr position, Expr taken) const;
  Stmt put_first(Expr key, Expr position) const;
  Stmt for_each_near(BufferRef keys, Expr count, Expr goes_on, const std::function<Stmt(Var)>& use) const;
  Stmt take_each(BufferRef keys, Expr count, const std::function<Expr(Expr)>& position) const;
  Stmt take_up_to_bound(BufferRef least, const Way& way) const;
  Stmt drop_most() const;

  tir::Builder& b_;
  DType key_, place_;
  Expr n_, k_, slack_;
  bool descending_;
  std::function<Expr(Expr)> element_at_;
  SortedKeys found_;
  BufferRef count_, equals_, few_, low_, high_;
};

}  // namespace relaxc::ops
