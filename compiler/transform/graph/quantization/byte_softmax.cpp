// byte_softmax.cpp: the softmax of a quantized tensor in integers.
//
// exp((q - top) * scale) of the 256 differences q - top is a table of integers, as large as the sum of a row allows in
// 31 bits. A result is the quotient of two of these integers, divided by the scale of the result; the numerator has
// room for that if there are at most 256 steps to 1. Only the table is rounded: each entry is off by at most a half, so
// that a row of 1,024 leaves 21 bits and 256 steps are off by a thousandth of one.
#include <algorithm>
#include <cmath>

#include "compiler/transform/graph/quantization/fixed_point.h"
#include "compiler/transform/graph/quantization/quantized_operand.h"
#include "compiler/transform/graph/quantization/requantization.h"
#include "compiler/transform/graph/rewriting/rewrite.h"

namespace relaxc {

using namespace relax;

Result<Value*> softmax_of_bytes(GraphBuilder& b, const Op& op) {
  const Op* softmax = op.is("quantize") ? producer_of(op.operand(0), "nn.softmax") : nullptr;
  const Op* inner = softmax != nullptr ? producer_of(softmax->operand(0), "dequantize") : nullptr;
  if (inner == nullptr || inner->operand(0)->dtype().bits != 8 || op.result()->dtype().bits != 8) return nullptr;
  const auto from = quantization_parameters(*inner), to = quantization_parameters(op);
  if (!from || !to || !(from->first > 0) || !(to->first >= 1.0 / 256)) return nullptr;
  const int64_t axis = softmax->attrs.integer("axis"), rank = static_cast<int64_t>(op.result()->shape().size());
  const int64_t* length = op.result()->shape()[static_cast<size_t>((axis + rank) % rank)].constant();
  constexpr int64_t kLongest = 1024;
  if (length == nullptr || *length < 1 || *length > kLongest) return nullptr;

  // The largest entry times the steps of the result, and the sum of a row plus the rounding half, fit 31 bits.
  const double steps_to_one = 1 / to->first;
  const int bits = 30 - std::max(9, std::ilogb(static_cast<double>(*length)) + 1);
  std::vector<int64_t> table;
  for (int64_t difference = 0; difference < 256; ++difference)
    table.push_back(std::llround(std::ldexp(std::exp(-static_cast<double>(difference) * from->first), bits)));
  const IntegerSteps steps(b);
  Value* x = steps.cast(inner->operand(0), DType::i(32));
  const Attrs along{{"axis", std::vector<int64_t>{axis}}, {"keepdims", true}};
  RELAXC_TRY(Value * top, b.call("max", {x}, along));
  Value* exps = steps.numbers(table, 0);
  if (exps->shape().empty()) return nullptr;  // all differences give 1: the scale is next to 0
  RELAXC_TRY(Value * power, b.call("take", {exps, steps.call("subtract", top, x)}, {{"axis", int64_t{0}}}));
  RELAXC_TRY(Value * sum, b.call("sum", {power}, along));
  // The lowest bit of the doubled quotient rounds it: ties are between numbers of the table, themselves rounded.
  const auto doubled = static_cast<int64_t>(std::llround(2 * steps_to_one));
  if (static_cast<double>(doubled) != 2 * steps_to_one) return nullptr;
  Value* quotient = steps.call("floor_divide", steps.call("multiply", power, static_cast<double>(doubled)), sum);
  Value* rounded = steps.call("right_shift", steps.call("add", quotient, 1), 1);
  const DType dtype = op.result()->dtype();
  const int64_t low = dtype.is_int() ? -128 : 0;
  rounded = steps.call("add", rounded, static_cast<double>(to->second));
  return steps.stored(rounded, low, low + 255, dtype);
}

}  // namespace relaxc
