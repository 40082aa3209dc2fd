// fixed_point_quantization.cpp: quantizations by multiplications and shifts of integers in place of float32.
//
// The problem: a requantization is a cast, a product, a sum, two comparisons and a rounding of float32. A core without
// a floating-point unit calls a function for each: 300 instructions for one result, which is more than the sum of
// products behind it took (keyword spotting on a Cortex-M0+: 27 of 44 million instructions). Cores with a unit but
// without vectors take about 15, and an integer form 6.
//
// The method: the numbers that the sum can become are known from the weights, so a multiplier, an addend and a shift
// are found that give the same results for all of them, or it is known that there are none (multiply_shift.h). Without
// a floating-point unit the nearest ones are taken then, which differ where float32 has rounded across a tie. With one,
// float32 stays, unless the option `everywhere` asks for integers. Vectors stay float32: they have its arithmetic for
// all lanes, and no upper halves of products.
//
// Rejected: float32 arithmetic in integers to the bit, which needs counting of leading zeros for each rounding.
#include "compiler/transform/graph/quantization/fixed_point.h"
#include "compiler/transform/graph/rewriting/rewrite.h"
#include "compiler/transform/passes.h"
#include "targets/float_unit.h"

namespace relaxc {

using namespace relax;

namespace {

Result<Value*> rewritten(GraphBuilder& b, const Op& op, const FixedPointRules& rules) {
  RELAXC_TRY(Value * better, in_fixed_point(b, op, rules));
  if (better == nullptr && rules.floats == FloatCost::kExpensive) return softmax_of_bytes(b, op);
  return better;
}

}  // namespace

Result<Changed> fixed_point_quantization(relax::Module& module, PassContext& context) {
  if (context.target.lanes(32) > 1) return Changed::kNo;
  FixedPointRules rules;
  const bool everywhere = context.option(kFixedPointEverywhere) != 0 || calls_float_functions(context.target);
  rules.floats = everywhere ? FloatCost::kExpensive : FloatCost::kCheap;
  rules.multiplication = has_high_product(context.target) ? Multiplication::kHigh : Multiplication::kParts;
  Changed changed = Changed::kNo;
  for (Function* function : module.functions())
    for (Op* op : ops_of(function->body(), true)) {
      if (op->kind != OpKind::kOperator || op->results.size() != 1 || op->result()->unused()) continue;
      GraphBuilder b(module, context.ops, op, context.diag);
      b.location = op->location;
      RELAXC_TRY(Value * better, rewritten(b, *op, rules));
      if (better == nullptr) continue;
      if (better->name.empty()) better->name = op->result()->name;
      if (rules.floats == FloatCost::kExpensive) mark_rounding(*function);
      op->result()->replace_all_uses_with(better);
      changed = Changed::kYes;
    }
  return changed;
}

}  // namespace relaxc
