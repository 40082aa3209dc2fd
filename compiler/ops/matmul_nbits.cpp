// matmul_nbits.cpp: a matrix times weights of 2, 4 or 8 bits with a scale, and optionally a zero point, for each block.
//
// x [.., K] by weight [N, blocks, bytes of a block], lowest bits first, gives [.., N]: the sum over k of x[k] * ((q[n,
// k] - zero[n, block]) * scale[n, block]), in float32. Decoding a language model is bound by reading its weights, so
// they stay packed in memory and are unpacked where they are multiplied. The reduction has an axis for blocks, one for
// bytes and one for the weights of a byte, in that order, which is ascending k; so schedules see what a block or a byte
// shares.
//
// zero_point: packed like the weights, [N, ceil(blocks * bits / 8)]; or one float each, [N, blocks]; absent: the
// middle.
#include "compiler/ops/common/element.h"
#include "compiler/ops/common/shape.h"

namespace relaxc::ops::matmul_nbits_family {
namespace {

constexpr OperandDef kOperands[] = {{"x"}, {"weight"}, {"scale"}, {"zero_point", OperandDef::kOptional}};
constexpr AttrDef kAttrs[] = {{"bits", AttrType::kInt, false, "4"}};

InferResult infer(InferContext& c) {
  RELAXC_DO(expect_dtype(c, 0, is_float, "a float tensor"));
  RELAXC_DO(expect_dtype(c, 2, is_float, "a float tensor"));
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  RELAXC_TRY(const TensorInfo* weight, c.tensor(1));
  RELAXC_TRY(const TensorInfo* scale, c.tensor(2));
  int64_t bits = c.op.attrs.integer("bits");
  if (bits != 2 && bits != 4 && bits != 8)
    return c.error(Kind::invalid_attribute, "'{}' of weights of {} bits; 2, 4 and 8 are supported", c.op.def->name,
                   bits);
  if (*weight->dtype != DType::u(8) || weight->ndim != 3 || scale->ndim != 2 || x->ndim < 1)
    return c.error(Kind::rank_mismatch, "'{}' takes uint8 weights of 3 dims and scales of 2, found {} of {} and {}",
                   c.op.def->name, to_string(*weight->dtype), weight->ndim, scale->ndim);
  const Dims &w = *weight->shape, &s = *scale->shape;
  RELAXC_DO(require_equal(c, x->shape->back(), arith::simplify(w[1] * w[2] * (8 / bits)), "columns of the weight"));
  RELAXC_DO(require_equal(c, s[0], w[0], "rows of 'scale'"));
  RELAXC_DO(require_equal(c, s[1], w[1], "blocks of 'scale'"));
  if (c.has(3)) {
    RELAXC_TRY(const TensorInfo* zero, c.tensor(3));
    bool packed = *zero->dtype == DType::u(8);
    if ((!packed && !zero->dtype->is_float()) || zero->ndim != 2)
      return c.error(Kind::dtype_mismatch, "operand 'zero_point' of '{}' is {}, expected a matrix of uint8 or floats",
                     c.op.def->name, relax::to_string(c.op.operand(3)->info));
    Expr columns = packed ? arith::ceildiv(w[1] * bits, 8) : w[1];
    RELAXC_DO(require_equal(c, (*zero->shape)[0], w[0], "rows of 'zero_point'"));
    RELAXC_DO(require_equal(c, (*zero->shape)[1], arith::simplify(columns), "columns of 'zero_point'"));
  }
  Dims shape(x->shape->begin(), x->shape->end() - 1);
  shape.push_back(w[0]);
  return one(tensor_info(c.context, std::move(shape), *x->dtype));
}

/// Extracts number `place` from a byte that holds 8 / bits of them, as float32.
Expr part_of(Expr byte, Expr place, int64_t bits) {
  Context& context = byte.context();
  DType i32 = DType::i(32);
  Expr word = cast(i32, byte);
  if (bits < 8) {
    word = call(Intrinsic::k_shift_right, word, cast(i32, place * bits));
    word = call(Intrinsic::k_bitwise_and, word, context.imm(i32, (1 << bits) - 1));
  }
  return cast(DType::f(32), word);
}

Stmt define(DefineContext& d) {
  tir::Builder& b = d.builder;
  BufferRef x = d.input(0), weight = d.input(1), scale = d.input(2), zero = d.has(3) ? d.input(3) : nullptr;
  BufferRef y = d.output();
  int64_t bits = d.attrs().integer("bits"), parts = 8 / bits;
  DType f32 = DType::f(32);
  Dims reduced{weight->shape[1], weight->shape[2]};
  if (parts > 1) reduced.push_back(b.index(parts));
  auto zero_point = [&](Expr n, Expr block) {
    if (zero == nullptr) return d.context().imm_float(f32, static_cast<double>(1 << (bits - 1)));
    if (zero->dtype.is_float()) return cast(f32, b.load(zero, {n, block}));
    const Expr part = arith::floormod(block, parts);
    return part_of(b.load(zero, {n, arith::floordiv(block, parts)}), part, bits);
  };
  auto add_product = [&](Expr sum, const Indices& i, const Indices& r) {
    Expr n = i.back(), place = parts > 1 ? r[2] : b.index(0);
    Indices at(i.begin(), i.end() - 1);
    at.push_back((r[0] * weight->shape[2] + r[1]) * parts + place);
    Expr value = part_of(b.load(weight, {n, r[0], r[1]}), place, bits) - zero_point(n, r[0]);
    return sum + cast(f32, b.load(x, at)) * (value * cast(f32, b.load(scale, {n, r[0]})));
  };
  auto into = [&](BufferRef out) { return b.reduce(out, reduced, d.context().zero(f32), add_product, "matmul"); };
  if (y->dtype == f32) return into(y);
  BufferRef sum = b.buffer("wide", f32, y->shape);
  auto narrow = [&](const Indices& i) { return cast(y->dtype, b.load(sum, i)); };
  return b.alloc(sum, b.seq({into(sum), b.compute(y, narrow)}));
}

constexpr OpDef kOps[] = {
    {.name = "nn.matmul_nbits",
     .operands = kOperands,
     .attrs = kAttrs,
     .infer = infer,
     .define = define,
     .doc = "x times the transpose of weights of 2, 4 or 8 bits, [N, blocks, bytes], with a scale for each block"},
};

}  // namespace
}  // namespace relaxc::ops::matmul_nbits_family

RELAXC_OPERATORS(matmul_nbits, kOps)
