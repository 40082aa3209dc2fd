// high_product.cpp: products of which only the upper half is kept, in 32 bits.
//
// The problem: TFLite scales a sum x by a mantissa m of 31 bits as x * m / 2^31, rounded. Half a unit of the result is
// bit 30 of the product, so code adds to a number of 64 bits and shifts both of its halves, and vectors of 32-bit lanes
// are split into single numbers.
//
// The method: 2x * m / 2^32 is the same number, and machines round the upper half of a product in one instruction
// (smmulr, Helium's vrmulh). x must have a bit to spare, which is known from constant weights.
#include "compiler/relax/op_def.h"
#include "compiler/transform/graph/quantization/fixed_point.h"
#include "compiler/transform/graph/quantization/integer_range.h"
#include "compiler/transform/graph/quantization/quantized_operand.h"
#include "compiler/transform/graph/rewriting/rewrite.h"

namespace relaxc {

using namespace relax;

namespace {

constexpr int64_t kHalf = int64_t{1} << 30;  // half of 2^31

/// x * multipliers / 2^31, rounded to nearest, ties up.
struct RoundedProduct {
  Value* x = nullptr;
  ChannelNumbers multipliers;
};

std::optional<RoundedProduct> rounded_product_of(const Op& op) {
  const DType i32 = DType::i(32), i64 = DType::i(64);
  if (!op.is("astype") || op.result()->dtype() != i32) return {};
  const Op* shift = producer_of(op.operand(0), "right_shift");
  if (shift == nullptr || uniform_value(shift->operand(1)) != 31.0) return {};
  const Op* sum = producer_of(shift->operand(0), "add");
  if (sum == nullptr || sum->result()->dtype() != i64 || uniform_value(sum->operand(1)) != static_cast<double>(kHalf))
    return {};
  const Op* product = producer_of(sum->operand(0), "multiply");
  const Op* wide = product != nullptr ? producer_of(product->operand(0), "astype") : nullptr;
  if (wide == nullptr || wide->operand(0)->dtype() != i32 || !same_shape(*wide->result(), *op.result())) return {};
  auto multipliers = channel_numbers(product->operand(1));
  if (!multipliers) return {};
  for (double m : multipliers->values)
    if (m < 0 || m > INT32_MAX) return {};
  return RoundedProduct{wide->operand(0), std::move(*multipliers)};
}

}  // namespace

Value* as_high_product(GraphBuilder& b, const Op& op) {
  auto found = rounded_product_of(op);
  const auto range = found ? integer_range(found->x) : std::nullopt;
  if (!range) return nullptr;
  for (size_t i = 0; i < range->low.size(); ++i)
    if (range->low[i] < -kHalf || range->high[i] >= kHalf) return nullptr;
  const std::vector<int64_t> multipliers(found->multipliers.values.begin(), found->multipliers.values.end());
  const IntegerSteps steps(b);
  // The form consists of the rounded product alone.
  MultiplyShift form;
  form.multipliers = multipliers, form.product_shift = 31;
  return steps.product(form, found->x, 31, found->multipliers.from_end, Multiplication::kRoundedHigh);
}

}  // namespace relaxc
