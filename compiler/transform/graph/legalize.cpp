// legalize.cpp: replaces operators by calls of prim funcs made from their definitions.
//
// Control flow, shapes and views stay at the Relax level: they become code of the entry when functions are lowered, and
// so do concatenations whose operands can be written in place and slices that can be read in place. After this pass
// nothing else depends on operators.
#include <map>

#include "compiler/analysis/pattern.h"
#include "compiler/relax/builder.h"
#include "compiler/tir/visit.h"
#include "compiler/transform/concat_parts.h"
#include "compiler/transform/passes.h"
#include "compiler/transform/tensor_part.h"
#include "targets/isa_features.h"

namespace relaxc {
namespace {

using namespace relax;

std::string kernel_name(const Op& op) {
  std::string name(op.def->name.text().substr(op.def->name.text().rfind('.') + 1));
  return name;
}

/// Adds the scalar operands of the call: a Prim value for each scalar parameter of the prim func.
void add_scalars(Module& module, PassContext& context, Op& op, const tir::PrimFunc& function) {
  GraphBuilder builder(module, context.ops, &op, context.diag);
  for (const tir::Param& param : function.params)
    if (param.buffer == nullptr) op.add_operand(builder.prim(param.var));
}

/// Returns the value of a constant of one integer, which instructions can hold; nothing for any other value.
std::optional<int64_t> immediate(const Value& value) {
  const bool constant = value.op != nullptr && value.op->kind == OpKind::kConstant && value.shape().empty();
  if (!constant || !value.dtype().is_integer() || value.dtype().bits < 8) return std::nullopt;
  int64_t number = 0;
  value.op->constant->with_bytes(
      [&](std::span<const std::byte> bytes) { number = decode_integer(value.dtype(), bytes.data()); });
  return number;
}

/// Replaces parameters that are known integers by their values. A kernel that takes them as arguments would load them,
/// and could not see that a shift is by less than the bits of a register. Targets with vectors keep kernels that layers
/// share, except for Helium, on whose machines code is the smaller part. Shifts of 64 bits take them in everywhere:
/// AVX2 has no arithmetic one, and with a known distance a logical one gives the bits that are kept.
void take_in_numbers(arith::Context& context, tir::PrimFunc& function, std::vector<Value*>& tensors) {
  std::map<tir::BufferRef, arith::Expr> numbers;  // looked up only
  for (size_t i = tensors.size(); i-- > 0;) {
    const std::optional<int64_t> number = immediate(*tensors[i]);
    if (!number || function.params[i].buffer == nullptr) continue;
    numbers.emplace(function.params[i].buffer, context.imm(tensors[i]->dtype(), *number));
    function.params.erase(function.params.begin() + static_cast<std::ptrdiff_t>(i));
    tensors.erase(tensors.begin() + static_cast<std::ptrdiff_t>(i));
  }
  if (numbers.empty()) return;
  tir::Rewriter rewriter;
  rewriter.on_expr = [&](arith::Expr e) {
    return arith::rewrite(e, [&](arith::Expr node) {
      const auto* load = node.as<arith::Load>();
      auto found = load == nullptr ? numbers.end() : numbers.find(load->buffer);
      return found == numbers.end() ? node : found->second;
    });
  };
  function.body = tir::rewrite(context, function.body, rewriter);
}

void legalize_op(Module& module, PassContext& context, Op& op) {
  std::string name = module.unique_name(kernel_name(op));
  tir::PrimFunc* function = module.add_prim_func(define_op(module.context(), op, name));
  std::vector<Value*> tensors;
  for (Value* operand : op.operands())
    if (operand != nullptr && operand->info->as<TensorInfo>() != nullptr) tensors.push_back(operand);
  const bool shifts_wide = (op.is("right_shift") || op.is("left_shift")) && op.result()->dtype().bits == 64;
  op.drop_operands();
  if (shifts_wide || context.target.lanes(32) <= 1 || has_multiply_accumulate_across_vector(context.target))
    take_in_numbers(module.context(), *function, tensors);
  for (Value* tensor : tensors) op.add_operand(tensor);
  op.kind = OpKind::kCallTir;
  op.callee = function->name;
  op.def = nullptr;
  op.attrs = {};
  add_scalars(module, context, op, *function);
}

/// Tells which values will be in memory whatever fusion does: those that no spatial kernel makes, and those whose
/// kernel will be the epilogue of a reduction.
class InMemory {
 public:
  explicit InMemory(const Module& module) : module_(module) {}

  bool holds(const Value& value) {
    if (value.op == nullptr || value.op->kind != OpKind::kCallTir) return true;
    return !pattern_is_spatial(value) || is_epilogue(value);
  }

 private:
  bool pattern_is_spatial(const Value& value) {
    auto [known, fresh] = spatial_.emplace(&value, false);
    if (fresh) known->second = analysis::classify(*module_.find_prim_func(value.op->callee)).spatial();
    return known->second;
  }

  /// Follows operands that have the result's shape and no other reader, the first of each op, up to a reduction.
  bool is_epilogue(const Value& value) {
    const Value* at = &value;
    while (at != nullptr && at->op != nullptr && at->op->kind == OpKind::kCallTir && pattern_is_spatial(*at)) {
      const Value* next = nullptr;
      for (const Value* operand : at->op->operands())
        if (next == nullptr && operand->info->as<TensorInfo>() != nullptr && operand->shape() == value.shape() &&
            operand->has_one_use())
          next = operand;
      at = next;
    }
    return at != nullptr && at->op != nullptr && at->op->kind == OpKind::kCallTir;
  }

  const Module& module_;
  std::map<const Value*, bool> spatial_;  // looked up only
};

}  // namespace

Result<Changed> legalize(relax::Module& module, PassContext& context) {
  Changed changed = Changed::kNo;
  InMemory in_memory(module);
  for (Function* function : module.functions())
    for (Op* op : ops_of(function->body(), true)) {
      if (op->kind != OpKind::kOperator || op->def->role != Role::kKernel || contiguous_parts(*op)) continue;
      if (contiguous_part(*op) && in_memory.holds(*op->operand(0))) continue;
      RELAXC_CHECK(op->def->define != nullptr, std::string(op->def->name.text()) + " was not expanded");
      legalize_op(module, context, *op);
      changed = Changed::kYes;
    }
  return changed;
}

}  // namespace relaxc
