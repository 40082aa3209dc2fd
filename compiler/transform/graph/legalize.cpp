// legalize.cpp: operators become calls of prim funcs made of their own definitions.
//
// What is left at the Relax level is control, shapes and views: those become code of the entry when functions are
// lowered, and so do concatenations whose operands can be written in place. From here on nothing else knows an
// operator.
#include "compiler/relax/builder.h"
#include "compiler/transform/concat_parts.h"
#include "compiler/transform/passes.h"

namespace relaxc {
namespace {

using namespace relax;

std::string kernel_name(const Op& op) {
  std::string name(op.def->name.substr(op.def->name.rfind('.') + 1));
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

}  // namespace

Result<Changed> legalize(relax::Module& module, PassContext& context) {
  Changed changed = Changed::kNo;
  for (Function* function : module.functions())
    for (Op* op : ops_of(function->body(), true)) {
      if (op->kind != OpKind::kOperator || op->def->role != Role::kKernel || contiguous_parts(*op)) continue;
      RELAXC_CHECK(op->def->define != nullptr, std::string(op->def->name) + " was not expanded");
      legalize_op(module, context, *op);
      changed = Changed::kYes;
    }
  return changed;
}

}  // namespace relaxc
