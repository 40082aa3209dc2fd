// expert_matmul.cpp: products of rows with a matrix that each row selects, as in mixtures of experts.
//
// A row reads only its own matrix: matrices are neither copied together for the rows, nor applied to all rows. Narrow
// floats are summed in float32, in the order of the axis.
#include "compiler/ops/common/element.h"
#include "compiler/ops/common/indexing.h"

namespace relaxc::ops::expert_matmul_family {
namespace {

constexpr OperandDef kOperands[] = {{"x"}, {"which"}, {"matrices"}};

InferResult infer(InferContext& c) {
  RELAXC_DO(expect_dtype(c, 0, is_number, "numbers"));
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  RELAXC_TRY(const TensorInfo* which, index_tensor(c, 1));
  RELAXC_TRY(const TensorInfo* matrices, c.tensor(2));
  if (x->ndim != 2 || which->ndim != 1 || matrices->ndim != 3 || x->dtype != matrices->dtype)
    return c.error(
        Kind::shape_mismatch,
        "'expert_matmul' takes rows [r, k], one index a row and matrices [e, n, k] of one dtype, found {}, {} "
        "and {}",
        to_string(x), to_string(which), to_string(matrices));
  RELAXC_DO(require_equal(c, (*x->shape)[0], (*which->shape)[0], "rows and indices"));
  RELAXC_DO(require_equal(c, (*x->shape)[1], (*matrices->shape)[2], "columns"));
  return one(tensor_info(c.context, Dims{(*x->shape)[0], (*matrices->shape)[1]}, *x->dtype));
}

Stmt define(DefineContext& d) {
  tir::Builder& b = d.builder;
  BufferRef x = d.input(0), which = d.input(1), matrices = d.input(2), out = d.output();
  BufferRef sum = b.buffer("sum", wide(x->dtype), out->shape);
  auto add_product = [&](Expr so_far, const Indices& i, const Indices& k) {
    Expr matrix = subscript(b.load(which, {i[0]}), matrices->shape[0]);
    return so_far + widen(b.load(x, {i[0], k[0]})) * widen(b.load(matrices, {matrix, i[1], k[0]}));
  };
  Stmt add = b.reduce(sum, {x->shape[1]}, d.context().zero(sum->dtype), add_product);
  Stmt round = b.compute(out, [&](const Indices& i) { return cast(out->dtype, b.load(sum, i)); });
  return b.seq({check_indices(d, 1, matrices->shape[0]), b.alloc(sum, b.seq({add, round}))});
}

constexpr OpDef kOps[] = {
    {.name = "expert_matmul",
     .operands = kOperands,
     .infer = infer,
     .define = define,
     .doc = "each row of x times the transpose of the matrix that `which` selects for it"},
};

}  // namespace
}  // namespace relaxc::ops::expert_matmul_family

RELAXC_OPERATORS(expert_matmul, kOps)
