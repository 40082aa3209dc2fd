// reshape.cpp: the same elements in the same order under another shape.
//
// Lowering makes views of these, which cost nothing. Their definitions are for the interpreter and for fusion, which
// reads through them: adding or removing axes of extent 1 leaves the other subscripts unchanged, and only other
// reshapes compute a flat offset.
#include "compiler/ops/common/gradient_builder.h"
#include "compiler/ops/common/shape.h"

#include <algorithm>

namespace relaxc::ops::reshape_family {
namespace {

constexpr OperandDef kReshape[] = {{"x"}, {"shape"}};
constexpr AttrDef kAxis[] = {{"axis", AttrType::kInts, true}};
constexpr AttrDef kAxes[] = {{"axis", AttrType::kInts}};
constexpr AttrDef kFlattenAxis[] = {{"start", AttrType::kInt, false, "0"}, {"end", AttrType::kInt, false, "-1"}};

/// Resolves the target of a reshape, of which one dim may be -1: it gets the elements that remain.
Result<Dims> resolve(InferContext& c, const Dims& from, Dims to) {
  Expr total = product(c.context, from);
  Expr known = c.context.index(1);
  size_t open = to.size();
  for (size_t i = 0; i < to.size(); ++i) {
    if (to[i].is_constant(-1)) {
      if (open != to.size()) return c.error(Kind::invalid_value, "'reshape' to {}: only one dim can be -1", text(to));
      open = i;
    } else if (to[i].constant() != nullptr && *to[i].constant() < 0) {
      return c.error(Kind::invalid_value, "'reshape' to {}: a dim cannot be {}", text(to), *to[i].constant());
    } else {
      known = known * to[i];
    }
  }
  if (open == to.size()) return to;
  if (known.is_constant(0))
    return c.error(Kind::invalid_value, "'reshape' to {}: -1 is ambiguous beside a dim of 0", text(to));
  to[open] = arith::simplify(arith::floordiv(total, known), c.facts);
  return to;
}

InferResult infer_reshape(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  RELAXC_TRY(Dims target, c.shape_value(1));
  RELAXC_TRY(Dims shape, resolve(c, *x->shape, target));
  for (Expr dim : shape)
    RELAXC_DO(c.require(arith::le(c.context.index(0), dim), kDerivedDim, c.context.index(0), dim,
                        {Finding::kAtLeast, "a dim of the new shape"},
                        fmt::format("'reshape' to {}: dim {} is negative", text(shape), to_string(dim))));
  Expr before = product(c.context, *x->shape), after = product(c.context, shape);
  if (!arith::prove_equal(before, after, c.facts))
    RELAXC_DO(c.require(arith::eq(before, after), kDerivedDim, before, after, {Finding::kElements},
                        fmt::format("'reshape' of {}, {} elements, to {}, {} elements", text(*x->shape),
                                    to_string(before), text(shape), to_string(after))));
  return one(tensor_info(c.context, std::move(shape), *x->dtype));
}

Expr flat_offset(Context& context, const Dims& shape, const Indices& i) {
  Expr offset = context.index(0);
  for (size_t k = 0; k < shape.size(); ++k) offset = offset * shape[k] + i[k];
  return offset;
}

Indices unflatten(Expr offset, const Dims& shape) {
  Indices indices(shape.size());
  for (size_t k = shape.size(); k-- > 0;) {
    indices[k] = k == 0 ? offset : arith::floormod(offset, shape[k]);
    offset = arith::floordiv(offset, shape[k]);
  }
  return indices;
}

Stmt define_reshape(DefineContext& d) {
  BufferRef x = d.input(0), y = d.output();
  return d.builder.compute(y, [&](const Indices& i) {
    return d.builder.load(x, unflatten(flat_offset(d.context(), y->shape, i), x->shape));
  });
}

/// Merges dims start..end into one.
InferResult infer_flatten(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  if (x->shape->empty()) return one(tensor_info(c.context, Dims{c.context.index(1)}, *x->dtype));
  RELAXC_TRY(int64_t start, c.axis(c.op.attrs.integer("start"), x->ndim));
  RELAXC_TRY(int64_t end, c.axis(c.op.attrs.integer("end"), x->ndim));
  if (end < start) return c.error(Kind::invalid_attribute, "'flatten' from axis {} to {}", start, end);
  Dims shape(x->shape->begin(), x->shape->begin() + start);
  shape.push_back(product(c.context, Dims(x->shape->begin() + start, x->shape->begin() + end + 1)));
  shape.insert(shape.end(), x->shape->begin() + end + 1, x->shape->end());
  return one(tensor_info(c.context, std::move(shape), *x->dtype));
}

InferResult infer_expand_dims(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  const auto& given = c.op.attrs.ints("axis");
  int64_t rank = x->ndim + static_cast<int64_t>(given.size());
  if (given.empty()) return one(tensor_info(c.context, *x->shape, *x->dtype));
  RELAXC_TRY(std::vector<int64_t> axes, all_or_axes(c, given, rank));
  Dims shape;
  for (size_t i = 0, next = 0; i < static_cast<size_t>(rank); ++i)
    shape.push_back(contains(axes, i) ? c.context.index(1) : (*x->shape)[next++]);
  return one(tensor_info(c.context, std::move(shape), *x->dtype));
}

/// Returns the axes counted from 0, where `rank` is the rank of the shape that has them.
std::vector<int64_t> normalized(const std::vector<int64_t>& axes, size_t rank) {
  std::vector<int64_t> out;
  for (int64_t axis : axes) out.push_back(static_cast<int64_t>(axis_of(axis, rank)));
  return out;
}

Stmt define_expand_dims(DefineContext& d) {
  BufferRef x = d.input(0), y = d.output();
  std::vector<int64_t> axes = normalized(d.attrs().ints("axis"), y->shape.size());
  return d.builder.compute(y, [&](const Indices& i) {
    Indices from;
    for (size_t k = 0; k < i.size(); ++k)
      if (!contains(axes, k)) from.push_back(i[k]);
    return d.builder.load(x, from);
  });
}

/// Returns the axes that are removed; without axes, all whose dim is the constant 1.
std::vector<int64_t> squeezed(const Dims& shape, const std::vector<int64_t>& axes) {
  if (!axes.empty()) return normalized(axes, shape.size());
  std::vector<int64_t> out;
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i].is_constant(1)) out.push_back(static_cast<int64_t>(i));
  return out;
}

