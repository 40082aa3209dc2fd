// fold_scales.cpp: moves constant scales around a convolution or matmul into its weights.
//
// A batch norm after a convolution is a multiply and an add for each channel. The multiply can be done to the weights
// when compiling, and addends before it are scaled as well, so that only a bias remains:
//
//   (conv(x, w) + b) * c   ->   conv(x, w * c) + b * c          backwards, c a channel of the result
//   conv(x * c, w)         ->   conv(x, w * c)                  forwards, c a channel of the data
//   (x + b) + d            ->   x + (b + d)                     a bias and the shift of a norm
//
// and likewise for matmuls with constant weights. Rounding changes: a product is rounded before the sum and not after.
// Rejected: a shift in front of a padded convolution (at the border the padding would have to be shifted too). Only
// float32 and float64 take part; narrower weights would lose digits that the wide accumulator keeps.
#include <algorithm>

#include "compiler/transform/graph/dead_code.h"
#include "compiler/transform/graph/fold_constants.h"
#include "compiler/transform/graph/rewriting/rewrite.h"
#include "compiler/transform/passes.h"

namespace relaxc {
namespace {

using namespace relax;

bool takes_scales(const Value& value) {
  return value.dtype() == DType::f(32) || value.dtype() == DType::f(64);
}

bool is_static(const Value& value) {
  return numbers_of(value.shape()).has_value();
}

/// Returns whether a constant is one number, or has as many elements as `channels` along `axis` of `rank` axes and one
/// along all others.
bool is_along(const Value* constant, size_t rank, size_t axis, Expr channels) {
  if (constant_of(constant) == nullptr || channels.constant() == nullptr) return false;
  const auto& shape = constant->shape();
  if (shape.size() > rank) return false;
  for (size_t i = 0; i < shape.size(); ++i) {
    size_t at = i + rank - shape.size();
    if (!shape[i].is_constant(1) && (at != axis || shape[i] != channels)) return false;
  }
  return true;
}

/// A product or sum of a value and a constant along one axis of the value.
struct Scaled {
  Value* value = nullptr;
  Value* constant = nullptr;
};
Scaled scaled_by(const Op* op, OpName kind, size_t axis) {
  if (op == nullptr || !op->is(kind) || !takes_scales(*op->result())) return {};
  const auto& shape = op->result()->shape();
  for (size_t side : {size_t{0}, size_t{1}}) {
    Value *value = op->operand(side), *constant = op->operand(1 - side);
    bool fits = constant_of(value) == nullptr && value->shape().size() == shape.size() &&
                value->shape()[axis] == shape[axis] && is_along(constant, shape.size(), axis, shape[axis]);
    if (fits) return {value, constant};
  }
  return {};
}

/// A convolution or matmul with static constant weights, and the axes of its channels.
struct Product {
  Op* op = nullptr;
  size_t out_axis = 0, in_axis = 0;  ///< axes of the result and of the data
  size_t weight_out_axis = 0, weight_in_axis = 0;
  bool scales_data = false;  ///< each channel of the data has weights of its own
};
std::optional<Product> product_of(Op* op) {
  if (op == nullptr || (!op->is("nn.conv") && !op->is("matmul"))) return std::nullopt;
  Value *data = op->operand(0), *weight = op->operand(1);
  if (constant_of(weight) == nullptr || !is_static(*weight) || !takes_scales(*op->result())) return std::nullopt;
  if (weight->dtype() != op->result()->dtype()) return std::nullopt;
  if (op->is("nn.conv")) return Product{op, 1, 1, 0, 1, op->attrs.integer("groups") == 1};
  if (weight->shape().size() != 2 || data->shape().size() < 2) return std::nullopt;
  size_t rank = data->shape().size();
  return Product{op, rank - 1, rank - 1, 1, 0, true};
}

/// Returns `constant`, which lies along one axis, reshaped to broadcast along `axis` of a tensor of `rank` axes.
Value* along(const Site& s, Value* constant, size_t rank, size_t axis) {
  Context& context = s.builder.context();
  Expr count = context.index(constant_of(constant)->elements());
  std::vector<Expr> shape(rank, context.index(1));
  shape[axis] = count;
  auto made = s.builder.call("reshape", {constant, s.builder.shape(shape)});
  RELAXC_CHECK(static_cast<bool>(made), "a constant along an axis");
  return *made;
}

Value* with_weights(const Site& s, const Product& product, Value* data, Value* factor, size_t weight_axis) {
  Value* weight = product.op->operand(1);
  Value* spread = along(s, factor, weight->shape().size(), weight_axis);
  Value* scaled = s.make("multiply", {weight, spread});
  scaled->name = weight->name;
  mark_rounding(s.builder.function());
  return s.make(product.op->def->name, {data, scaled}, product.op->attrs);
}

/// Replaces conv(x, w) * c by conv(x, w * c).
Value* scale_behind(const Site& s) {
  if (!s.op.is("multiply")) return nullptr;
  for (size_t side : {size_t{0}, size_t{1}}) {
    std::optional<Product> product = s.in(side) == nullptr ? std::nullopt : product_of(s.in(side)->op);
    if (!product || !s.in(side)->has_one_use()) continue;
    Scaled scaled = scaled_by(&s.op, "multiply", product->out_axis);
    if (scaled.value != s.in(side)) continue;
    return with_weights(s, *product, product->op->operand(0), scaled.constant, product->weight_out_axis);
  }
  return nullptr;
}

/// Replaces (conv(x, w) + b) * c by conv(x, w) * c + b * c, of which scale_behind takes the first product.
Value* scale_behind_bias(const Site& s) {
  if (!s.op.is("multiply")) return nullptr;
  for (size_t side : {size_t{0}, size_t{1}}) {
    Op* sum = s.producer(side, "add");
    if (sum == nullptr || !sum->result()->has_one_use()) continue;
    for (Value* term : sum->operands()) {
      std::optional<Product> product = product_of(term->op);
      if (!product || !term->has_one_use()) continue;
      Scaled biased = scaled_by(sum, "add", product->out_axis),
             scaled = scaled_by(&s.op, "multiply", product->out_axis);
      if (biased.value != term || scaled.value != sum->result()) continue;
      Value* bias = s.make("multiply", {biased.constant, scaled.constant});
      mark_rounding(s.builder.function());
      return s.make("add", {s.make("multiply", {term, scaled.constant}), bias});
    }
  }
  return nullptr;
}

/// Replaces conv(x * c, w) by conv(x, w * c).
Value* scale_before(const Site& s) {
  std::optional<Product> product = product_of(&s.op);
  if (!product || !product->scales_data || !s.in()->has_one_use()) return nullptr;
  Scaled scaled = scaled_by(s.in()->op, "multiply", product->in_axis);
  if (scaled.value == nullptr) return nullptr;
  return with_weights(s, *product, scaled.value, scaled.constant, product->weight_in_axis);
}

/// Replaces (x + b) + d by x + (b + d) for constants b and d: a bias, and the shift of the norm after it.
Value* bias_behind_bias(const Site& s) {
  if (!s.op.is("add") || !takes_scales(*s.out())) return nullptr;
  for (size_t side : {size_t{0}, size_t{1}}) {
    Op* inner = s.producer(side, "add");
    if (inner == nullptr || constant_of(s.in(1 - side)) == nullptr || !inner->result()->has_one_use()) continue;
    for (size_t k : {size_t{0}, size_t{1}}) {
      Value *value = inner->operand(k), *bias = inner->operand(1 - k);
      if (constant_of(bias) == nullptr || constant_of(value) != nullptr || !s.like_result(*value)) continue;
      mark_rounding(s.builder.function());
      return s.make("add", {value, s.make("add", {bias, s.in(1 - side)})});
    }
  }
  return nullptr;
}

constexpr Rule kScaleRules[] = {scale_behind, scale_behind_bias, scale_before, bias_behind_bias};

}  // namespace

Result<Changed> fold_scales(relax::Module& module, PassContext& context) {
  Changed changed = Changed::kNo;
  // Each round folds its products into constants, which another scale may follow.
  for (Changed again = Changed::kYes; again == Changed::kYes;) {
    again = Changed::kNo;
    for (Function* function : module.functions()) again |= rewrite_ops(module, *function, context, kScaleRules);
    if (again == Changed::kNo) break;
    changed = Changed::kYes;
    remove_dead_ops(module);
    if (evaluate_constants(module, context, StoredConstants::kFold) == Changed::kYes) remove_dead_ops(module);
  }
  return changed;
}

}  // namespace relaxc
