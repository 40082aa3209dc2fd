// softmax.cpp: softmax of floats and of stored integers.
//
// Bytes: exp of the distance to the row's maximum is one of 256 numbers with 31 fractional bits, from a table made
// here. Their sum has 12 integer bits; its reciprocal is found by Newton's method, and the product with it is rounded
// to the result. 16 bits: exp and the reciprocal are interpolated in tables of 513 entries.
#include <cmath>

#include "frontends/tflite/fixed_point.h"
#include "frontends/tflite/operators.h"

namespace relaxc::tflite::softmax_family {
namespace {

constexpr int kScaledBits = 5, kSumBits = 12;

/// Returns exp(-d * scale * beta) for each distance d of stored bytes, and 0 beyond TFLite's cutoff.
Ints exp_table(double beta, double scale) {
  constexpr double kMost = 2147483647.0;
  Multiplier m = multiplier_of(std::min(beta * scale * (1 << (31 - kScaledBits)), kMost));
  double radius = std::floor(((1 << kScaledBits) - 1) * std::ldexp(1.0, 31 - kScaledBits - m.shift));
  Ints table;
  for (int32_t d = 0; d < 256; ++d) table.push_back(d > radius ? 0 : fixed_exp(scaled(-d, m), kScaledBits));
  return table;
}

Status softmax_of_bytes(Node& node, Value* x, float beta) {
  DType stored = node.result_type({node.type(), TensorType::INT16});
  Value* largest = node.reduce("max", x, {-1});
  Value* whole = node.i32(x);
  Value* distance = node.subtract(node.i32(largest), whole);
  Value* table = node.list(DType::i(32), exp_table(beta, node.scale_of(node.in(0))));
  Value* exp = node.call("take", {table, node.as(distance, DType::u(8))}, {{"axis", int64_t{0}}});
  // Round to nearest without overflow: shift by one bit less, add 1, then halve.
  auto shifted = [&](Value* v, int64_t by) { return node.call("right_shift", {v, node.like(v, double(by))}); };
  Value* sum = node.reduce("sum", shifted(node.add(shifted(exp, kSumBits - 1), 1), 1), {-1});
  FixedPoint fixed(node);
  Value* zeros = fixed.leading_zeros(sum);
  Value* above_one = node.call("bitwise_and", {node.call("left_shift", {sum, zeros}), node.like(sum, INT32_MAX)});
  Value* shift = node.add(zeros, stored.bits - 31 - kSumBits);
  Value* share = fixed.scale(exp, fixed.reciprocal(above_one), shift);
  return node.set(node.store(share, {.dtype = stored, .zero_point = limits_of(stored).low}));
}

Status softmax_of_16_bits(Node& node, Value* x, float beta) {
  constexpr double kRange = 65535.0;
  std::vector<int16_t> exps =
      table_of_16_bits<double>(10.0 / kRange, INT16_MAX, 2.0 / kRange, 0, [](double v) { return std::exp(v); });
  std::vector<int16_t> reciprocals =
      table_of_16_bits<double>(1.0 / kRange, INT16_MIN, 2.0 / kRange, 0, [](double v) { return 1.0 / (1.0 + v); });
  Multiplier m = multiplier_of(static_cast<double>(node.scale_of(node.in(0)) * beta) / (10.0 / kRange));
  Value* largest = node.i32(node.reduce("max", x, {-1}));
  Value* difference = node.subtract(node.i32(x), largest);
  Value* place = node.clamp(node.add(node.scale(difference, m), 32767), -32768, 32767);
  Value* exp = node.interpolate(place, exps);
  Value* sum = node.reduce("sum", exp, {-1});
  Value* zeros = FixedPoint(node).leading_zeros(sum);
  Value* shifted = node.call("left_shift", {node.as(sum, DType::i(64)), node.add(zeros, -1)});
  shifted = node.i32(node.call("right_shift", {node.add(shifted, 1 << 13), node.like(shifted, 14)}));
  place = node.clamp(node.add(shifted, -((1 << 15) + (1 << 16))), -32768, 32767);
  Value* reciprocal = node.interpolate(place, reciprocals);
  Value* right = node.subtract(node.like(zeros, 31), zeros);
  Value* half = node.call("left_shift", {node.like(right, 1), node.add(right, -1)});
  Value* y = node.call("right_shift", {node.add(node.multiply(exp, reciprocal), half), right});
  return node.set(node.as(node.clamp(y, 0, 32767), DType::i(16)));
}

Status softmax(Node& node) {
  float beta = node.options<tflite_schema::SoftmaxOptions>().beta();
  Value* x = node.input(0);
  if (!node.ok()) return node.status();
  if (node.rank(x) < 1) return node.error(Kind::rank_mismatch, "the data has no dims");
  if (node.type() == TensorType::FLOAT32) return node.set(node.call("nn.softmax", {node.multiply(x, beta)}));
  return node.type() == TensorType::INT16 ? softmax_of_16_bits(node, x, beta) : softmax_of_bytes(node, x, beta);
}

constexpr Row kRows[] = {
    {.code = BuiltinOperator::SOFTMAX,
     .convert = softmax,
     .types = kF32 | kQuantized,
     .rounding = "double, from exp with 31 fractional bits; int16: once, from tables"},
};

}  // namespace
}  // namespace relaxc::tflite::softmax_family

RELAXC_TFLITE_OPERATORS(softmax, kRows)
