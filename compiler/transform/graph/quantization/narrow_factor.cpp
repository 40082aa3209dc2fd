// narrow_factor.cpp: products of 64 bits whose factors have 32.
//
// The problem: TFLite scales a sum by a mantissa of 31 bits, and the product has 64. If a factor is loaded as 64 bits,
// no code generator knows that its upper half is a sign: the product takes three multiplications on AVX2 and on
// Armv7-M, where a product of 32 by 32 bits is one instruction (vpmuldq, smull).
//
// The method: the factor is stored as int32 and widened where it is read. This runs after the last folding of
// constants, which would widen the factor again. A single number is no load: it is in the code, which shows its bits.
#include "compiler/transform/graph/quantization/fixed_point.h"
#include "compiler/transform/graph/quantization/integer_range.h"
#include "compiler/transform/graph/quantization/quantized_operand.h"
#include "compiler/transform/graph/rewriting/rewrite.h"

namespace relaxc {

using namespace relax;

Value* with_narrow_factor(GraphBuilder& b, const Op& op) {
  const DType i32 = DType::i(32), i64 = DType::i(64);
  if (!op.is("multiply") || op.result()->dtype() != i64) return nullptr;
  const Op* wide = producer_of(op.operand(0), "astype");
  if (wide == nullptr || wide->operand(0)->dtype() != i32 || !same_shape(*wide->result(), *op.result())) return nullptr;
  const auto factors = channel_numbers(op.operand(1));
  if (!factors || factors->values.size() == 1) return nullptr;
  for (double factor : factors->values)
    if (factor < INT32_MIN || factor > INT32_MAX) return nullptr;
  const IntegerSteps steps(b);
  const std::vector<int64_t> numbers(factors->values.begin(), factors->values.end());
  Value* narrow = steps.numbers(numbers, factors->from_end);
  return steps.call("multiply", op.operand(0), steps.cast(narrow, i64));
}

}  // namespace relaxc
