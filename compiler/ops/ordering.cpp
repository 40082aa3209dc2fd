// ordering.cpp: positions of extreme elements, and sorting.
//
// Of equal elements the first counts (arg… with select_last: the last). NaN counts as the largest value, as in NumPy's
// sorts, and as the extreme in arg…. topk selects before it sorts (common/select_first.h); sorts take linear time.
#include "compiler/ops/common/element.h"
#include "compiler/ops/common/select_first.h"
#include "compiler/ops/common/shape.h"
#include "compiler/ops/common/sort_key.h"
#include "compiler/ops/gradients/chosen.h"

namespace relaxc::ops::ordering_family {
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

/// Returns a key that is greatest for the extreme element. NaN is the extreme for both the maximum and the minimum.
template <bool Largest>
Expr extreme_key(Expr element) {
  Expr key = sort_key(element, false);
  if (!Largest && element.dtype().is_float()) key = key + like(key, 1);  // the key of NaN, the greatest, wraps to 0
  return Largest ? key : call(Intrinsic::k_bitwise_not, key);
}

/// For the last axis: finds the greatest key of a row, which vectorizes, and then searches for its position.
template <bool Largest>
Stmt define_arg_of_rows(DefineContext& d) {
  tir::Builder& b = d.builder;
  BufferRef x = d.input(0), y = d.output();
  const DType dtype = sort_key_dtype(x->dtype);
  BufferRef best = b.buffer("best", dtype, {b.index(1)}, tir::Scope::kLocal);
  Expr first = b.index(0), top = b.load(best, {first}), extent = x->shape.back();
  return b.nest(y->shape, [&](const Indices& i) {
    auto with_key = [&](Expr k, const std::function<Stmt(Expr)>& use) {
      Indices at(i.begin(), i.begin() + (static_cast<std::ptrdiff_t>(x->shape.size()) - 1));
      at.push_back(k);
      return b.let("element", b.load(x, at), [&](Var element) { return use(extreme_key<Largest>(element)); });
    };
    Stmt find = b.loop("k", extent, [&](Var k) {
      return with_key(k, [&](Expr key) { return b.store(best, {first}, arith::max(top, key)); });
    });
    Stmt look = b.loop("k", extent, [&](Var k) {
      Expr place = d.attrs().flag("select_last") ? extent - 1 - k : k;
      return with_key(place, [&](Expr key) {
        return b.branch(arith::eq(key, top), b.seq({b.store(y, i, cast(kI64, place)), b.leave_loop()}));
      });
    });
    return b.alloc(best, b.seq({b.store(best, {first}, d.context().zero(dtype)), find, look}));
  });
}

/// For other axes: compares all columns row by row, so that the inner loop is over columns and vectorizes.
template <bool Largest>
Stmt define_arg_of_columns(DefineContext& d, size_t axis) {
  tir::Builder& b = d.builder;
  BufferRef x = d.input(0), y = d.output();
  const DType dtype = sort_key_dtype(x->dtype);
  const auto place = x->shape.begin() + static_cast<std::ptrdiff_t>(axis);
  const Dims outer(x->shape.begin(), place), inner(place + 1, x->shape.end());
  BufferRef best = b.buffer("best", dtype, inner);
  auto joined = [&](Indices at, Expr middle, const Indices& column) {
    if (middle) at.push_back(middle);
    at.insert(at.end(), column.begin(), column.end());
    return at;
  };
  return b.nest(outer, [&](const Indices& i) {
    Expr kept = d.attrs().flag("keepdims") ? b.index(0) : Expr();
    auto step = [&](Expr k, const Indices& column) {
      Indices to = joined(i, kept, column);
      auto update = [&](Var element, Var top, Var so_far) {
        Expr key = extreme_key<Largest>(element);
        Expr better = d.attrs().flag("select_last") ? arith::le(top, key) : arith::lt(top, key);
        return b.seq(
            {b.store(best, column, arith::max(top, key)), b.store(y, to, select(better, cast(kI64, k), so_far))});
      };
      return b.let("element", b.load(x, joined(i, k, column)), [&](Var element) {
        return b.let("top", b.load(best, column), [&](Var top) {
          return b.let("so_far", b.load(y, to), [&](Var so_far) { return update(element, top, so_far); });
        });
      });
    };
    Stmt start = b.nest(inner, [&](const Indices& column) {
      return b.seq({b.store(best, column, d.context().zero(dtype)),
                    b.store(y, joined(i, kept, column), d.context().imm(kI64, 0))});
    });
    Stmt rows = b.loop("k", x->shape[axis],
                       [&](Var k) { return b.nest(inner, [&](const Indices& column) { return step(k, column); }); });
    return b.alloc(best, b.seq({start, rows}));
  });
}

template <bool Largest>
Stmt define_arg(DefineContext& d) {
  const size_t rank = d.input(0)->shape.size(), axis = axis_of(d.attrs().integer("axis"), rank);
  return axis + 1 == rank ? define_arg_of_rows<Largest>(d) : define_arg_of_columns<Largest>(d, axis);
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

/// Sorts each row of x along `axis` and calls `store(subscripts, source, position along axis)` for its first `count`.
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
     .gradient = derivatives::topk,
     .doc = "the k largest (smallest) elements along axis in order, and their positions; k is a shape value"},
    {.name = "sort",
     .operands = kX,
     .attrs = kSort,
     .infer = infer_sort<false>,
     .define = define_sort<false>,
     .gradient = derivatives::sort,
     .doc = "the elements in order along axis"},
    {.name = "argsort",
     .operands = kX,
     .attrs = kSort,
     .infer = infer_sort<true>,
     .define = define_sort<true>,
     .doc = "the positions of the elements in order along axis; equal ones keep their order"},
};

}  // namespace
}  // namespace relaxc::ops::ordering_family

RELAXC_OPERATORS(ordering, kOps)