InferResult infer_squeeze(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  const auto& given = c.op.attrs.ints("axis");
  if (!given.empty()) RELAXC_DO(all_or_axes(c, given, x->ndim));
  std::vector<int64_t> axes = squeezed(*x->shape, given);
  Dims shape;
  for (size_t i = 0; i < x->shape->size(); ++i) {
    Expr dim = (*x->shape)[i];
    if (!contains(axes, i))
      shape.push_back(dim);
    else
      RELAXC_DO(c.require(arith::eq(dim, 1), kDerivedDim, c.context.index(1), dim,
                          {Finding::kExact, fmt::format("dim {}", i)},
                          fmt::format("'squeeze' of axis {} of {}, which is not 1", i, text(*x->shape))));
  }
  return one(tensor_info(c.context, std::move(shape), *x->dtype));
}

Stmt define_squeeze(DefineContext& d) {
  BufferRef x = d.input(0), y = d.output();
  std::vector<int64_t> axes = squeezed(x->shape, d.attrs().ints("axis"));
  return d.builder.compute(y, [&](const Indices& i) {
    Indices from;
    for (size_t k = 0, next = 0; k < x->shape.size(); ++k)
      from.push_back(contains(axes, k) ? d.context().index(0) : i[next++]);
    return d.builder.load(x, from);
  });
}

using relax::Role;

constexpr OpDef kOps[] = {
    {.name = "reshape",
     .operands = kReshape,
     .infer = infer_reshape,
     .define = define_reshape,
     .gradient = reshape_gradient,
     .role = Role::kView,
     .doc = "x with another shape of the same number of elements; one dim may be -1"},
    {.name = "flatten",
     .operands = kX,
     .attrs = kFlattenAxis,
     .infer = infer_flatten,
     .define = define_reshape,
     .gradient = reshape_gradient,
     .role = Role::kView,
     .doc = "x with the dims start..end merged into one"},
    {.name = "expand_dims",
     .operands = kX,
     .attrs = kAxis,
     .infer = infer_expand_dims,
     .define = define_expand_dims,
     .gradient = reshape_gradient,
     .role = Role::kView,
     .doc = "x with new dims of extent 1 at the result's axes"},
    {.name = "squeeze",
     .operands = kX,
     .attrs = kAxes,
     .infer = infer_squeeze,
     .define = define_squeeze,
     .gradient = reshape_gradient,
     .role = Role::kView,
     .doc = "x without the axes, which must have extent 1; no axes: without all that are constant 1"},
};

}  // namespace
}  // namespace relaxc::ops::reshape_family

RELAXC_OPERATORS(reshape, kOps)
