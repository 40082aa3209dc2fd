// pad.cpp: adds elements around a tensor, or removes some where a pad is negative.
//
// pads is a shape value: the begins of all axes, then the ends. Modes: constant; edge (the outermost element); reflect
// (mirrored without repeating the edge, again and again if the pad is longer than the tensor); wrap (periodic). In
// constant mode an axis that may be empty cannot be read through a clamped subscript, so the result is filled first and
// x copied into it. In the other modes, rows with padded ends are three loops: the padding before, x, which is
// contiguous, and the padding after it.
#include "compiler/ops/common/element.h"
#include "compiler/ops/common/shape.h"
#include "compiler/ops/gradients/moves.h"

namespace relaxc::ops::pad_family {
namespace {

constexpr OperandDef kOperands[] = {{"x"}, {"pads"}, {"value", OperandDef::kOptional}};
constexpr AttrDef kMode[] = {{"mode", AttrType::kString, false, "constant"}};

InferResult infer(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  RELAXC_TRY(Dims pads, c.shape_value(1));
  const std::string& mode = c.op.attrs.string("mode");
  if (mode != "constant" && mode != "edge" && mode != "reflect" && mode != "wrap")
    return c.error(Kind::invalid_attribute, "mode \"{}\" of 'pad' is not one of constant, edge, reflect, wrap", mode);
  size_t rank = x->shape->size();
  if (pads.size() != 2 * rank)
    return c.error(Kind::invalid_value, "'pad' of {} dims with {} pads; it takes {}", rank, pads.size(), 2 * rank);
  if (c.has(2)) {
    RELAXC_TRY(const TensorInfo* value, c.tensor(2));
    for (Expr dim : *value->shape) RELAXC_DO(require_equal(c, dim, c.context.index(1), "elements of the value"));
    if (value->dtype != x->dtype)
      return c.error(Kind::dtype_mismatch, "'pad' of {} with a value of {}", to_string(*x->dtype),
                     to_string(*value->dtype));
  }
  Dims shape;
  for (size_t k = 0; k < rank; ++k) {
    Expr zero = c.context.index(0), dim = arith::simplify((*x->shape)[k] + pads[k] + pads[k + rank], c.facts);
    RELAXC_DO(c.require(arith::le(zero, dim), kDerivedDim, zero, dim,
                        {Finding::kAtLeast, fmt::format("the padded dim {}", k)},
                        fmt::format("'pad' leaves {} along axis {}", to_string(dim), k)));
    bool untouched = pads[k].is_constant(0) && pads[k + rank].is_constant(0);
    if (!untouched && mode != "constant") {
      Expr fits = arith::logical_or(arith::le(c.context.index(1), (*x->shape)[k]), arith::le(dim, zero));
      RELAXC_DO(c.require(fits, kDerivedDim, c.context.index(1), (*x->shape)[k],
                          {Finding::kAtLeast, fmt::format("dim {}", k)},
                          fmt::format("'pad' in mode {} of the empty axis {}", mode, k)));
    }
    shape.push_back(dim);
  }
  return one(tensor_info(c.context, std::move(shape), *x->dtype));
}

/// One axis of x, with the padding before and after it.
struct Axis {
  Expr dim, begin, end;
  bool touched() const { return !begin.is_constant(0) || !end.is_constant(0); }
};

Expr source(const std::string& mode, const Axis& axis, Expr i) {
  Context& context = i.context();
  Expr at = i - axis.begin, zero = context.index(0), one = context.index(1), last = axis.dim - 1;
  if (mode == "wrap") return arith::floormod(at, axis.dim);
  if (mode == "reflect") {
    Expr period = arith::max(one, last * 2), phase = arith::floormod(at, period);
    return arith::min(phase, period - phase);
  }
  return arith::max(zero, arith::min(at, last));
}

Expr fill_value(DefineContext& d) {
  if (!d.has(2)) return d.context().zero(d.output()->dtype);
  return d.builder.load(d.input(2), Indices(d.input(2)->shape.size(), d.context().index(0)));
}

/// Fills the result with the pad value, then copies the part of x that is inside of the result.
Stmt fill_and_copy(DefineContext& d, const std::vector<Axis>& axes) {
  tir::Builder& b = d.builder;
  BufferRef x = d.input(0), y = d.output();
  Expr zero = d.context().index(0), value = fill_value(d);
  Dims extents, first;
  for (size_t k = 0; k < axes.size(); ++k) {
    first.push_back(arith::max(zero, zero - axes[k].begin));
    extents.push_back(arith::min(axes[k].dim, y->shape[k] - axes[k].begin) - first[k]);
  }
  Stmt fill = b.compute(y, [&](const Indices&) { return value; });
  return b.seq({fill, b.nest(extents, [&](const Indices& i) {
                  Indices from, to;
                  for (size_t k = 0; k < i.size(); ++k) {
                    from.push_back(first[k] + i[k]);
                    to.push_back(from[k] + axes[k].begin);
                  }
                  return b.store(y, to, b.load(x, from));
                })});
}

/// Pads by repeating elements of x: each row of the result is a border, a copy of a row of x, and another border.
Stmt copy_between_borders(DefineContext& d, const std::vector<Axis>& axes) {
  BufferRef x = d.input(0), y = d.output();
  const std::string& mode = d.attrs().string("mode");
  const Axis& row = axes.back();
  const Expr zero = d.context().index(0), width = y->shape.back();
  const Expr first = arith::simplify(arith::max(zero, arith::min(row.begin, width)));
  const Expr behind = arith::simplify(arith::max(first, arith::min(row.begin + row.dim, width)));
  auto part = [&](Expr begin, Expr end, bool inside) {
    Dims extents = y->shape;
    extents.back() = arith::simplify(end - begin);
    return d.builder.nest(extents, [&](const Indices& i) {
      Indices to = i, from;
      to.back() = begin + i.back();
      for (size_t k = 0; k < i.size(); ++k) from.push_back(axes[k].touched() ? source(mode, axes[k], to[k]) : to[k]);
      if (inside) from.back() = to.back() - row.begin;
      return d.builder.store(y, to, d.builder.load(x, from));
    });
  };
  return d.builder.seq({part(zero, first, false), part(first, behind, true), part(behind, width, false)});
}

Stmt define(DefineContext& d) {
  BufferRef x = d.input(0), y = d.output();
  const std::string& mode = d.attrs().string("mode");
  const Dims& pads = d.shape_value(1);
  std::vector<Axis> axes;
  bool may_be_empty = false;
  for (size_t k = 0; k < x->shape.size(); ++k) {
    axes.push_back({x->shape[k], pads[k], pads[k + x->shape.size()]});
    may_be_empty |= axes[k].touched() && !arith::prove_le(d.context().index(1), axes[k].dim);
  }
  if (mode == "constant" && may_be_empty) return fill_and_copy(d, axes);
  if (mode != "constant" && !axes.empty() && axes.back().touched()) return copy_between_borders(d, axes);
  return d.builder.compute(y, [&](const Indices& i) {
    Indices from;
    Expr inside = d.context().boolean(true);
    for (size_t k = 0; k < i.size(); ++k) {
      Expr at = i[k] - axes[k].begin;
      from.push_back(axes[k].touched() ? source(mode, axes[k], i[k]) : i[k]);
      if (!axes[k].begin.is_constant(0)) inside = arith::logical_and(inside, arith::le(d.context().index(0), at));
      if (!axes[k].end.is_constant(0)) inside = arith::logical_and(inside, arith::lt(at, axes[k].dim));
    }
    Expr value = d.builder.load(x, from);
    return mode == "constant" ? select(inside, value, fill_value(d)) : value;
  });
}

constexpr OpDef kOps[] = {
    {.name = "pad",
     .operands = kOperands,
     .attrs = kMode,
     .infer = infer,
     .define = define,
     .gradient = derivatives::pad,
     .doc = "x with elements added before and after each axis; pads: all starts, then all ends; negative ones crop"},
};

}  // namespace
}  // namespace relaxc::ops::pad_family

RELAXC_OPERATORS(pad, kOps)
