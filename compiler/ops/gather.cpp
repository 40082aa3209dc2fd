// gather.cpp: selects elements by index tensors. See common/indexing.h for indices out of range.
#include "compiler/ops/common/indexing.h"
#include "compiler/ops/gradients/moves.h"

namespace relaxc::ops::gather_family {
namespace {

constexpr OperandDef kXIndices[] = {{"x"}, {"indices"}};
constexpr AttrDef kTake[] = {{"axis", AttrType::kInt, false, "0"}, {"mode", AttrType::kString, false, "fast"}};
constexpr AttrDef kAxis[] = {{"axis", AttrType::kInt, false, "0"}};
constexpr AttrDef kBatch[] = {{"batch_dims", AttrType::kInt, false, "0"}};

InferResult infer_take(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  RELAXC_TRY(const TensorInfo* indices, index_tensor(c, 1));
  RELAXC_TRY(int64_t axis, c.axis(c.op.attrs.integer("axis"), x->ndim));
  const std::string& mode = c.op.attrs.string("mode");
  if (mode != "fast" && mode != "clip" && mode != "wrap")
    return c.error(Kind::invalid_attribute, "mode \"{}\" of 'take' is not one of fast, clip, wrap", mode);
  Dims shape(x->shape->begin(), x->shape->begin() + axis);
  shape.insert(shape.end(), indices->shape->begin(), indices->shape->end());
  shape.insert(shape.end(), x->shape->begin() + axis + 1, x->shape->end());
  return one(tensor_info(c.context, std::move(shape), *x->dtype));
}

/// Guards that there are no indices if `dim` is 0. With any other `dim` the modes map all indices to valid ones.
Stmt check_choice(DefineContext& d, Expr dim) {
  if (arith::prove(arith::lt(d.context().index(0), dim), {})) return {};
  return d.builder.nest(d.input(1)->shape, [&](const Indices&) {
    tir::Guard guard;
    guard.condition = arith::lt(d.context().index(0), dim);
    guard.code = kIndexRange;
    guard.expected = dim, guard.actual = d.context().index(0);
    return d.builder.guard(guard);
  });
}

Stmt define_take(DefineContext& d) {
  tir::Builder& b = d.builder;
  BufferRef x = d.input(0), indices = d.input(1);
  size_t axis = axis_of(d.attrs().integer("axis"), x->shape.size()), count = indices->shape.size();
  const std::string& mode = d.attrs().string("mode");
  Expr dim = x->shape[axis], zero = d.context().index(0);
  auto pick = [&](Expr element) {
    Expr index = cast(DType::index(), element);
    if (mode == "clip") return arith::max(zero, arith::min(index, dim - 1));
    return mode == "wrap" ? arith::floormod(index, dim) : subscript(element, dim);
  };
  Stmt copy = b.compute(d.output(), [&](const Indices& i) {
    auto at = i.begin() + static_cast<std::ptrdiff_t>(axis), end = at + static_cast<std::ptrdiff_t>(count);
    Indices from(i.begin(), at);
    from.push_back(pick(b.load(indices, Indices(at, end))));
    from.insert(from.end(), end, i.end());
    return b.load(x, from);
  });
  return b.seq({mode == "fast" ? check_indices(d, 1, dim) : check_choice(d, dim), copy});
}

InferResult infer_elements(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  RELAXC_TRY(const TensorInfo* indices, index_tensor(c, 1));
  RELAXC_TRY(int64_t axis, c.axis(c.op.attrs.integer("axis"), x->ndim));
  if (x->ndim != indices->ndim)
    return c.error(Kind::rank_mismatch, "'{}' of {} dims with indices of {}", c.op.def->name, x->ndim, indices->ndim);
  for (size_t k = 0; k < x->shape->size(); ++k) {
    Expr have = (*x->shape)[k], want = (*indices->shape)[k];
    if (static_cast<int64_t>(k) == axis || have == want) continue;
    RELAXC_DO(c.require(
        arith::le(want, have), kDerivedDim, have, want, {Finding::kAtMost, fmt::format("dim {} of the indices", k)},
        fmt::format("'{}': indices have {} along axis {} of {}", c.op.def->name, to_string(want), k, to_string(have))));
  }
  return one(tensor_info(c.context, *indices->shape, *x->dtype));
}

Stmt define_elements(DefineContext& d) {
  tir::Builder& b = d.builder;
  BufferRef x = d.input(0), indices = d.input(1);
  size_t axis = axis_of(d.attrs().integer("axis"), x->shape.size());
  Stmt copy = b.compute(d.output(), [&](const Indices& i) {
    Indices from = i;
    from[axis] = subscript(b.load(indices, i), x->shape[axis]);
    return b.load(x, from);
  });
  return b.seq({check_indices(d, 1, x->shape[axis]), copy});
}

/// Returns the number of dims that an index tuple covers, which is the last dim of the indices and must be constant.
Result<int64_t> tuple_size(InferContext& c, const TensorInfo& x, const TensorInfo& indices, int64_t batch) {
  if (indices.ndim < 1 || indices.shape->back().constant() == nullptr)
    return c.error(Kind::shape_mismatch, "the last dim of the indices of '{}' must be a constant, found {}",
                   c.op.def->name, text(*indices.shape));
  int64_t size = *indices.shape->back().constant();
  if (batch < 0 || batch >= std::max(indices.ndim, 1) || batch + size > x.ndim)
    return c.error(Kind::rank_mismatch, "'{}' of {} dims with {} batch dims and indices of {} dims", c.op.def->name,
                   x.ndim, batch, size);
  return size;
}

InferResult infer_nd(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  RELAXC_TRY(const TensorInfo* indices, index_tensor(c, 1));
  int64_t batch = c.op.attrs.integer("batch_dims");
  RELAXC_TRY(int64_t size, tuple_size(c, *x, *indices, batch));
  for (size_t k = 0; k < static_cast<size_t>(batch); ++k)
    RELAXC_DO(require_equal(c, (*x->shape)[k], (*indices->shape)[k], "batch dims"));
  Dims shape(indices->shape->begin(), indices->shape->end() - 1);
  shape.insert(shape.end(), x->shape->begin() + batch + size, x->shape->end());
  return one(tensor_info(c.context, std::move(shape), *x->dtype));
}

Stmt define_nd(DefineContext& d) {
  tir::Builder& b = d.builder;
  BufferRef x = d.input(0), indices = d.input(1);
  size_t batch = static_cast<size_t>(d.attrs().integer("batch_dims")), prefix = indices->shape.size() - 1;
  size_t size = static_cast<size_t>(*indices->shape.back().constant());
  std::vector<Stmt> parts;
  for (size_t k = 0; k < size; ++k)
    parts.push_back(check_indices(d, 1, x->shape[batch + k], b.index(static_cast<int64_t>(k))));
  parts.push_back(b.compute(d.output(), [&](const Indices& i) {
    Indices from(i.begin(), i.begin() + static_cast<std::ptrdiff_t>(batch));
    for (size_t k = 0; k < size; ++k) {
      Indices at(i.begin(), i.begin() + static_cast<std::ptrdiff_t>(prefix));
      at.push_back(b.index(static_cast<int64_t>(k)));
      from.push_back(subscript(b.load(indices, at), x->shape[batch + k]));
    }
    from.insert(from.end(), i.begin() + static_cast<std::ptrdiff_t>(prefix), i.end());
    return b.load(x, from);
  }));
  return b.seq(std::move(parts));
}

constexpr OpDef kOps[] = {
    {.name = "take",
     .operands = kXIndices,
     .attrs = kTake,
     .infer = infer_take,
     .define = define_take,
     .gradient = derivatives::take,
     .doc = "slices of x along axis at the indices; negative ones count from the end; mode clip or wrap: any index "
            "is allowed"},
    {.name = "gather_elements",
     .operands = kXIndices,
     .attrs = kAxis,
     .infer = infer_elements,
     .define = define_elements,
     .gradient = derivatives::gather_elements,
     .doc = "y[i] = x[i], with the subscript along axis taken from indices[i]"},
    {.name = "gather_nd",
     .operands = kXIndices,
     .attrs = kBatch,
     .infer = infer_nd,
     .define = define_nd,
     .gradient = derivatives::gather_nd,
     .doc = "slices of x at the index tuples along the last dim of indices"},
};

}  // namespace
}  // namespace relaxc::ops::gather_family

RELAXC_OPERATORS(gather, kOps)
