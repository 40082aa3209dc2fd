// depth.cpp: moves elements between channels and space. Each operator expands to reshape, permutation, reshape.
#include "compiler/ops/common/shape.h"
#include "compiler/relax/builder.h"

namespace relaxc::ops::depth_family {
namespace {

constexpr AttrDef kDepth[] = {{"block_size", AttrType::kInt, true}, {"mode", AttrType::kString, false, "DCR"}};
constexpr AttrDef kSpace[] = {{"block_size", AttrType::kInt, true}};
constexpr AttrDef kShuffle[] = {{"upscale_factor", AttrType::kInt, true}};

Result<const TensorInfo*> image(InferContext& c, int64_t block) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  if (x->ndim != 4)
    return c.error(Kind::rank_mismatch, "'{}' takes [N, C, H, W], found {}", c.op.def->name, text(*x->shape));
  if (block < 1) return c.error(Kind::invalid_attribute, "'{}' by {}", c.op.def->name, block);
  return x;
}

relaxc::Status require_multiple(InferContext& c, Expr dim, int64_t of) {
  return c.require(arith::eq(arith::floormod(dim, of), 0), kDerivedDim, c.context.index(of), dim,
                   {Finding::kMultiple, "a dim"},
                   fmt::format("'{}': {} is not a multiple of {}", c.op.def->name, to_string(dim), of));
}

InferResult infer_depth(InferContext& c, int64_t block) {
  RELAXC_TRY(const TensorInfo* x, image(c, block));
  const Dims& s = *x->shape;
  RELAXC_DO(require_multiple(c, s[1], block * block));
  Expr channels = arith::simplify(arith::floordiv(s[1], block * block), c.facts);
  return one(tensor_info(c.context, Dims{s[0], channels, s[2] * block, s[3] * block}, *x->dtype));
}

InferResult infer_depth_to_space(InferContext& c) {
  const std::string& mode = c.op.attrs.string("mode");
  if (mode != "DCR" && mode != "CRD")
    return c.error(Kind::invalid_attribute, "mode \"{}\" of '{}' is neither DCR nor CRD", mode, c.op.def->name);
  return infer_depth(c, c.op.attrs.integer("block_size"));
}
InferResult infer_shuffle(InferContext& c) {
  return infer_depth(c, c.op.attrs.integer("upscale_factor"));
}

InferResult infer_space(InferContext& c) {
  int64_t block = c.op.attrs.integer("block_size");
  RELAXC_TRY(const TensorInfo* x, image(c, block));
  const Dims& s = *x->shape;
  RELAXC_DO(require_multiple(c, s[2], block));
  RELAXC_DO(require_multiple(c, s[3], block));
  Expr height = arith::simplify(arith::floordiv(s[2], block), c.facts);
  Expr width = arith::simplify(arith::floordiv(s[3], block), c.facts);
  return one(tensor_info(c.context, Dims{s[0], s[1] * (block * block), height, width}, *x->dtype));
}

/// Reshapes x to `inner`, permutes it by `axes`, and reshapes the outcome to the shape of the op's result.
Result<std::vector<Value*>> rearranged(relax::GraphBuilder& b, const Op& op, Dims inner, std::vector<int64_t> axes) {
  RELAXC_TRY(Value * split, b.call("reshape", {op.operand(0), b.shape(std::move(inner))}));
  RELAXC_TRY(Value * moved, b.call("permute_dims", {split}, {{"axes", std::move(axes)}}));
  RELAXC_TRY(Value * y, b.call("reshape", {moved, b.shape(op.result()->shape())}));
  return std::vector<Value*>{y};
}

Result<std::vector<Value*>> expand_depth(relax::GraphBuilder& b, const Op& op, int64_t block, bool depth_first) {
  const Dims& s = op.operand(0)->shape();
  Expr channels = op.result()->shape()[1], n = b.context().index(block);
  if (depth_first) return rearranged(b, op, {s[0], n, n, channels, s[2], s[3]}, {0, 3, 4, 1, 5, 2});
  return rearranged(b, op, {s[0], channels, n, n, s[2], s[3]}, {0, 1, 4, 2, 5, 3});
}

Result<std::vector<Value*>> expand_depth_to_space(relax::GraphBuilder& b, const Op& op) {
  return expand_depth(b, op, op.attrs.integer("block_size"), op.attrs.string("mode") == "DCR");
}
Result<std::vector<Value*>> expand_shuffle(relax::GraphBuilder& b, const Op& op) {
  return expand_depth(b, op, op.attrs.integer("upscale_factor"), false);
}

Result<std::vector<Value*>> expand_space(relax::GraphBuilder& b, const Op& op) {
  const Dims &s = op.operand(0)->shape(), &to = op.result()->shape();
  Expr n = b.context().index(op.attrs.integer("block_size"));
  return rearranged(b, op, {s[0], s[1], to[2], n, to[3], n}, {0, 3, 5, 1, 2, 4});
}

constexpr OpDef kOps[] = {
    {.name = "depth_to_space",
     .operands = kX,
     .attrs = kDepth,
     .infer = infer_depth_to_space,
     .expand = expand_depth_to_space,
     .doc = "[N, C, H, W] with blocks of channels moved into space (ONNX)"},
    {.name = "space_to_depth",
     .operands = kX,
     .attrs = kSpace,
     .infer = infer_space,
     .expand = expand_space,
     .doc = "[N, C, H, W] with blocks of space moved into channels (ONNX)"},
    {.name = "nn.pixel_shuffle",
     .operands = kX,
     .attrs = kShuffle,
     .infer = infer_shuffle,
     .expand = expand_shuffle,
     .doc = "depth_to_space with the block's dims inside each channel (CRD)"},
};

}  // namespace
}  // namespace relaxc::ops::depth_family

RELAXC_OPERATORS(depth, kOps)
