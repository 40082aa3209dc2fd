// unique.cpp: the distinct elements of a tensor, or its distinct slices along an axis.
//
// A stable sort of positions makes equal slices adjacent; the first of each run, which is also the first in the tensor,
// is its leader. With `sorted` the leaders are in order of their values, else in order of appearance. NaNs count as
// equal to each other and as larger than all numbers, and -0 equals 0, as in NumPy. The inverse is flat.
#include "compiler/ops/common/element.h"
#include "compiler/ops/common/shape.h"
#include "compiler/ops/common/sort.h"

namespace relaxc::ops::unique_family {
namespace {

constexpr AttrDef kAttrs[] = {{"sorted", AttrType::kBool, false, "True"},
                              {"return_index", AttrType::kBool, false, "False"},
                              {"return_inverse", AttrType::kBool, false, "False"},
                              {"return_counts", AttrType::kBool, false, "False"},
                              {"axis", AttrType::kInts}};
constexpr DType kI64 = DType::i(64);

InferResult infer(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  const std::vector<int64_t>& axis = c.op.attrs.ints("axis");
  if (axis.size() > 1) return c.error(Kind::invalid_attribute, "'unique' takes one axis, found {}", axis.size());
  Var count = c.bound_symbol(0, "unique_count" + std::to_string(c.op.id));
  Dims shape = *x->shape;
  Expr slices = product(c.context, shape);
  if (axis.empty()) {
    shape = {count};
  } else {
    RELAXC_TRY(int64_t at, c.axis(axis[0], x->ndim));
    slices = shape[static_cast<size_t>(at)];
    shape[static_cast<size_t>(at)] = count;
  }
  std::vector<Info> infos{tensor_info(c.context, shape, *x->dtype)};
  if (c.op.attrs.flag("return_index")) infos.push_back(tensor_info(c.context, Dims{count}, kI64));
  if (c.op.attrs.flag("return_inverse")) infos.push_back(tensor_info(c.context, Dims{slices}, kI64));
  if (c.op.attrs.flag("return_counts")) infos.push_back(tensor_info(c.context, Dims{count}, kI64));
  return infos;
}

Expr most(const Op& op, size_t) {
  const Dims& shape = op.operand(0)->shape();
  const std::vector<int64_t>& axis = op.attrs.ints("axis");
  if (!axis.empty()) return shape[axis_of(axis[0], shape.size())];
  return product(op.binds[0].context(), shape);
}

/// Works on the tensor as [outer, slices, inner], where slice p has outer * inner elements.
class Unique {
 public:
  explicit Unique(DefineContext& d) : d_(d), b_(d.builder) {
    BufferRef x = d.input(0);
    const std::vector<int64_t>& axis = d.attrs().ints("axis");
    size_t at = axis.empty() ? 0 : axis_of(axis[0], x->shape.size());
    outer_ = inner_ = b_.index(1);
    slices_ = axis.empty() ? product(d.context(), x->shape) : x->shape[at];
    for (size_t k = 0; k < x->shape.size() && !axis.empty(); ++k)
      if (k != at) (k < at ? outer_ : inner_) = (k < at ? outer_ : inner_) * x->shape[k];
    x_ = b_.buffer("slices", x->dtype, {outer_, slices_, inner_});
    total_ = d.bound_value(0);
    leader_ = b_.buffer("leader", kI64, {slices_}), place_ = b_.buffer("place", kI64, {slices_});
    head_ = b_.buffer("head", kI64, {b_.index(1)}, tir::Scope::kLocal);
    differs_ = b_.buffer("differs", kI64, {b_.index(1)}, tir::Scope::kLocal);
  }

  Stmt run() {
    Compare before = [&](Expr p, Expr q, BufferRef flag) { return compare(p, q, flag, 0); };
    Stmt all = with_sorted(b_, slices_, before, [&](BufferRef order) {
      Stmt groups = b_.alloc(head_, b_.alloc(differs_, find_groups(order)));
      Stmt places = d_.attrs().flag("sorted") ? Stmt() : number_by_appearance();
      return b_.seq({groups, places, write()});
    });
    return b_.view(x_, d_.input(0), b_.index(0), b_.alloc(leader_, b_.alloc(place_, all)));
  }

