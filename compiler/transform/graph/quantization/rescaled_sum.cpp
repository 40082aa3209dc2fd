// rescaled_sum.cpp: sums that a model scales by integers of 64 bits, by one product of 32 bits and one shift.
//
// TFLite scales a sum by a mantissa and a shift for each channel and rounds after each, which is a non-decreasing
// function of the sum. If the result is clamped at its zero point, as by a relu, rounding twice is the same as rounding
// a slightly higher line once, and multiply_shift.h finds it for nearly all layers: the shift is then common to all
// channels, and the bias and the zero point are part of the addend. Negative sums are rounded by another line, so that
// no form is found for results of both signs, and the integers of the model stay.
#include <algorithm>

#include "compiler/relax/op_def.h"
#include "compiler/transform/graph/quantization/fixed_point.h"
#include "compiler/transform/graph/quantization/integer_chain.h"

namespace relaxc {

using namespace relax;

Result<Value*> rescaled_in_one_product(GraphBuilder& b, const Op& op, Multiplication how) {
  if (!op.is("astype") || op.result()->dtype().bits != 8 || op.operand(0)->dtype() != DType::i(32)) return nullptr;
  const auto chain = IntegerChain::ending_with(op);
  if (!chain || !chain->is_wide()) return nullptr;
  std::vector<Staircase> channels;
  int64_t low = INT32_MAX, high = INT32_MIN;
  for (size_t c = 0; c < chain->channels(); ++c) {
    channels.push_back(chain->channel(c));
    low = std::min(low, channels[c].at(channels[c].x_low));
    high = std::max(high, channels[c].at(channels[c].x_high));
  }
  const auto form = multiply_shift_of(channels, low, high, how);
  if (!form || !form->exact) return nullptr;
  const IntegerSteps steps(b);
  Value* y = steps.apply(*form, chain->input(), bits_of(channels), chain->from_end(), how);
  return steps.stored(y, low, high, op.result()->dtype());
}

}  // namespace relaxc
