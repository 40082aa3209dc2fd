// sequence.cpp: reverses each sequence of a tensor within its own length.
#include "compiler/ops/common/indexing.h"
#include "compiler/ops/gradients/moves.h"

namespace relaxc::ops::sequence_family {
namespace {

constexpr OperandDef kOperands[] = {{"x"}, {"lengths"}};
constexpr AttrDef kAttrs[] = {{"seq_axis", AttrType::kInt, false, "0"}, {"batch_axis", AttrType::kInt, false, "1"}};

InferResult infer(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  RELAXC_TRY(const TensorInfo* lengths, index_tensor(c, 1));
  RELAXC_TRY(int64_t seq, c.axis(c.op.attrs.integer("seq_axis"), x->ndim));
  RELAXC_TRY(int64_t batch, c.axis(c.op.attrs.integer("batch_axis"), x->ndim));
  if (seq == batch || lengths->ndim != 1)
    return c.error(Kind::invalid_attribute,
                   "'{}' takes two axes and a vector of lengths, found axis {} twice or {} dims", c.op.def->name, seq,
                   lengths->ndim);
  RELAXC_DO(require_equal(c, (*x->shape)[static_cast<size_t>(batch)], (*lengths->shape)[0], "batch dims"));
  return one(tensor_info(c.context, *x->shape, *x->dtype));
}

/// A length beyond the tensor's extent counts as that extent.
Stmt define(DefineContext& d) {
  BufferRef x = d.input(0);
  size_t rank = x->shape.size();
  size_t seq = axis_of(d.attrs().integer("seq_axis"), rank), batch = axis_of(d.attrs().integer("batch_axis"), rank);
  return d.builder.compute(d.output(), [&](const Indices& i) {
    Expr length = arith::min(cast(DType::index(), d.builder.load(d.input(1), {i[batch]})), x->shape[seq]);
    Indices from = i;
    from[seq] = select(arith::lt(i[seq], length), length - 1 - i[seq], i[seq]);
    return d.builder.load(x, from);
  });
}

constexpr OpDef kOps[] = {
    {.name = "reverse_sequence",
     .operands = kOperands,
     .attrs = kAttrs,
     .infer = infer,
     .define = define,
     .gradient = derivatives::reverse_sequence,
     .doc = "the first lengths[b] elements of each sequence in reverse order, the rest as they are"},
};

}  // namespace
}  // namespace relaxc::ops::sequence_family

RELAXC_OPERATORS(sequence, kOps)
