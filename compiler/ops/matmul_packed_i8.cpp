// matmul_packed_i8.cpp: products of two matrices of bytes, neither of which is constant.
//
// Dot product instructions take four neighbours along the inner dim from each operand. In the left matrix they are
// contiguous; in the right one they are a row apart. So `vnni_pack` first rewrites the right matrix as words of four
// rows, which costs as much as reading it once, and the product reads those. Words have signed bytes: unsigned ones are
// stored minus 128, which the caller that makes the product corrects. Beyond the end of the inner dim words are 0, and
// the left matrix may have any values.
//
// Constant right operands do not need this: schedules have them packed at compile time.
#include "compiler/arith/dot.h"
#include "compiler/ops/common/element.h"
#include "compiler/ops/common/shape.h"

namespace relaxc::ops::matmul_packed_i8_family {
namespace {

constexpr OperandDef kMatrix[] = {{"x"}};
constexpr OperandDef kOperands[] = {{"x"}, {"packed"}};

bool is_byte(DType dtype) {
  return dtype.is_integer() && dtype.bits == 8;
}

bool is_unsigned_byte(DType dtype) {
  return dtype == DType::u(8);
}

bool is_word(DType dtype) {
  return dtype == DType::i(32);
}

InferResult infer_words(InferContext& c) {
  RELAXC_DO(expect_dtype(c, 0, is_byte, "int8 or uint8"));
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  if (x->ndim < 2) return c.error(Kind::rank_mismatch, "'{}' takes matrices, found {} dims", c.op.def->name, x->ndim);
  Dims shape = *x->shape;
  Expr& rows = shape[shape.size() - 2];
  rows = arith::simplify(arith::ceildiv(rows, 4));
  return one(tensor_info(c.context, std::move(shape), DType::i(32)));
}

Stmt define_words(DefineContext& d) {
  tir::Builder& b = d.builder;
  BufferRef x = d.input(0);
  DType i32 = DType::i(32);
  Context& context = d.context();
  Expr rows = x->shape[x->shape.size() - 2];
  bool whole = arith::prove_equal(arith::floormod(rows, 4), b.index(0));
  return b.compute(d.output(), [&](const Indices& i) {
    Expr word;
    for (int64_t k = 0; k < 4; ++k) {
      Indices at = i;
      Expr& row = at[at.size() - 2];
      row = row * 4 + k;
      Expr inside = arith::lt(row, rows);
      if (!whole) row = arith::min(row, rows - 1);
      Expr byte = cast(i32, b.load(x, at));
      if (x->dtype.is_uint()) byte = byte - context.imm(i32, 128);
      if (!whole) byte = select(inside, byte, context.imm(i32, 0));
      byte = call(Intrinsic::k_bitwise_and, byte, context.imm(i32, 255));
      if (k > 0) byte = call(Intrinsic::k_shift_left, byte, context.imm(i32, 8 * k));
      word = word ? call(Intrinsic::k_bitwise_or, word, byte) : byte;
    }
    return word;
  });
}

InferResult infer_product(InferContext& c) {
  RELAXC_DO(expect_dtype(c, 0, is_unsigned_byte, "uint8"));
  RELAXC_DO(expect_dtype(c, 1, is_word, "int32"));
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  RELAXC_TRY(const TensorInfo* words, c.tensor(1));
  if (x->ndim < 2 || words->ndim < 2)
    return c.error(Kind::rank_mismatch, "'{}' takes matrices, found {} and {} dims", c.op.def->name, x->ndim,
                   words->ndim);
  const Dims &a = *x->shape, &w = *words->shape;
  RELAXC_DO(require_equal(c, a.back(), arith::simplify(w[w.size() - 2] * 4), "bytes of the words"));
  Dims batch_a(a.begin(), a.end() - 2), batch_w(w.begin(), w.end() - 2);
  RELAXC_TRY(Dims shape, broadcast_dims(c, batch_a, batch_w));
  shape.push_back(a[a.size() - 2]);
  shape.push_back(w.back());
  return one(tensor_info(c.context, std::move(shape), DType::i(32)));
}

Stmt define_product(DefineContext& d) {
  tir::Builder& b = d.builder;
  BufferRef x = d.input(0), words = d.input(1), y = d.output();
  DType i32 = DType::i(32);
  size_t batches = y->shape.size() - 2;
  Dims batch(y->shape.begin(), y->shape.begin() + static_cast<std::ptrdiff_t>(batches));
  auto subscripts = [&](BufferRef of, const Indices& i, Expr row, Expr column) {
    Dims own(of->shape.begin(), of->shape.end() - 2);
    Indices at = broadcast_indices(own, Indices(i.begin(), i.begin() + static_cast<std::ptrdiff_t>(batches)), batch);
    at.push_back(row);
    at.push_back(column);
    return at;
  };
  auto add_products = [&](Expr sum, const Indices& i, const Indices& k) {
    arith::Dot4 dot;
    for (size_t part = 0; part < 4; ++part) {
      Expr at = k[0] * 4 + static_cast<int64_t>(part);
      dot.a[part] = cast(i32, b.load(x, subscripts(x, i, i[batches], at)));
    }
    dot.b = b.load(words, subscripts(words, i, k[0], i.back()));
    return sum + arith::dot4(dot);
  };
  return b.reduce(y, {words->shape[words->shape.size() - 2]}, d.context().zero(i32), add_products, "matmul");
}

constexpr OpDef kOps[] = {
    {.name = "vnni_pack",
     .operands = kMatrix,
     .infer = infer_words,
     .define = define_words,
     .doc = "packs four rows of bytes into one of int32 words, the first in the lowest bits; subtracts 128 from uint8"},
    {.name = "nn.matmul_packed_i8",
     .operands = kOperands,
     .infer = infer_product,
     .define = define_product,
     .doc = "product of uint8 matrices [.., M, K] and signed bytes in words [.., K/4, N], in int32"},
};

}  // namespace
}  // namespace relaxc::ops::matmul_packed_i8_family

RELAXC_OPERATORS(matmul_packed_i8, kOps)
