// rotary.cpp: rotary position embedding: rotates pairs of channels by an angle that depends on the position.
//
// A pair (a, b) becomes (a cos - b sin, a sin + b cos). Pairs are halves of the last dim, as in GPT-NeoX and Llama, or
// neighbours, as in GPT-J. Tables have one angle for each pair, or one for each channel, as exporters write it that
// repeat them along the halves.
//
// With the pairs in a dim of their own this is x * cos + flip(x) * (-sin, sin): elementwise operators on one tensor,
// which fuse into one kernel with their neighbours. As slices and a concatenation, each half would be a kernel of its
// own, and joining them a third.
#include "compiler/ops/common/element.h"
#include "compiler/ops/common/expansion_builder.h"

namespace relaxc::ops::rotary_family {
namespace {

using relax::GraphBuilder;

constexpr OperandDef kOperands[] = {{"x"}, {"cos"}, {"sin"}};
constexpr AttrDef kAttrs[] = {{"interleaved", AttrType::kBool, false, "False"}};

/// x [B.., D]; cos and sin broadcast to [B.., D] or [B.., D / 2]; gives [B.., D].
InferResult infer(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  RELAXC_DO(expect_dtype(c, 0, is_float, "a float"));
  if (x->ndim < 1) return c.error(Kind::rank_mismatch, "'{}' of a scalar", c.op.def->name);
  Expr width = x->shape->back(), half = arith::simplify(arith::floordiv(width, 2), c.facts);
  RELAXC_DO(require_equal(c, width, half * 2, "a dim of pairs and twice their number"));
  for (size_t k : {size_t{1}, size_t{2}}) {
    RELAXC_TRY(const TensorInfo* table, c.tensor(k));
    if (*table->dtype != *x->dtype)
      return c.error(Kind::dtype_mismatch, "'{}' of {} by a table of {}", c.op.def->name, to_string(*x->dtype),
                     to_string(*table->dtype));
    if (table->ndim < 1) return c.error(Kind::rank_mismatch, "the tables of '{}' need a dim", c.op.def->name);
    Dims wanted(x->shape->begin(), x->shape->end());
    if (!arith::prove_equal(table->shape->back(), width, c.facts)) {
      wanted.back() = half;
      RELAXC_DO(require_equal(c, table->shape->back(), half, "the last dim of a table and the number of pairs"));
    }
    RELAXC_DO(require_broadcast_to(c, *table->shape, wanted));
  }
  return one(tensor_info(c.context, *x->shape, *x->dtype));
}

/// Splits the last dim of `x` into pairs, which get a dim of their own: the last but one for halves, the last for
/// neighbours. The dim has one element for each of `width` channels, or one for each pair.
Value* in_pairs(ExpansionBuilder& chain, Value* x, Expr width, bool neighbours) {
  if (chain.failed()) return nullptr;
  Dims dims = x->shape();
  bool channels = arith::prove_equal(dims.back(), width);
  Expr pairs = channels ? arith::simplify(arith::floordiv(width, 2)) : dims.back();
  Expr each = chain.builder().context().index(channels ? 2 : 1);
  dims.back() = neighbours ? pairs : each;
  dims.push_back(neighbours ? each : pairs);
  // A transpose moves whole rows, so pairs are split before it, where the reshape is a view and costs nothing; the
  // transpose is then adjacent to the element-wise operators.
  if (x->op != nullptr && x->op->is("permute_dims")) {
    std::vector<int64_t> axes = x->op->attrs.ints("axes");
    Value* before = x->op->operand(0);
    int64_t rank = static_cast<int64_t>(dims.size()) - 1;
    if (!axes.empty() && (axes.back() == rank - 1 || axes.back() == -1)) {
      Dims apart = before->shape();
      apart.back() = dims.end()[-2];
      apart.push_back(dims.back());
      for (int64_t& axis : axes) axis = axis < 0 ? axis + rank : axis;
      axes.push_back(rank);
      return chain.permute(chain.reshape(before, apart), axes);
    }
  }
  return chain.reshape(x, dims);
}

Values expand(GraphBuilder& b, const Op& op) {
  ExpansionBuilder chain(b);
  Value* x = op.operand(0);
  bool neighbours = op.attrs.flag("interleaved");
  Expr width = x->shape().back();
  int64_t rank = static_cast<int64_t>(x->shape().size());
  Value *pairs = in_pairs(chain, x, width, neighbours), *cosine = in_pairs(chain, op.operand(1), width, neighbours),
        *sine = in_pairs(chain, op.operand(2), width, neighbours);
  Value* exchanged = chain.call("flip", {pairs}, {{"axis", std::vector<int64_t>{neighbours ? rank : rank - 1}}});
  std::vector<std::byte> bytes;
  for (double sign : {-1.0, 1.0}) {
    std::vector<std::byte> one = relax::encode_scalar(x->dtype(), sign);
    bytes.insert(bytes.end(), one.begin(), one.end());
  }
  Value* signs = b.constant(relax::ConstantData::inline_bytes(
      x->dtype(), neighbours ? std::vector<int64_t>{2} : std::vector<int64_t>{2, 1}, std::move(bytes)));
  Value* across = chain.multiply(exchanged, chain.multiply(sine, signs));
  Value* turned = chain.add(chain.multiply(pairs, cosine), across);
  return chain.done({chain.failed() ? nullptr : chain.reshape(turned, x->shape())});
}

constexpr OpDef kOps[] = {
    {.name = "nn.rotary_embedding",
     .operands = kOperands,
     .attrs = kAttrs,
     .infer = infer,
     .expand = expand,
     .doc = "pairs (a, b) of the last dim, halves or neighbours, become (a cos - b sin, a sin + b cos)"},
};

}  // namespace
}  // namespace relaxc::ops::rotary_family

RELAXC_OPERATORS(rotary, kOps)
