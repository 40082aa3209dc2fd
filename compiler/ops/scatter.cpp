// scatter.cpp: copies a tensor and replaces or combines the elements at positions that index tensors give.
//
// Updates are applied in row-major order, so that equal indices have a defined result.
#include "compiler/ops/common/element.h"
#include "compiler/ops/common/indexing.h"
#include "compiler/ops/gradients/chosen.h"

namespace relaxc::ops::scatter_family {
namespace {

constexpr OperandDef kOperands[] = {{"x"}, {"indices"}, {"updates"}};
constexpr AttrDef kElements[] = {{"axis", AttrType::kInt, false, "0"}, {"reduction", AttrType::kString, false, "none"}};
constexpr AttrDef kNd[] = {{"reduction", AttrType::kString, false, "none"}};

InferResult infer_elements(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  RELAXC_TRY(const TensorInfo* indices, index_tensor(c, 1));
  RELAXC_TRY(const TensorInfo* updates, c.tensor(2));
  RELAXC_DO(check_reduction(c));
  RELAXC_TRY(int64_t axis, c.axis(c.op.attrs.integer("axis"), x->ndim));
  if (x->ndim != indices->ndim || x->ndim != updates->ndim || x->dtype != updates->dtype)
    return c.error(Kind::rank_mismatch, "'scatter_elements' of {} with updates {}", to_string(c.op.operand(0)->info),
                   to_string(c.op.operand(2)->info));
  for (size_t k = 0; k < x->shape->size(); ++k) {
    Expr have = (*x->shape)[k], want = (*indices->shape)[k];
    RELAXC_DO(require_equal(c, want, (*updates->shape)[k], "dims of indices and updates"));
    if (static_cast<int64_t>(k) == axis || have == want) continue;
    RELAXC_DO(c.require(
        arith::le(want, have), kDerivedDim, have, want, {Finding::kAtMost, fmt::format("dim {} of the indices", k)},
        fmt::format("'scatter_elements': indices have {} along axis {} of {}", to_string(want), k, to_string(have))));
  }
  return one(tensor_info(c.context, *x->shape, *x->dtype));
}

/// Stores reduction(y[to], update) to y[to], computed in the dtype of the computation.
Stmt apply(DefineContext& d, const Indices& to, Expr update) {
  BufferRef y = d.output();
  Expr old_value = widen(d.builder.load(y, to));
  return d.builder.store(y, to, cast(y->dtype, combine(d.attrs().string("reduction"), old_value, widen(update))));
}

Stmt copy_of_x(DefineContext& d) {
  return d.builder.compute(d.output(), [&](const Indices& i) { return d.builder.load(d.input(0), i); });
}

Stmt define_elements(DefineContext& d) {
  tir::Builder& b = d.builder;
  BufferRef x = d.input(0), indices = d.input(1), updates = d.input(2);
  size_t axis = axis_of(d.attrs().integer("axis"), x->shape.size());
  Stmt writes = b.nest(indices->shape, [&](const Indices& i) {
    Indices to = i;
    to[axis] = subscript(b.load(indices, i), x->shape[axis]);
    return apply(d, to, b.load(updates, i));
  });
  return b.seq({check_indices(d, 1, x->shape[axis]), copy_of_x(d), writes});
}

InferResult infer_nd(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  RELAXC_TRY(const TensorInfo* indices, index_tensor(c, 1));
  RELAXC_TRY(const TensorInfo* updates, c.tensor(2));
  RELAXC_DO(check_reduction(c));
  if (indices->ndim < 1 || indices->shape->back().constant() == nullptr)
    return c.error(Kind::shape_mismatch, "the last dim of the indices of 'scatter_nd' must be a constant, found {}",
                   text(*indices->shape));
  int64_t size = *indices->shape->back().constant();
  if (size > x->ndim || updates->ndim != indices->ndim - 1 + x->ndim - size || x->dtype != updates->dtype)
    return c.error(Kind::rank_mismatch, "'scatter_nd' of {} with indices {} and updates {}",
                   to_string(c.op.operand(0)->info), to_string(c.op.operand(1)->info),
                   to_string(c.op.operand(2)->info));
  size_t prefix = indices->shape->size() - 1;
  for (size_t k = 0; k < updates->shape->size(); ++k)
    RELAXC_DO(require_equal(c, k < prefix ? (*indices->shape)[k] : (*x->shape)[k - prefix + static_cast<size_t>(size)],
                            (*updates->shape)[k], fmt::format("dims of axis {} of the updates", k)));
  return one(tensor_info(c.context, *x->shape, *x->dtype));
}

Stmt define_nd(DefineContext& d) {
  tir::Builder& b = d.builder;
  BufferRef x = d.input(0), indices = d.input(1), updates = d.input(2);
  size_t prefix = indices->shape.size() - 1, size = static_cast<size_t>(*indices->shape.back().constant());
  std::vector<Stmt> parts;
  for (size_t k = 0; k < size; ++k) parts.push_back(check_indices(d, 1, x->shape[k], b.index(static_cast<int64_t>(k))));
  parts.push_back(copy_of_x(d));
  parts.push_back(b.nest(updates->shape, [&](const Indices& i) {
    auto end = i.begin() + static_cast<std::ptrdiff_t>(prefix);
    Indices to;
    for (size_t k = 0; k < size; ++k) {
      Indices at(i.begin(), end);
      at.push_back(b.index(static_cast<int64_t>(k)));
      to.push_back(subscript(b.load(indices, at), x->shape[k]));
    }
    to.insert(to.end(), end, i.end());
    return apply(d, to, b.load(updates, i));
  }));
  return b.seq(std::move(parts));
}

/// x and updates differ only along `axis`; positions [batch] are where the updates of each batch begin on it.
InferResult infer_update(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  RELAXC_TRY(const TensorInfo* updates, c.tensor(1));
  RELAXC_TRY(const TensorInfo* positions, index_tensor(c, 2));
  RELAXC_TRY(int64_t axis, c.axis(c.op.attrs.integer("axis"), x->ndim));
  if (axis == 0 || x->ndim != updates->ndim || x->dtype != updates->dtype || positions->ndim != 1)
    return c.error(Kind::shape_mismatch, "'cache_update' of {} with {} at {} along axis {}",
                   to_string(c.op.operand(0)->info), to_string(c.op.operand(1)->info), to_string(c.op.operand(2)->info),
                   axis);
  RELAXC_DO(require_equal(c, (*x->shape)[0], (*positions->shape)[0], "batch dims"));
  for (size_t k = 0; k < x->shape->size(); ++k)
    if (static_cast<int64_t>(k) != axis)
      RELAXC_DO(require_equal(c, (*x->shape)[k], (*updates->shape)[k], fmt::format("dims of axis {}", k)));
  Expr room = (*x->shape)[static_cast<size_t>(axis)], count = (*updates->shape)[static_cast<size_t>(axis)];
  RELAXC_DO(c.require(arith::le(count, room), kDerivedDim, room, count, {Finding::kAtMost, "the number of new rows"},
                      "'cache_update' of more than the cache holds"));
  return one(tensor_info(c.context, *x->shape, *x->dtype));
}

Stmt define_update(DefineContext& d) {
  tir::Builder& b = d.builder;
  BufferRef x = d.input(0), updates = d.input(1), positions = d.input(2);
  size_t axis = axis_of(d.attrs().integer("axis"), x->shape.size());
  Expr room = x->shape[axis], count = updates->shape[axis];
  bool circular = d.attrs().flag("circular");
  auto begin = [&](Expr batch) { return cast(DType::index(), b.load(positions, {batch})); };
  Stmt check = circular ? Stmt() : b.nest({x->shape[0]}, [&](const Indices& i) {
    Expr first = begin(i[0]);
    return d.require(arith::logical_and(arith::le(b.index(0), first), arith::le(first, room - count)), kIndexRange,
                     room, first);
  });
  Stmt writes = b.nest(updates->shape, [&](const Indices& i) {
    Indices to = i;
    if (circular) {
      // A position may be any int64, so it goes round before anything is added to it, and the sum at most once more.
      Expr at = arith::floormod(begin(i[0]), room) + i[axis];
      to[axis] = arith::select(arith::lt(at, room), at, at - room);
    } else {
      to[axis] = begin(i[0]) + i[axis];
    }
    return b.store(d.output(), to, b.load(updates, i));
  });
  return b.seq({check, copy_of_x(d), writes});
}

constexpr OperandDef kUpdateOperands[] = {{"x"}, {"updates"}, {"positions"}};
constexpr AttrDef kUpdate[] = {{"axis", AttrType::kInt, true}, {"circular", AttrType::kBool, false, "False"}};

constexpr OpDef kOps[] = {
    {.name = "cache_update",
     .operands = kUpdateOperands,
     .attrs = kUpdate,
     .infer = infer_update,
     .define = define_update,
     .doc = "x with updates written along axis, from positions[batch] on; circular: past the end at the beginning"},
    {.name = "scatter_elements",
     .operands = kOperands,
     .attrs = kElements,
     .infer = infer_elements,
     .define = define_elements,
     .gradient = derivatives::scatter_elements,
     .doc = "x with x[i] = updates[i], the subscript along axis taken from indices[i]; or combined by reduction"},
    {.name = "scatter_nd",
     .operands = kOperands,
     .attrs = kNd,
     .infer = infer_nd,
     .define = define_nd,
     .gradient = derivatives::scatter_nd,
     .doc = "x with the slices at the index tuples of indices replaced by updates, or combined by reduction"},
};

}  // namespace
}  // namespace relaxc::ops::scatter_family

RELAXC_OPERATORS(scatter, kOps)
