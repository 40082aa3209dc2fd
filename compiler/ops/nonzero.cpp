// nonzero.cpp: positions of nonzero elements, and elements selected by a mask: results whose extent depends on the
// data.
//
// `nonzero` counts in a first pass, because its result [rank, count] is compact and its rows begin at multiples of the
// count; a second pass writes. The bound is the number of elements. A tensor without dims is a vector of one element.
#include <algorithm>

#include "compiler/ops/common/element.h"
#include "compiler/ops/common/shape.h"

namespace relaxc::ops::nonzero_family {
namespace {

InferResult infer(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  Var count = c.bound_symbol(0, "count");
  return one(tensor_info(c.context, Dims{c.context.index(std::max(x->ndim, 1)), count}, DType::i(64)));
}

Expr most(const Op& op, size_t) {
  const Dims& shape = op.operand(0)->shape();
  Expr count;
  for (Expr dim : shape) count = count ? count * dim : dim;
  return count ? count : op.binds[0].context().index(1);
}

Stmt define(DefineContext& d) {
  tir::Builder& b = d.builder;
  BufferRef x = d.input(0), y = d.output(), total = d.bound_value(0);
  DType i64 = DType::i(64);
  Expr first = b.index(0), one = d.context().imm(i64, 1), zero = d.context().imm(i64, 0);
  auto is_set = [&](const Indices& i) { return cast(DType::boolean(), b.load(x, i)); };
  Stmt count = b.seq({b.store(total, {first}, zero), b.nest(x->shape, [&](const Indices& i) {
                        return b.branch(is_set(i), b.store(total, {first}, b.load(total, {first}) + one));
                      })});
  BufferRef next = b.buffer("next", i64, {b.index(1)}, tir::Scope::kLocal);
  Stmt write = b.let("count", cast(DType::index(), b.load(total, {first})), [&](Var extent) {
    BufferRef rows = b.buffer("rows", i64, {y->shape[0], extent});
    Stmt body = b.nest(x->shape, [&](const Indices& i) {
      std::vector<Stmt> stores;
      Expr at = cast(DType::index(), b.load(next, {first}));
      for (size_t k = 0; k < i.size(); ++k)
        stores.push_back(b.store(rows, {b.index(static_cast<int64_t>(k)), at}, cast(i64, i[k])));
      if (i.empty()) stores.push_back(b.store(rows, {first, at}, zero));
      stores.push_back(b.store(next, {first}, b.load(next, {first}) + one));
      return b.branch(is_set(i), b.seq(std::move(stores)));
    });
    return b.view(rows, y, first, b.alloc(next, b.seq({b.store(next, {first}, zero), body})));
  });
  return b.seq({count, write});
}

constexpr OperandDef kMasked[] = {{"x"}, {"mask"}};

InferResult infer_masked(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  RELAXC_TRY(const TensorInfo* mask, c.tensor(1));
  if (!mask->dtype->is_bool())
    return c.error(Kind::dtype_mismatch, "the mask of 'masked_select' is bool, found {}", to_string(*mask->dtype));
  RELAXC_TRY(Dims shape, broadcast_dims(c, *x->shape, *mask->shape));
  return one(tensor_info(c.context, Dims{c.bound_symbol(0, "selected")}, *x->dtype));
}

/// Returns the dims of x and the mask broadcast together; deduction has checked that they fit.
Dims masked_shape(const Dims& x, const Dims& mask) {
  Dims shape = x.size() < mask.size() ? mask : x;
  const Dims& shorter = x.size() < mask.size() ? x : mask;
  size_t ahead = shape.size() - shorter.size();
  for (size_t k = 0; k < shorter.size(); ++k) {
    Expr a = shape[ahead + k], b = shorter[k];
    if (a != b) shape[ahead + k] = arith::select(arith::eq(a, a.context().index(1)), b, a);
  }
  return shape;
}

Expr most_masked(const Op& op, size_t) {
  return product(op.binds[0].context(), masked_shape(op.operand(0)->shape(), op.operand(1)->shape()));
}

Stmt define_masked(DefineContext& d) {
  tir::Builder& b = d.builder;
  BufferRef x = d.input(0), mask = d.input(1), total = d.bound_value(0);
  Expr first = b.index(0), next = b.load(total, {first});
  Dims shape = masked_shape(x->shape, mask->shape);
  return b.seq({b.store(total, {first}, d.context().imm(DType::i(64), 0)), b.nest(shape, [&](const Indices& i) {
                  Stmt take = b.store(d.output(), {cast(DType::index(), next)}, load_broadcast(d, x, i, shape));
                  Stmt count = b.store(total, {first}, next + d.context().imm(DType::i(64), 1));
                  return b.branch(load_broadcast(d, mask, i, shape), b.seq({take, count}));
                })});
}

constexpr OpDef kOps[] = {
    {.name = "masked_select",
     .operands = kMasked,
     .infer = infer_masked,
     .define = define_masked,
     .upper_bound = most_masked,
     .doc = "the elements of x where the mask is true, in row-major order of both broadcast together"},
    {.name = "nonzero",
     .operands = kX,
     .infer = infer,
     .define = define,
     .upper_bound = most,
     .doc = "the subscripts of the elements that are not zero, [rank, count], in row-major order"},
};

}  // namespace
}  // namespace relaxc::ops::nonzero_family

RELAXC_OPERATORS(nonzero, kOps)
