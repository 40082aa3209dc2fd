// integer_mean.cpp: see integer_mean.h.
//
// The problem: a mean of stored values is often a tie. Exporters give the result of an average pool the scale of its
// operand, so a mean of 64 values is one in 64 times exactly between two stored numbers. In real numbers, the roundings
// of float32 decide where it goes, and with them the order of the sum, that is the vector length.
//
// The method: mean(dequantize(q, s, z)) is mean(dequantize(q, 1, z)) * s. Sums of stored values are integers, which
// float32 holds exactly up to 2^24 in any order. The multiplication by s moves down through the division by the number
// of elements and through views, and the quantization after it divides by its own scale over s, which is exactly 1 if
// the two scales are equal. A pool with one window, the whole image, becomes a sum over its dims, which has no order of
// dims: so a convolution before it may write its channels last, as it likes best.
#include "compiler/transform/graph/quantization/integer_mean.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "compiler/relax/op_def.h"
#include "compiler/transform/graph/quantization/quantized_operand.h"
#include "compiler/transform/graph/quantization/requantization.h"
#include "compiler/transform/graph/rewriting/rewrite.h"

namespace relaxc {

using namespace relax;

namespace {

bool sums_elements(const Op& op) {
  return op.is("sum") || op.is("mean") || op.is("nn.avg_pool") || op.is("nn.adaptive_avg_pool");
}

/// Returns whether `value` is a number of elements: at least 1, or made of integers.
bool is_count(const Value* value) {
  if (Op* cast = producer_of(value, "astype")) return cast->operand(0)->dtype().is_integer();
  std::optional<double> known = uniform_value(value);
  return known && *known >= 1 && is_single(*value);
}

/// Returns the elements of the window of an average pool that covers the whole image; nothing for any other op.
std::optional<int64_t> elements_of_image(const Op& op) {
  if (!op.is("nn.avg_pool")) return std::nullopt;
  const auto& dims = op.operand(0)->shape();
  const std::vector<int64_t>&window = op.attrs.ints("pool_size"), &padding = op.attrs.ints("padding");
  const bool padded = std::any_of(padding.begin(), padding.end(), [](int64_t n) { return n != 0; });
  if (padded || dims.size() < 3 || window.empty()) return std::nullopt;
  int64_t count = 1;
  for (size_t k = 0; k + 2 < dims.size(); ++k) {
    const int64_t size = window.size() == 1 ? window[0] : window.at(k);
    if (!dims[k + 2].is_constant(size) || !op.result()->shape()[k + 2].is_constant(1)) return std::nullopt;
    count *= size;
  }
  return count;
}

/// Returns the mean over all dims after the channels.
Result<Value*> mean_of_image(GraphBuilder& b, Value* x, int64_t count) {
  std::vector<int64_t> axes;
  for (size_t axis = 2; axis < x->shape().size(); ++axis) axes.push_back(static_cast<int64_t>(axis));
  RELAXC_TRY(Value * sum, b.call("sum", {x}, {{"axis", axes}, {"keepdims", true}}));
  return b.call("divide", {sum, b.scalar(DType::f(32), static_cast<double>(count))});
}

}  // namespace

Result<Value*> IntegerMeans::rewrite(GraphBuilder& b, const Op& op) {
  if (op.kind != OpKind::kOperator || op.operands().empty()) return nullptr;
  if (sums_elements(op)) return sum_stored(b, op);
  auto found = scaled_.find(op.operand(0));
  if (found == scaled_.end()) return nullptr;
  auto [whole, scale] = found->second;
  if (op.def->role == Role::kView || op.is("permute_dims") || (op.is("divide") && is_count(op.operand(1)))) {
    std::vector<Value*> operands = op.operands();
    operands[0] = whole;
    RELAXC_TRY(Value * moved, b.call(op.def->name, operands, op.attrs));
    return scaled(b, op, moved, scale);
  }
  auto known = op.is("quantize") ? quantization_parameters(op) : std::nullopt;
  if (!known || op.result()->dtype().bits > 16) return nullptr;
  double ratio = known->first / scale;
  if (!(ratio > 1e-30) || !(ratio < 1e30)) return nullptr;
  std::vector<Value*> operands = op.operands();
  operands[0] = whole, operands[1] = b.scalar(DType::f(32), ratio);
  mark_rounding(b.function());
  return b.call("quantize", operands, op.attrs, op.result()->name);
}

/// Replaces P(dequantize(q, s, z)) by P(dequantize(q, 1, z)) * s.
Result<Value*> IntegerMeans::sum_stored(GraphBuilder& b, const Op& op) {
  Op* inner = producer_of(op.operand(0), "dequantize");
  if (inner == nullptr || inner->operand(0)->dtype().bits > 16 || op.result()->dtype() != DType::f(32)) return nullptr;
  auto known = quantization_parameters(*inner);
  if (!known || !(known->first > 1e-30) || !(known->first < 1e30)) return nullptr;
  std::vector<Value*> stored = inner->operands(), operands = op.operands();
  stored[1] = b.scalar(DType::f(32), 1);
  RELAXC_TRY(operands[0], b.call("dequantize", stored, inner->attrs));
  const std::optional<int64_t> image = elements_of_image(op);
  RELAXC_TRY(Value * whole, image ? mean_of_image(b, operands[0], *image) : b.call(op.def->name, operands, op.attrs));
  mark_rounding(b.function());
  return scaled(b, op, whole, known->first);
}

Result<Value*> IntegerMeans::scaled(GraphBuilder& b, const Op& op, Value* whole, double scale) {
  RELAXC_TRY(Value * product, b.call("multiply", {whole, b.scalar(DType::f(32), scale)}, {}, op.result()->name));
  scaled_[product] = {whole, scale};
  return product;
}

}  // namespace relaxc
