// activation_product.cpp: products of two quantized tensors, neither of them constant.
//
// sum (a - za) (b - zb) = sum a b' - zb' sum a - za sum (b - zb), where b' are the bytes of b as signed ones and zb' is
// their zero point: the dot product of bytes, and corrections by sums over rows of a and columns of b. If a zero point
// is 0, its sum is not computed.
#include "compiler/transform/graph/quantization/integer_product.h"

namespace relaxc {

using namespace relax;

namespace {

constexpr int64_t kMostSignedTerms = 65000;  // terms of at most 255 * 128, whose sum fits int32

bool is_byte_matrix(const std::optional<QuantizedOperand>& operand) {
  if (!operand || operand->stored->dtype().bits != 8 || operand->stored->shape().size() < 2) return false;
  return (operand->scale == nullptr || is_single(*operand->scale)) &&
         (operand->zero == nullptr || is_single(*operand->zero));
}

/// Returns the sum over `axis` of integers, less `zero` each (null: 0); the axis is kept with extent 1.
Result<Value*> sum_along(GraphBuilder& b, Value* stored, Value* zero, int64_t axis) {
  RELAXC_TRY(Value * wide, b.call("astype", {stored}, {{"dtype", DType::i(32)}}));
  if (zero != nullptr) {
    RELAXC_TRY(wide, b.call("subtract", {wide, zero}));
  }
  return b.call("sum", {wide}, {{"axis", std::vector<int64_t>{axis}}, {"keepdims", true}});
}

}  // namespace

/// Returns the zero point of an operand plus `shift` in int32, as a scalar; null if it is 0.
Result<Value*> IntegerProducts::point(GraphBuilder& b, const QuantizedOperand& x, int64_t shift) {
  DType i32 = DType::i(32);
  std::optional<int64_t> known = x.zero == nullptr ? std::optional<int64_t>(0) : known_integer(x.zero);
  if (known) return *known + shift == 0 ? nullptr : b.scalar(i32, static_cast<double>(*known + shift));
  RELAXC_TRY(Value * zero, b.call("reshape", {x.zero, b.shape({})}));
  RELAXC_TRY(zero, b.call("astype", {zero}, {{"dtype", i32}}));
  if (shift == 0) return zero;
  return b.call("add", {zero, b.scalar(i32, static_cast<double>(shift))});
}

Result<Value*> IntegerProducts::of_activations(GraphBuilder& b, Op& op) {
  auto x = quantized_operand(op.operand(0)), y = quantized_operand(op.operand(1));
  if (!is_byte_matrix(x) || !is_byte_matrix(y)) return nullptr;
  bool real = x->scale != nullptr;
  DType f32 = DType::f(32);
  if (real != (y->scale != nullptr) || op.result()->dtype() != (real ? f32 : DType::i(32))) return nullptr;
  if (real && (x->scale->dtype() != f32 || y->scale->dtype() != f32)) return nullptr;
  arith::Expr terms = y->stored->shape()[y->stored->shape().size() - 2];
  if (terms.constant() != nullptr && *terms.constant() > kMostSignedTerms) return nullptr;

  RELAXC_TRY(Data data, data_as(b, *x, DType::u(8)));
  RELAXC_TRY(Value * x_zero, point(b, *x, x->stored->dtype().is_uint() ? 0 : 128));
  RELAXC_TRY(Value * y_zero, point(b, *y, 0));
  RELAXC_TRY(Value * y_byte_zero, point(b, *y, y->stored->dtype().is_uint() ? -128 : 0));
  RELAXC_TRY(Value * words, b.call("vnni_pack", {y->stored}));
  Value* bytes = data.stored;
  arith::Expr missing = arith::simplify(arith::ceildiv(terms, 4) * 4 - terms);
  if (!missing.is_constant(0)) {
    size_t rank = bytes->shape().size();
    std::vector<arith::Expr> pads(2 * rank, b.context().index(0));
    pads.back() = missing;
    RELAXC_TRY(bytes,
               b.call("pad", {bytes, b.shape(pads), b.scalar(DType::u(8), 0)}, {{"mode", std::string("constant")}}));
  }
  RELAXC_TRY(Value * sum, b.call("nn.matmul_packed_i8", {bytes, words}));
  if (x_zero != nullptr) {
    RELAXC_TRY(Value * columns, sum_along(b, y->stored, y_zero, -2));
    RELAXC_TRY(columns, b.call("multiply", {columns, x_zero}));
    RELAXC_TRY(sum, b.call("subtract", {sum, columns}));
  }
  if (y_byte_zero != nullptr) {
    RELAXC_TRY(Value * rows, sum_along(b, data.stored, nullptr, -1));
    RELAXC_TRY(rows, b.call("multiply", {rows, y_byte_zero}));
    RELAXC_TRY(sum, b.call("subtract", {sum, rows}));
  }
  if (real) {
    RELAXC_TRY(sum, scaled(b, sum, data.scale, y->scale));
  }
  // Symbolic batches that broadcast may get other names in these steps; then the product stays as it was.
  return same_shape(*sum, *op.result()) ? sum : nullptr;
}

}  // namespace relaxc
