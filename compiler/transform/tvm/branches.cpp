// branches.cpp: gives the Ifs of a module the form that TVM's have.
//
// An If of TVM gives one value, to which both branches bind the same name last, and it is in no dataflow block. Its
// type has the dims that both branches give; others are unknown, and a match_cast names them.
#include "compiler/transform/tvm/branches.h"

#include "compiler/transform/tvm/packed.h"

namespace relaxc {
namespace {

using namespace relax;

/// Returns whether `op` is already as TVM has it.
bool has_tvm_form(Context& context, const Op& op) {
  return op.results.size() == 1 && op.binds.empty() &&
         same(op.result()->info, travelling_info(context, op.result()->info));
}

Status pack_yield(Module& module, const OpTable& ops, Region& branch, Diagnostics& diag) {
  Function& function = *branch.function;
  GraphBuilder builder(module, ops, function.make_block(&branch, false), diag);
  builder.location = branch.parent_op->location;
  RELAXC_TRY(Value * packed, pack(builder, branch.results()));
  branch.yield->drop_operands();
  branch.yield->add_operand(packed);
  return Done{};
}

Status pack_results(Module& module, const OpTable& ops, Op& op, Diagnostics& diag) {
  Context& context = module.context();
  for (Region* branch : op.regions) RELAXC_DO(pack_yield(module, ops, *branch, diag));
  std::vector<Value*> old = std::move(op.results);
  op.results.clear();
  std::vector<Info> infos;
  for (const Value* value : old) infos.push_back(value->info);
  Info whole = without(context, packed_info(context, travelling_infos(context, infos)), op.binds);
  Function& function = *op.block->parent->function;
  Value* packed = function.make_result(&op, old.size() == 1 ? old[0]->name : "chosen", whole);
  GraphBuilder builder = builder_after(module, ops, op, diag);
  RELAXC_TRY(std::vector<Value*> values, unpack(builder, packed, infos, op.binds));
  op.binds.clear();
  for (size_t i = 0; i < old.size(); ++i) {
    if (values[i]->name.empty()) values[i]->name = old[i]->name;
    old[i]->replace_all_uses_with(values[i]);
  }
  return Done{};
}

}  // namespace

Status pack_branches(Module& module, const OpTable& ops, Diagnostics& diag) {
  for (Function* function : module.functions())
    for (Op* op : ops_of(function->body(), true)) {
      if (op->kind != OpKind::kIf) continue;
      op->block->dataflow = false;
      if (!has_tvm_form(module.context(), *op)) RELAXC_DO(pack_results(module, ops, *op, diag));
    }
  return Done{};
}

}  // namespace relaxc
