// recognize_quantization.cpp: turns quantized networks into networks of integers.
//
// The problem: exporters write a quantized network in floats, each operator between a dequantization of its operands
// and a quantization of its result. Computed as written it is slower than the float network.
//
// The method: a dequantization moves past ops that only move elements or select the largest; one that is quantized
// again by the same numbers is removed. Products with constant weights, of dequantized tensors or of integers less
// their zero points (QLinearConv, MatMulInteger and the like), are written as sums of products of bytes, to which the
// contributions of the zero points are added (integer_product.cpp). All other element-wise ops stay float arithmetic:
// fused with its quantizations, an op reads and writes bytes, which is what it costs. A function of one quantized
// tensor that is expensive to compute becomes a table of its 256 results (lookup_table.cpp).
//
// Products of floats by weights of few bits read them as they are stored (block_weights.cpp).
//
// Accuracy: sums are exact, so a product only has the rounding errors of its scale: float32 of the sum, times the
// scale, divided by that of the result. They are far below half a quantum, so a result differs from exact arithmetic by
// at most one quantum, and only next to a tie.
//
// A requantization by a fixed-point multiplier and shift (Jacob et al., CVPR 2018) has the same error and costs more
// than float32 in vectors; machines without vectors get it later (fixed_point_quantization.cpp).
#include <algorithm>

#include "compiler/transform/graph/dead_code.h"
#include "compiler/transform/graph/moves/transpose_sinking.h"
#include "compiler/transform/graph/quantization/block_weights.h"
#include "compiler/transform/graph/quantization/integer_mean.h"
#include "compiler/transform/graph/quantization/integer_product.h"
#include "compiler/transform/graph/quantization/lookup_table.h"
#include "compiler/transform/graph/quantization/requantization.h"
#include "compiler/transform/graph/rewriting/rewrite.h"
#include "compiler/transform/passes.h"
#include "targets/isa_features.h"

namespace relaxc {
namespace {

using namespace relax;

/// Returns whether the operator moves elements of its first operand, or chooses among them by their order.
bool keeps_values(const Op& op) {
  if (op.kind != OpKind::kOperator || op.results.size() != 1) return false;
  if (op.def->role == Role::kView || op.is("permute_dims")) return true;
  if (op.is("take")) return true;  // it moves rows of its first operand, such as a table of words
  return op.is("nn.max_pool") && !op.attrs.flag("indices");
}

Op* dequantization(const Value* value) {
  return producer_of(value, "dequantize");
}

/// Replaces keeps_values(dequantize(q)) by dequantize(keeps_values(q)).
Result<Value*> move_below(GraphBuilder& b, const Op& op) {
  Op* inner = keeps_values(op) ? dequantization(op.operand(0)) : nullptr;
  if (inner == nullptr || !inner->operand(0)->dtype().is_integer()) return nullptr;
  bool single = is_single(*inner->operand(1)) && (inner->operand(2) == nullptr || is_single(*inner->operand(2)));
  if (op.is("nn.max_pool")) {
    auto known = quantization_parameters(*inner);
    if (!known || !(known->first > 0)) return nullptr;
  }
  Attrs attrs = inner->attrs;
  if (!single) {
    if (!op.is("permute_dims") || op.attrs.ints("axes").empty()) return nullptr;
    std::vector<int64_t> axes = op.attrs.ints("axes");
    int64_t rank = static_cast<int64_t>(axes.size()), axis = attrs.integer("axis");
    for (size_t i = 0; i < axes.size(); ++i)
      if ((axes[i] - axis) % rank == 0) attrs.set("axis", static_cast<int64_t>(i));
  }
  std::vector<Value*> operands = op.operands();
  operands[0] = inner->operand(0);
  RELAXC_TRY(Value * moved, b.call(op.def->name, operands, op.attrs));
  operands = inner->operands();
  operands[0] = moved;
  return b.call("dequantize", operands, attrs, op.result()->name);
}

/// Returns q for a quantize(dequantize(q)) by the same numbers whose floats distinguish all values of q; else null.
Value* quantized_again(const Op& op) {
  Op* inner = op.is("quantize") ? dequantization(op.operand(0)) : nullptr;
  if (inner == nullptr || inner->operand(0)->dtype() != op.result()->dtype()) return nullptr;
  if (inner->operand(0)->dtype().bits > 8 && inner->result()->dtype() != DType::f(32)) return nullptr;
  auto a = quantization_parameters(*inner), b = quantization_parameters(op);
  return a && a == b && a->first > 1e-30 && a->first < 1e30 ? inner->operand(0) : nullptr;
}

class QuantizationRecognition {
 public:
  QuantizationRecognition(Module& module, PassContext& context)
      : module_(module),
        context_(context),
        products_(module, context.ops, context.diag,
                  {.whole_words = context.target.dots.of(context.target.vector_bits) != DotProduct::kNone,
                   .data = has_multiply_accumulate_across_vector(context.target) ? DType::i(8) : DType::u(8)}) {}

