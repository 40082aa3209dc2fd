// expand_ops.cpp: replaces operators that mean other operators by them.
//
// LSTM, norms and most function-body operators of ONNX are defined by expansion, so that what follows (folding, fusion,
// schedules) sees the matmuls inside. An expansion may contain operators that expand again; the walk goes on with what
// it has inserted.
#include "compiler/relax/builder.h"
#include "compiler/transform/passes.h"

namespace relaxc {
namespace {

using namespace relax;

Op* first_expandable(Function& function) {
  for (Op* op : ops_of(function.body(), true))
    if (op->kind == OpKind::kOperator && op->def->expand != nullptr) return op;
  return nullptr;
}

Status expand(Module& module, Op& op, PassContext& context) {
  Diagnostics& diag = context.diag;
  GraphBuilder builder(module, context.ops, &op, diag);
  RELAXC_TRY(std::vector<Value*> values, op.def->expand(builder, op));
  RELAXC_CHECK(values.size() == op.results.size(), std::string(op.def->name) + " expands to another number of results");
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i]->name.empty()) values[i]->name = op.results[i]->name;
    op.results[i]->replace_all_uses_with(values[i]);
  }
  Region& region = *op.block->parent;
  erase_ops(
      region, [&](Op* other) { return other == &op; }, false);
  return Done{};
}

}  // namespace

Result<Changed> expand_ops(relax::Module& module, PassContext& context) {
  Diagnostics& diag = context.diag;
  Changed changed = Changed::kNo;
  for (Function* function : module.functions())
    while (Op* op = first_expandable(*function)) {
      RELAXC_DO(expand(module, *op, context));
      changed = Changed::kYes;
    }
  return changed;
}

}  // namespace relaxc
