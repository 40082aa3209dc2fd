// fixed_point_quantization.cpp: computes quantizations by multiplications and shifts of integers instead of float32.
//
// The problem: a requantization is a cast, a product, a sum, two comparisons and a rounding of float32. A core without
// a floating-point unit calls a function for each: 300 instructions for one result, more than its sum of products took
// (keyword spotting on a Cortex-M0+: 27 of 44 million instructions). Cores with a unit but without vectors take about
// 15, and an integer form 6.
//
// The method: the values that the sum can have are known from the weights, so either a multiplier, an addend and a
// shift are found that give the same results for all of them, or there are provably none (multiply_shift.h). Without a
// floating-point unit the nearest ones are taken then, which differ where float32 has rounded across a tie. With one,
// float32 stays, unless the option `everywhere` asks for integers: for the few channels of a layer without such numbers
// if code need not be small, else for the layer. Targets with vectors keep float32, which they compute for all lanes.
//
// Models of TFLite say by which integers they are scaled. These rules keep every bit of that: sums of two tensors of
// bytes become two products and one shift on all targets (rescaled_pair.cpp), scaled sums of products one product and
// one shift if such a form gives the same (rescaled_sum.cpp), else multiplications become those of an instruction that
// rounds the upper half of a product (high_product.cpp). Helium has both for vectors. The remaining products get
// factors of 32 bits on all targets (narrow_factor.cpp).
//
// Rejected: float32 arithmetic in integers to the bit, which needs counting of leading zeros for each rounding.
#include <algorithm>
#include <functional>

#include "compiler/transform/graph/quantization/fixed_point.h"
#include "compiler/transform/graph/rewriting/rewrite.h"
#include "compiler/transform/passes.h"
#include "targets/isa_features.h"

namespace relaxc {

using namespace relax;

namespace {

/// Returns the result in fixed point; null if the op stays as it is.
Result<Value*> in_integers(GraphBuilder& b, const Op& op, const FixedPointRules& rules) {
  RELAXC_TRY(Value * better, in_fixed_point(b, op, rules));
  if (better == nullptr && rules.floats == FloatCost::kExpensive) {
    RELAXC_TRY(better, softmax_of_bytes(b, op));
  }
  if (better != nullptr && rules.floats == FloatCost::kExpensive) mark_rounding(b.function());
  return better;
}

FixedPointRules rules_for(const PassContext& context) {
  FixedPointRules rules;
  const bool everywhere = context.option(kFixedPointEverywhere) != 0 || uses_soft_float(context.target);
  rules.floats = everywhere ? FloatCost::kExpensive : FloatCost::kCheap;
  rules.by_channel = context.option(kFixedPointByChannel) != 0;
  rules.multiplication = has_multiply_accumulate_across_vector(context.target) ? Multiplication::kRoundedHigh
                         : has_high_multiply(context.target)                   ? Multiplication::kHigh
                                                                               : Multiplication::kParts;
  return rules;
}

using Replacement = std::function<Result<Value*>(GraphBuilder&, const Op&)>;

/// Replaces ops from the last to the first, so that the end of a chain is replaced before a part of the chain.
Result<Changed> replace_ops(relax::Module& module, PassContext& context, const Replacement& replacement) {
  Changed changed = Changed::kNo;
  for (Function* function : module.functions()) {
    std::vector<Op*> ops = ops_of(function->body(), true);
    std::reverse(ops.begin(), ops.end());
    for (Op* op : ops) {
      if (op->kind != OpKind::kOperator || op->results.size() != 1 || op->result()->unused()) continue;
      GraphBuilder b(module, context.ops, op, context.diag);
      b.location = op->location;
      RELAXC_TRY(Value * better, replacement(b, *op));
      if (better == nullptr) continue;
      if (better->name.empty()) better->name = op->result()->name;
      op->result()->replace_all_uses_with(better);
      changed = Changed::kYes;
    }
  }
  return changed;
}

}  // namespace

Result<Changed> fixed_point_quantization(relax::Module& module, PassContext& context) {
  const bool scalars = context.target.lanes(32) <= 1, rounds = has_rounding_high_multiply(context.target);
  const FixedPointRules rules = rules_for(context);
  RELAXC_TRY(Changed changed, replace_ops(module, context, [](GraphBuilder& b, const Op& op) -> Result<Value*> {
               return rescaled_pair_by_line(b, op);
             }));
  if (scalars || rounds) {
    RELAXC_TRY(const Changed sums, replace_ops(module, context, [&](GraphBuilder& b, const Op& op) {
                 return rescaled_in_one_product(b, op, rules.multiplication);
               }));
    RELAXC_TRY(const Changed others, replace_ops(module, context, [&](GraphBuilder& b, const Op& op) -> Result<Value*> {
                 Value* product = rounds ? as_high_product(b, op) : nullptr;
                 return product != nullptr || !scalars ? product : in_integers(b, op, rules);
               }));
    changed |= sums;
    changed |= others;
  }
  RELAXC_TRY(const Changed narrowed, replace_ops(module, context, [](GraphBuilder& b, const Op& op) -> Result<Value*> {
               return with_narrow_factor(b, op);
             }));
  return changed |= narrowed;
}

}  // namespace relaxc