  /// Replaces products of dequantized tensors by products of bytes.
  Result<Changed> multiply(Function& function) {
    IntegerMeans means;
    RELAXC_DO(each(function, [&](GraphBuilder& b, Op& op) -> Result<Value*> {
      if (Value* same = quantized_again(op)) return same;
      RELAXC_TRY(Value * moved, move_below(b, op));
      return moved != nullptr ? Result<Value*>(moved) : means.rewrite(b, op);
    }));
    RELAXC_TRY(Changed tables, look_up_expensive_functions(module_, function, context_));
    changed_ |= tables;
    std::vector<Op*> transposed;
    RELAXC_DO(each(function, [&](GraphBuilder&, Op& op) { return products_.rewrite(op, transposed); }));
    RELAXC_DO(each(function, [&](GraphBuilder& b, Op& op) { return as_product_of_block_weights(b, op); }));
    if (!has_signed_byte_dot_product(context_.target))
      RELAXC_DO(each(function, [&](GraphBuilder& b, Op& op) { return as_unsigned_product(b, op); }));
    RELAXC_DO(sink_transposes(module_, context_.ops, context_.diag, std::move(transposed)));
    return changed_;
  }

  /// Replaces the float operators between products of bytes by requantizations.
  Status requantize(Function& function) {
    return each(function, [&](GraphBuilder& b, Op& op) { return as_requantization(b, op); });
  }

 private:
  /// Replaces the result of every operator by what `f` returns for it (null: it stays), in the order of the program.
  template <typename F>
  Status each(Function& function, F f) {
    for (Op* op : ops_of(function.body(), true)) {
      if (op->kind != OpKind::kOperator || op->results.size() != 1 || op->result()->unused()) continue;
      if (op->result()->info->as<TensorInfo>() == nullptr) continue;
      GraphBuilder b(module_, context_.ops, op, context_.diag);
      b.location = op->location;
      RELAXC_TRY(Value * better, f(b, *op));
      if (better == nullptr) continue;
      if (better->name.empty()) better->name = op->result()->name;
      op->result()->replace_all_uses_with(better);
      changed_ = Changed::kYes;
    }
    return Done{};
  }

  Module& module_;
  PassContext& context_;
  IntegerProducts products_;
  Changed changed_ = Changed::kNo;
};

}  // namespace

Result<Changed> recognize_quantization(relax::Module& module, PassContext& context) {
  Changed changed = Changed::kNo;
  for (Function* function : module.functions()) {
    RELAXC_TRY(Changed here, QuantizationRecognition(module, context).multiply(*function));
    changed |= here;
  }
  if (changed == Changed::kNo) return changed;
  remove_dead_ops(module);  // only its replacement uses what was moved
  for (Function* function : module.functions())
    RELAXC_DO(QuantizationRecognition(module, context).requantize(*function));
  return changed;
}

}  // namespace relaxc
