// rows_first.cpp: puts the rows of images before their channels, so that layers can run a few rows at a time.
//
// The problem: stream_rows keeps a few rows of a tensor in memory, and needs each row to be contiguous. Convolutions
// and pools of floats have their channels second, [1, C, H, W], so that a row is C pieces.
//
// The method: with a budget of memory, each such operator of known dims becomes the same one of [1, H, C, W], between
// two permutations. Those behind operators move towards the results (moves/transpose_sinking.h) until they meet those
// before the next, where canonicalize removes both. A row keeps its pixels contiguous, so kernels have the schedules
// that they would have had, with other strides.
//
// Rejected: channels last. That is another kernel, with other strides of the filter, and another order of sums. Windows
// of rows of [1, C, H, W] as strided views: kernels write contiguous tensors, so each row would be copied.
#include <algorithm>

#include "compiler/transform/graph/moves/transpose_sinking.h"
#include "compiler/transform/graph/rewriting/rewrite.h"
#include "compiler/transform/passes.h"

namespace relaxc {

using namespace relax;

namespace {

constexpr size_t kAxisOfRows = 2;  ///< the axis of rows where channels are second

/// Returns the name of the operator by rows; nothing if there is none.
std::optional<OpName> name_by_rows(const Op& op) {
  if (op.is("nn.conv")) return OpName("nn.conv_by_rows");
  if (op.is("nn.max_pool") && !op.attrs.flag("indices")) return OpName("nn.max_pool_by_rows");
  if (op.is("nn.avg_pool")) return OpName("nn.avg_pool_by_rows");
  return std::nullopt;
}

bool is_stack_of_rows(const Value& value) {
  const std::optional<std::vector<int64_t>> dims = relaxc::numbers_of(value.shape());
  return dims && dims->size() > kAxisOfRows && dims->front() == 1 && dims->at(kAxisOfRows) > 1 &&
         value.dtype().is_float();
}

/// Exchanges channels and rows; it is its own inverse.
std::vector<int64_t> exchanged(size_t rank) {
  std::vector<int64_t> axes(rank);
  for (size_t i = 0; i < rank; ++i) axes[i] = static_cast<int64_t>(i);
  std::swap(axes[1], axes[kAxisOfRows]);
  return axes;
}

/// Returns the permutation behind the operator by rows that replaces `op`; null if it stays.
Result<Op*> put_rows_first(Module& module, PassContext& context, Op& op) {
  const std::optional<OpName> name = op.kind == OpKind::kOperator ? name_by_rows(op) : std::nullopt;
  if (!name || op.result()->unused() || !is_stack_of_rows(*op.operand(0))) return nullptr;
  GraphBuilder b(module, context.ops, &op, context.diag);
  b.location = op.location;
  const std::vector<int64_t> axes = exchanged(op.result()->shape().size());
  Attrs attrs = op.attrs;
  if (op.is("nn.max_pool"))
    attrs = {{"pool_size", attrs.ints("pool_size")},
             {"strides", attrs.ints("strides")},
             {"padding", attrs.ints("padding")},
             {"dilation", attrs.ints("dilation")},
             {"ceil_mode", attrs.flag("ceil_mode")}};
  std::vector<Value*> operands = op.operands();
  RELAXC_TRY(operands[0], b.call("permute_dims", {operands[0]}, {{"axes", axes}}));
  RELAXC_TRY(Value * made, b.call(*name, std::move(operands), std::move(attrs)));
  RELAXC_TRY(made, b.call("permute_dims", {made}, {{"axes", axes}}, op.result()->name));
  op.result()->replace_all_uses_with(made);
  mark_rounding(b.function());  // a kernel of few rows may sum in another order
  return made->op;
}

}  // namespace

Result<Changed> rows_first(Module& module, PassContext& context) {
  Changed changed = Changed::kNo;
  if (context.option(kStreamRowsBudget) == 0) return changed;
  for (Function* function : module.functions()) {
    std::vector<Op*> made;
    for (Op* op : ops_of(function->body(), true)) {
      RELAXC_TRY(Op * permutation, put_rows_first(module, context, *op));
      if (permutation != nullptr) made.push_back(permutation);
    }
    if (!made.empty()) changed = Changed::kYes;
    RELAXC_DO(sink_transposes(module, context.ops, context.diag, std::move(made)));
  }
  return changed;
}

}  // namespace relaxc
