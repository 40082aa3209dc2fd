// legalize.cpp: operators become calls of prim funcs made of their own definitions.
//
// What is left at the Relax level is control, shapes and views: those become code of the entry when functions are
// lowered, and so do concatenations whose operands can be written in place and slices that can be read in place. From
// here on nothing else knows an operator.
#include <map>

#include "compiler/analysis/pattern.h"
#include "compiler/relax/builder.h"
#include "compiler/transform/concat_parts.h"
#include "compiler/transform/passes.h"
#include "compiler/transform/tensor_part.h"

namespace relaxc {
namespace {

using namespace relax;

std::string kernel_name(const Op& op) {
  std::string name(op.def->name.text().substr(op.def->name.text().rfind('.') + 1));
  return name;
}

/// The scalar operands of the call: a Prim value for each scalar parameter of the prim func.
void add_scalars(Module& module, PassContext& context, Op& op, const tir::PrimFunc& function) {
  GraphBuilder builder(module, context.ops, &op, context.diag);
  for (const tir::Param& param : function.params)
    if (param.buffer == nullptr) op.add_operand(builder.prim(param.var));
}

void legalize_op(Module& module, PassContext& context, Op& op) {
  std::string name = module.unique_name(kernel_name(op));
  tir::PrimFunc* function = module.add_prim_func(define_op(module.context(), op, name));
  std::vector<Value*> tensors;
  for (Value* operand : op.operands())
    if (operand != nullptr && operand->info->as<TensorInfo>() != nullptr) tensors.push_back(operand);
  op.drop_operands();
  for (Value* tensor : tensors) op.add_operand(tensor);
  op.kind = OpKind::kCallTir;
  op.callee = function->name;
  op.def = nullptr;
  op.attrs = {};
  add_scalars(module, context, op, *function);
}

/// Which values will lie in memory whatever fusion does: those that no spatial kernel makes, or one that will be the
/// epilogue of a reduction.
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

  /// Follows operands of the result's shape, each the first of its op, up to a reduction.
  bool is_epilogue(const Value& value) {
    const Value* at = &value;
    while (at != nullptr && at->op != nullptr && at->op->kind == OpKind::kCallTir && pattern_is_spatial(*at)) {
      const Value* next = nullptr;
      for (const Value* operand : at->op->operands())
        if (next == nullptr && operand->info->as<TensorInfo>() != nullptr && operand->shape() == value.shape() &&
            operand->uses().size() == 1)
          next = operand;
      at = next;
    }
    return at != nullptr && at->op != nullptr && at->op->kind == OpKind::kCallTir;
  }

  const Module& module_;
  std::map<const Value*, bool> spatial_;  // looked up, never walked
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
