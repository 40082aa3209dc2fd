// sort.cpp: see sort.h. Bottom-up merges: no recursion, and the same steps for the same n.
#include "compiler/ops/common/sort.h"

#include "compiler/ops/common/element.h"

namespace relaxc::ops {
namespace {

constexpr DType kI64 = DType::i(64);

class MergeSort {
 public:
  MergeSort(tir::Builder& b, Expr n, const Before& before, const Compare& compare)
      : b_(b), n_(n), before_(before), compare_(compare) {
    order_ = b.buffer("order", kI64, {n});
    spare_ = b.buffer("spare", kI64, {n});
    width_ = scalar("width"), left_ = scalar("left"), right_ = scalar("right");
    if (compare_) flag_ = scalar("before");
  }

  BufferRef order() const { return order_; }

  Stmt sort() {
    auto pass = [&](Var width) {
      Expr pair = width * 2;
      Stmt merges = b_.loop("run", arith::ceildiv(n_, pair), [&](Var run) { return merge(run * pair, width); });
      return b_.seq({merges, copy_back(), set(width_, pair)});
    };
    Stmt passes = b_.loop_while(arith::lt(get(width_), n_), b_.let("w", get(width_), pass));
    Stmt start = b_.loop("i", n_, [&](Var i) { return b_.store(order_, {i}, cast(kI64, i)); });
    Stmt all = b_.seq({start, set(width_, b_.index(1)), passes});
    if (compare_) all = b_.alloc(flag_, all);
    return b_.alloc(spare_, b_.alloc(width_, b_.alloc(left_, b_.alloc(right_, all))));
  }

 private:
  BufferRef scalar(std::string name) { return b_.buffer(std::move(name), kI64, {b_.index(1)}, tir::Scope::kLocal); }
  Expr get(BufferRef s) { return cast(DType::index(), b_.load(s, {b_.index(0)})); }
  Stmt set(BufferRef s, Expr value) { return b_.store(s, {b_.index(0)}, cast(kI64, value)); }
  /// Returns the element at place `at` of the order; a place after the end gives the last one, which is not used.
  Expr position(Expr at) {
    return cast(DType::index(), b_.load(order_, {arith::max(b_.index(0), arith::min(at, n_ - 1))}));
  }

  /// Merges the sorted runs order[low .. low + width) and order[low + width .. low + 2 width) into `spare`.
  Stmt merge(Expr low, Expr width) {
    Expr middle = arith::min(low + width, n_), high = arith::min(low + width * 2, n_);
    Expr left = get(left_), right = get(right_);
    Expr right_first = compare_ ? arith::ne(get(flag_), b_.index(0)) : before_(position(right), position(left));
    Expr take_left = arith::logical_and(arith::lt(left, middle),
                                        arith::logical_or(arith::le(high, right), arith::logical_not(right_first)));
    auto step = [&](Var i) {
      Stmt from_left = b_.seq({b_.store(spare_, {low + i}, cast(kI64, position(left))), set(left_, left + 1)});
      Stmt from_right = b_.seq({b_.store(spare_, {low + i}, cast(kI64, position(right))), set(right_, right + 1)});
      Stmt take = b_.branch(take_left, from_left, from_right);
      return compare_ ? b_.seq({compare_(position(right), position(left), flag_), take}) : take;
    };
    return b_.seq({set(left_, low), set(right_, middle), b_.loop("at", high - low, step)});
  }

  Stmt copy_back() {
    return b_.loop("i", n_, [&](Var i) { return b_.store(order_, {i}, b_.load(spare_, {i})); });
  }

  tir::Builder& b_;
  Expr n_;
  Before before_;
  Compare compare_;
  BufferRef order_, spare_, width_, left_, right_, flag_ = nullptr;
};

}  // namespace

Stmt with_sorted(tir::Builder& b, Expr n, const Before& before, const std::function<Stmt(BufferRef)>& use) {
  MergeSort sort(b, n, before, {});
  Stmt sorted = sort.sort();
  return b.alloc(sort.order(), b.seq({sorted, use(sort.order())}));
}

Stmt with_sorted(tir::Builder& b, Expr n, const Compare& compare, const std::function<Stmt(BufferRef)>& use) {
  MergeSort sort(b, n, {}, compare);
  Stmt sorted = sort.sort();
  return b.alloc(sort.order(), b.seq({sorted, use(sort.order())}));
}

Expr ordered(Expr a, Expr b, bool descending) {
  if (a.dtype().is_bool()) a = cast(DType::u(8), a), b = cast(DType::u(8), b);
  Expr first = descending ? arith::lt(b, a) : arith::lt(a, b);
  if (!a.dtype().is_float()) return first;
  Expr nan_a = call(Intrinsic::k_isnan, a), nan_b = call(Intrinsic::k_isnan, b);
  Expr by_nan = descending ? arith::logical_and(nan_a, arith::logical_not(nan_b))
                           : arith::logical_and(nan_b, arith::logical_not(nan_a));
  return arith::logical_or(first, by_nan);
}

}  // namespace relaxc::ops
