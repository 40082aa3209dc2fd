// tvm_gradient_ops.cpp: reads the operators that TVM's gradient pass makes, such as R.grad.max_pool2d_backward.
//
// Such a call has a derivative by the result of another operator, and the arguments of that operator; it gives the
// derivative by the first of these. So the other operator is read as if it stood there, the rules of the op table are
// followed back from its result to its data, and what only the result needed is dead code.
#include <algorithm>

#include "frontends/relax/tvm/tvm_call.h"

namespace relaxc::frontend {

using relax::Value;

namespace {

/// Returns the derivative of a scalar by `data`, where `by_result` is its derivative by `result`: a chain of operators
/// makes that of the data, each from the first operand of the next.
Result<Value*> derivative(TvmCall& c, Value* result, const Value* data, Value* by_result) {
  while (result != data) {
    RELAXC_CHECK(result->op != nullptr && result->op->def != nullptr && result->op->def->gradient != nullptr,
                 "the operator of " + c.spelled + " has no derivative by its data");
    const relax::Op& op = *result->op;
    RELAXC_TRY(std::vector<Value*> by_operands, op.def->gradient(c.build(), op, {by_result}));
    by_result = by_operands[0];
    result = op.operand(0);
  }
  return by_result;
}

/// Returns the derivative by the data of `forward`, a result that the call's own operands give.
Result<Term> backward(TvmCall& c, Result<Value*> forward, const Value* data) {
  RELAXC_TRY(Value * result, forward);
  RELAXC_TRY(Value * by_result, c.tensor("output_grad"));
  const auto &wanted = result->shape(), &found = by_result->shape();
  auto may_be_equal = [](arith::Expr a, arith::Expr b) {
    return a.constant() == nullptr || b.constant() == nullptr || *a.constant() == *b.constant();
  };
  bool same = by_result->dtype() == result->dtype() &&
              std::equal(wanted.begin(), wanted.end(), found.begin(), found.end(), may_be_equal);
  if (!same)
    return c.error("output_grad", Kind::shape_mismatch, "{} needs a derivative by each element of {}, found {}",
                   c.spelled, relax::to_string(result->info), relax::to_string(by_result->info));
  return c.term(derivative(c, result, data, by_result));
}

/// grad.max_pool2d_backward(output_grad, data, …), grad.avg_pool2d_backward, grad.nll_loss_backward: with the other
/// arguments of nn.max_pool2d, nn.avg_pool2d and nn.nll_loss.
Result<Term> backward_of(TvmCall& c, std::string_view operator_name, std::string_view data_name) {
  RELAXC_TRY(Value * data, c.tensor(data_name));
  RELAXC_TRY(Term forward, find_tvm_operator(operator_name)->read(c));
  return backward(c, forward.value, data);
}

Result<Term> max_pool_backward(TvmCall& c) {
  return backward_of(c, "nn.max_pool2d", "data");
}

Result<Term> avg_pool_backward(TvmCall& c) {
  return backward_of(c, "nn.avg_pool2d", "data");
}

Result<Term> likelihood_loss_backward(TvmCall& c) {
  return backward_of(c, "nn.nll_loss", "predictions");
}

/// grad.take_backward(output_grad, x, indices, axis, mode); without an axis, of all elements in order.
Result<Term> take_backward(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("x"));
  RELAXC_TRY(Value * indices, c.tensor("indices"));
  RELAXC_TRY(int64_t axis, c.integer("axis", 0));
  RELAXC_TRY(std::string mode, c.text("mode", ""));
  Value* from = x;
  if (!c.has("axis")) {
    RELAXC_TRY(from, c.op("flatten", {x}, {{"start", int64_t{0}}}));
  }
  relax::Attrs attrs{{"axis", axis}};
  if (mode == "clip" || mode == "wrap") attrs.set("mode", mode);
  return backward(c, c.op("take", {from, indices}, std::move(attrs)), x);
}

constexpr std::string_view kPoolBackward =
    "output_grad, data, pool_size, strides, padding, dilation, ceil_mode, count_include_pad, layout, out_layout";

constexpr TvmOperator kGradientRows[] = {
    {"grad.max_pool2d_backward", kPoolBackward, max_pool_backward},
    {"grad.avg_pool2d_backward", kPoolBackward, avg_pool_backward},
    {"grad.nll_loss_backward", "output_grad, predictions, targets, weights, reduction, ignore_index",
     likelihood_loss_backward},
    {"grad.take_backward", "output_grad, x, indices, axis, mode", take_backward},
};

}  // namespace

std::span<const TvmOperator> tvm_gradient_operators() {
  return kGradientRows;
}

}  // namespace relaxc::frontend
