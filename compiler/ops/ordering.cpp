// ordering.cpp: where the extreme elements are, and elements in order.
//
// Ties go to the first position (arg… with select_last: the last). NaN counts as the largest value, as NumPy sorts, and
// as the extreme of arg…. topk selects before it sorts (common/select_first.h), the sorts take linear time.
#include "compiler/ops/common/element.h"
#include "compiler/ops/common/select_first.h"
#include "compiler/ops/common/shape.h"
#include "compiler/ops/common/sort.h"

namespace relaxc::ops {
namespace {

constexpr OperandDef kTopkOperands[] = {{"x"}, {"k"}};
constexpr AttrDef kArg[] = {{"axis", AttrType::kInt, true},
                            {"keepdims", AttrType::kBool, false, "False"},
                            {"select_last", AttrType::kBool, false, "False"}};
constexpr AttrDef kTopk[] = {{"axis", AttrType::kInt, false, "-1"}, {"largest", AttrType::kBool, false, "True"}};
constexpr AttrDef kSort[] = {{"axis", AttrType::kInt, false, "-1"}, {"descending", AttrType::kBool, false, "False"}};
constexpr DType kI64 = DType::i(64);

InferResult infer_arg(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  RELAXC_TRY(int64_t axis, c.axis(c.op.attrs.integer("axis"), x->ndim));
  Dims shape = *x->shape;
  Expr dim = shape[static_cast<size_t>(axis)], one_element = c.context.index(1);
  RELAXC_DO(c.require(arith::le(one_element, dim), kDerivedDim, one_element, dim,
                      {Finding::kAtLeast, fmt::format("dim {}", axis)},
                      fmt::format("'{}' along axis {}, which is empty", c.op.def->name, axis)));
  if (c.op.attrs.flag("keepdims"))
    shape[static_cast<size_t>(axis)] = c.context.index(1);
  else
    shape.erase(shape.begin() + axis);
  return one(tensor_info(c.context, std::move(shape), kI64));
}

template <bool Largest>
Stmt define_arg(DefineContext& d) {
  tir::Builder& b = d.builder;
  BufferRef x = d.input(0), y = d.output();
  size_t axis = axis_of(d.attrs().integer("axis"), x->shape.size());
  BufferRef best = b.buffer("best", kI64, {b.index(1)}, tir::Scope::kLocal);
  Expr first = b.index(0), best_at = cast(DType::index(), b.load(best, {first}));
  return b.nest(y->shape, [&](const Indices& i) {
    auto value = [&](Expr k) {
      Indices at = i;
      if (d.attrs().flag("keepdims"))
        at[axis] = k;
      else
        at.insert(at.begin() + static_cast<std::ptrdiff_t>(axis), k);
      return b.load(x, at);
    };
    auto step = [&](Var k) {
      Expr here = value(k), top = value(best_at);
      Expr better = ordered(here, top, Largest);
      if (d.attrs().flag("select_last")) better = arith::logical_not(ordered(top, here, Largest));
      if (!Largest && here.dtype().is_float()) {  // NaN is the extreme here too
        Expr nan_here = call(Intrinsic::k_isnan, here), nan_top = call(Intrinsic::k_isnan, top);
        better = arith::logical_or(arith::logical_and(nan_here, arith::logical_not(nan_top)),
                                   arith::logical_and(better, arith::logical_not(nan_top)));
      }
      return b.branch(better, b.store(best, {first}, cast(kI64, k)));
    };
    return b.alloc(best, b.seq({b.store(best, {first}, d.context().imm(kI64, 0)), b.loop("k", x->shape[axis], step),
                                b.store(y, i, b.load(best, {first}))}));
  });
}

InferResult infer_topk(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  RELAXC_TRY(int64_t axis, c.axis(c.op.attrs.integer("axis"), x->ndim));
  RELAXC_TRY(Dims k, c.shape_value(1));
  if (k.size() != 1) return c.error(Kind::invalid_value, "'topk' takes one k, found {}", text(k));
  Dims shape = *x->shape;
  Expr zero = c.context.index(0), dim = shape[static_cast<size_t>(axis)];
  std::string text = fmt::format("'topk' of {} along an axis of {}", to_string(k[0]), to_string(dim));
  RELAXC_DO(c.require(arith::le(zero, k[0]), kDerivedDim, zero, k[0], {Finding::kAtLeast, "k"}, text));
  RELAXC_DO(c.require(arith::le(k[0], dim), kDerivedDim, dim, k[0], {Finding::kAtMost, "k"}, text));
  shape[static_cast<size_t>(axis)] = k[0];
  return std::vector<Info>{tensor_info(c.context, shape, *x->dtype), tensor_info(c.context, shape, kI64)};
}

/// Orders every row of x along `axis` and stores the first `count` of each by `store(subscripts, where it was, place)`.
Stmt order_rows(DefineContext& d, size_t axis, Expr count, bool descending,
                const std::function<Stmt(const Indices& at, const Indices& from, Expr position)>& store) {
  tir::Builder& b = d.builder;
  BufferRef x = d.input(0);
  Dims rows = x->shape;
  rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(axis));
  return b.nest(rows, [&](const Indices& row) {
    auto at = [&](Expr k) {
      Indices i = row;
      i.insert(i.begin() + static_cast<std::ptrdiff_t>(axis), k);
      return i;
    };
    auto element_at = [&](Expr k) { return b.load(x, at(k)); };
    const SelectFirst first(b, x->dtype, x->shape[axis], count, descending, element_at);
    return first.run([&] {
      return b.loop("rank", count, [&](Var rank) {
        return b.let("from", first.position(rank),
                     [&](Var from) { return store(at(rank), at(from), cast(kI64, Expr(from))); });
      });
    });
  });
}

Stmt define_topk(DefineContext& d) {
  tir::Builder& b = d.builder;
  size_t axis = axis_of(d.attrs().integer("axis"), d.input(0)->shape.size());
  auto store = [&](const Indices& at, const Indices& from, Expr position) {
    return b.seq({b.store(d.output(0), at, b.load(d.input(0), from)), b.store(d.output(1), at, position)});
  };
  return order_rows(d, axis, d.shape_value(1)[0], d.attrs().flag("largest"), store);
}

template <bool Positions>
InferResult infer_sort(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  RELAXC_DO(c.axis(c.op.attrs.integer("axis"), x->ndim));
  return one(tensor_info(c.context, *x->shape, Positions ? kI64 : *x->dtype));
}

template <bool Positions>
Stmt define_sort(DefineContext& d) {
  tir::Builder& b = d.builder;
  size_t axis = axis_of(d.attrs().integer("axis"), d.input(0)->shape.size());
  auto store = [&](const Indices& at, const Indices& from, Expr position) {
    return b.store(d.output(), at, Positions ? position : b.load(d.input(0), from));
  };
  return order_rows(d, axis, d.input(0)->shape[axis], d.attrs().flag("descending"), store);
}

constexpr OpDef kOps[] = {
    {.name = "argmax",
     .operands = kX,
     .attrs = kArg,
     .infer = infer_arg,
     .define = define_arg<true>,
     .doc = "position of the largest element along axis"},
    {.name = "argmin",
     .operands = kX,
     .attrs = kArg,
     .infer = infer_arg,
     .define = define_arg<false>,
     .doc = "position of the smallest element along axis"},
    {.name = "topk",
     .operands = kTopkOperands,
     .attrs = kTopk,
     .infer = infer_topk,
     .define = define_topk,
     .doc = "the k largest (smallest) elements along axis in order, and their positions; k is a shape value"},
    {.name = "sort",
     .operands = kX,
     .attrs = kSort,
     .infer = infer_sort<false>,
     .define = define_sort<false>,
     .doc = "the elements in order along axis"},
    {.name = "argsort",
     .operands = kX,
     .attrs = kSort,
     .infer = infer_sort<true>,
     .define = define_sort<true>,
     .doc = "the positions of the elements in order along axis; equal ones keep their order"},
};

}  // namespace
}  // namespace relaxc::ops

RELAXC_OPERATORS(ordering, kOps)
