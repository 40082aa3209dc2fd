// attention.cpp: attention, softmax(q k^T * scale, capped and masked) v.
//
// It expands to the products and the softmax. The scale is applied to the queries, which have fewer elements than the
// scores, and where it can be folded into the weights of the projection before; so is the divisor of a soft cap.
// Exporters differ in how they process the scores, and every variant is kept as written: a bias before or after the
// mask, the value of a masked score, a softmax in a wider dtype, and the result of rows without any key (NaN by
// softmax, unless `empty_rows` is "zeros" for rows of -inf, or "no_nans" for every weight that is NaN). A cap (Gemma 2)
// limits scores before bias and mask are added.
#include <limits>

#include "compiler/ops/common/element.h"
#include "compiler/ops/common/expansion_builder.h"

namespace relaxc::ops::attention_family {
namespace {

using relax::GraphBuilder;
using Arity = OperandDef::Arity;

constexpr OperandDef kOperands[] = {
    {"q"}, {"k"}, {"v"}, {"bias", Arity::kOptional}, {"mask", Arity::kOptional}, {"hidden", Arity::kOptional}};
constexpr AttrDef kAttrs[] = {{"scale", AttrType::kFloat, false, "1"},
                              {"softcap", AttrType::kFloat, false, "0"},
                              {"bias_last", AttrType::kBool, false, "False"},
                              {"precision", AttrType::kString},
                              {"empty_rows", AttrType::kString}};

DType scores_dtype(const Op& op) {
  std::optional<DType> wider = parse_dtype(op.attrs.string("precision"));
  return wider ? *wider : op.operand(0)->dtype();
}

relaxc::Status check_attrs(InferContext& c) {
  const std::string &precision = c.op.attrs.string("precision"), &rows = c.op.attrs.string("empty_rows");
  std::optional<DType> dtype = parse_dtype(precision);
  if (!precision.empty() && (!dtype || !dtype->is_float()))
    return c.error(Kind::invalid_attribute, "precision \"{}\" of '{}' is not a float dtype", precision, c.op.def->name);
  if (!rows.empty() && rows != "zeros" && rows != "no_nans")
    return c.error(Kind::invalid_attribute, "empty_rows of '{}' must be \"zeros\" or \"no_nans\", found \"{}\"",
                   c.op.def->name, rows);
  return Done{};
}

Dims batch_of(const TensorInfo& x) {
  return Dims(x.shape->begin(), x.shape->end() - 2);
}
Dims matrix_of(const Dims& shape) {
  return Dims(shape.end() - std::min<std::ptrdiff_t>(2, std::ssize(shape)), shape.end());
}

/// Checks an operand that broadcasts to the scores [batch.., queries, keys], and broadcasts `batch` with its batch.
relaxc::Status join_scores(InferContext& c, size_t operand, DType dtype, const Dims& matrix, Dims& batch) {
  if (!c.has(operand)) return Done{};
  RELAXC_TRY(const TensorInfo* given, c.tensor(operand));
  if (*given->dtype != dtype)
    return c.error(Kind::dtype_mismatch, "operand '{}' of '{}' must be {}, found {}", c.op.def->operands[operand].name,
                   c.op.def->name, to_string(dtype), to_string(*given->dtype));
  Dims last = matrix_of(*given->shape);
  RELAXC_DO(require_broadcast_to(c, last, matrix));
  Dims outer(given->shape->begin(), given->shape->end() - std::ssize(last));
  RELAXC_TRY(batch, broadcast_dims(c, batch, outer));
  return Done{};
}

/// q [B.., S, E], k [B.., T, E], v [B.., T, V]; bias, mask and hidden broadcast to [B.., S, T]; gives [B.., S, V].
InferResult infer(InferContext& c) {
  RELAXC_TRY(const TensorInfo* q, c.tensor(0));
  RELAXC_TRY(const TensorInfo* k, c.tensor(1));
  RELAXC_TRY(const TensorInfo* v, c.tensor(2));
  RELAXC_DO(check_attrs(c));
  RELAXC_DO(expect_dtype(c, 0, is_float, "a float"));
  if (q->ndim < 2 || k->ndim < 2 || v->ndim < 2)
    return c.error(Kind::rank_mismatch, "'{}' takes q, k and v of at least 2 dims, found {}, {} and {}", c.op.def->name,
                   q->ndim, k->ndim, v->ndim);
  if (*k->dtype != *q->dtype || *v->dtype != *q->dtype)
    return c.error(Kind::dtype_mismatch, "'{}' of {}, {} and {}", c.op.def->name, to_string(*q->dtype),
                   to_string(*k->dtype), to_string(*v->dtype));
  Expr queries = q->shape->end()[-2], keys = k->shape->end()[-2];
  RELAXC_DO(require_equal(c, q->shape->back(), k->shape->back(), "the last dims of q and k"));
  RELAXC_DO(require_equal(c, keys, v->shape->end()[-2], "the keys of k and v"));
  RELAXC_TRY(Dims batch, broadcast_dims(c, batch_of(*q), batch_of(*k)));
  DType scores = scores_dtype(c.op);
  RELAXC_DO(join_scores(c, 3, scores, {queries, keys}, batch));
  RELAXC_DO(join_scores(c, 4, DType::boolean(), {queries, keys}, batch));
  RELAXC_DO(join_scores(c, 5, scores, {queries, keys}, batch));
  RELAXC_TRY(batch, broadcast_dims(c, batch, batch_of(*v)));
  batch.push_back(queries);
  batch.push_back(v->shape->back());
  return one(tensor_info(c.context, std::move(batch), *q->dtype));
}

/// Returns the softmax of each row of scores; `rows` says what a row without any key gets.
Value* weights_of(ExpansionBuilder& chain, Value* scores, const std::string& rows) {
  if (rows == "zeros") return chain.call("nn.softmax", {scores}, {{"axis", int64_t{-1}}, {"empty_rows", rows}});
  Value* weights = chain.call("nn.softmax", {scores}, {{"axis", int64_t{-1}}});
  if (rows.empty() || chain.failed()) return weights;
  return chain.call("where", {chain.call("isnan", {weights}), chain.number(scores->dtype(), 0), weights});
}

Values expand(GraphBuilder& b, const Op& op) {
  ExpansionBuilder chain(b);
  Value *q = op.operand(0), *k = op.operand(1), *bias = op.operand(3), *mask = op.operand(4), *hidden = op.operand(5);
  DType given = q->dtype(), inner = scores_dtype(op);
  double cap = op.attrs.number("softcap"), scale = op.attrs.number("scale") / (cap == 0 ? 1 : cap);
  if (scale != 1) q = chain.multiply(q, chain.number(given, scale));
  std::vector<int64_t> axes;
  for (size_t i = 0; i < k->shape().size(); ++i) axes.push_back(static_cast<int64_t>(i));
  std::swap(axes.end()[-1], axes.end()[-2]);
  Value* scores = chain.as(chain.call("matmul", {q, chain.permute(k, axes)}), inner);
  if (cap != 0) {
    Value* limit = chain.number(inner, cap);
    scores = chain.multiply(chain.call("tanh", {scores}), limit);
  }
  bool last = op.attrs.flag("bias_last");
  if (bias != nullptr && !last) scores = chain.add(scores, bias);
  if (mask != nullptr) {
    if (hidden == nullptr) hidden = chain.number(inner, -std::numeric_limits<double>::infinity());
    scores = chain.call("where", {mask, scores, hidden});
  }
  if (bias != nullptr && last) scores = chain.add(scores, bias);
  Value* weights = chain.as(weights_of(chain, scores, op.attrs.string("empty_rows")), given);
  return chain.done({chain.call("matmul", {weights, op.operand(2)})});
}

constexpr OpDef kOps[] = {
    {.name = "nn.scaled_dot_product_attention",
     .operands = kOperands,
     .attrs = kAttrs,
     .infer = infer,
     .expand = expand,
     .doc = "softmax(q k^T * scale + bias) v over the last two dims; scores are softcap * tanh(.. / softcap) if it is "
            "not 0, and `hidden` (-inf) where mask is false"},
};

}  // namespace
}  // namespace relaxc::ops::attention_family

RELAXC_OPERATORS(attention, kOps)