 private:
  Expr get(BufferRef of, Expr at) { return cast(DType::index(), b_.load(of, {at})); }
  Stmt set(BufferRef of, Expr at, Expr value) { return b_.store(of, {at}, cast(kI64, value)); }
  Stmt clear(BufferRef of) { return set(of, b_.index(0), b_.index(0)); }
  Stmt add_one(BufferRef to, Expr at) { return set(to, at, get(to, at) + 1); }
  Expr element(Expr slice, Expr k) {
    return b_.load(x_, {arith::floordiv(k, inner_), slice, arith::floormod(k, inner_)});
  }

  /// Compares slices by their first differing element: 1 if p sorts before q, `after` if q sorts before p, 0 if equal.
  Stmt compare(Expr p, Expr q, BufferRef flag, int64_t after) {
    auto decide = [&](Expr condition, int64_t value) {
      return b_.branch(condition, b_.seq({set(flag, b_.index(0), b_.index(value)), b_.leave_loop()}));
    };
    auto step = [&](Var k) {
      Expr a = element(p, k), c = element(q, k);
      return b_.seq({decide(ordered(a, c, false), 1), decide(ordered(c, a, false), after)});
    };
    return b_.seq({clear(flag), b_.loop("k", outer_ * inner_, step)});
  }

  /// Sets the leader of each slice, which is the first one of equal slices, and each leader's place among the values.
  Stmt find_groups(BufferRef order) {
    Expr first = b_.index(0);
    auto step = [&](Var rank) {
      Expr here = get(order, rank), last = get(order, arith::max(rank - 1, first));
      Expr begins = arith::logical_or(arith::eq(rank, first), arith::ne(get(differs_, first), first));
      Stmt begin = b_.seq({set(head_, first, here), set(place_, here, get(total_, first)), add_one(total_, first)});
      return b_.seq(
          {compare(here, last, differs_, 1), b_.branch(begins, begin), set(leader_, here, get(head_, first))});
    };
    return b_.seq({clear(total_), b_.loop("rank", slices_, step)});
  }

  Stmt for_leaders(const std::function<Stmt(Expr)>& body) {
    return b_.loop("p", slices_, [&](Var p) { return b_.branch(arith::eq(get(leader_, p), p), body(p)); });
  }

  Stmt number_by_appearance() {
    Stmt number = for_leaders([&](Expr p) {
      return b_.seq({set(place_, p, get(total_, b_.index(0))), add_one(total_, b_.index(0))});
    });
    return b_.seq({clear(total_), number});
  }

  Stmt write() {
    size_t next = 1;
    auto optional = [&](const char* name) { return d_.attrs().flag(name) ? d_.output(next++) : nullptr; };
    BufferRef index = optional("return_index"), inverse = optional("return_inverse"),
              counts = optional("return_counts");
    return b_.let("count", get(total_, b_.index(0)), [&](Var count) {
      BufferRef found = b_.buffer("found", x_->dtype, {outer_, count, inner_});
      Stmt leaders = for_leaders([&](Expr p) {
        Expr place = get(place_, p);
        Stmt copy = b_.nest({outer_, inner_}, [&](const Indices& i) {
          return b_.store(found, {i[0], place, i[1]}, b_.load(x_, {i[0], p, i[1]}));
        });
        return b_.seq({copy, index != nullptr ? set(index, place, p) : Stmt(),
                       counts != nullptr ? set(counts, place, b_.index(0)) : Stmt()});
      });
      Stmt others = b_.loop("p", slices_, [&](Var p) {
        Expr place = get(place_, get(leader_, p));
        return b_.seq({inverse != nullptr ? set(inverse, p, place) : Stmt(),
                       counts != nullptr ? add_one(counts, place) : Stmt()});
      });
      bool all = inverse != nullptr || counts != nullptr;
      return b_.view(found, d_.output(), b_.index(0), b_.seq({leaders, all ? others : Stmt()}));
    });
  }

  DefineContext& d_;
  tir::Builder& b_;
  Expr outer_, slices_, inner_;
  BufferRef x_, total_, leader_, place_, head_, differs_;
};

Stmt define(DefineContext& d) {
  return Unique(d).run();
}

constexpr OpDef kOps[] = {
    {.name = "unique",
     .operands = kX,
     .attrs = kAttrs,
     .infer = infer,
     .define = define,
     .upper_bound = most,
     .doc = "the distinct elements (slices along axis); then, if asked for, where each is first, which of them every "
            "element is, and how often each occurs"},
};

}  // namespace
}  // namespace relaxc::ops::unique_family

RELAXC_OPERATORS(unique, kOps)
