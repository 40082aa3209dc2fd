// branch_cast.cpp: moves casts of an `if`'s results into its branches.
#include "compiler/relax/known.h"
#include "frontends/relax/function/casts.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;
using relax::Info;
using relax::Value;

bool may_cast_in_branches(const FunctionParts& fn, const Value& value) {
  const relax::Op* op = value.op;
  if (op == nullptr || op->kind != relax::OpKind::kIf || op->block->parent != &fn.graph.region()) return false;
  // The branch around this `if` may yield the value.
  bool given_on = value.has_one_use() && value.uses()[0].user == fn.graph.region().yield;
  if (!value.unused() && !given_on) return false;
  const auto* tensor = value.info->as<relax::TensorInfo>();
  const auto* shape = value.info->as<relax::ShapeInfo>();
  return value.info->kind == relax::InfoKind::kObject || (tensor && !(tensor->shape && tensor->dtype)) ||
         (shape && !shape->dims);
}

Result<relax::Value*> cast_in_branches(FunctionParts& fn, Value* value, Info wanted,
                                       const std::vector<arith::Var>& binds, Place place) {
  relax::Op& op = *value->op;
  for (relax::Region* side : op.regions) {
    arith::Substitution own;
    std::vector<arith::Var> bound;
    for (arith::Var var : binds) {
      bound.push_back(fn.context().var(var.name(), var.dtype()));
      fn.function.facts.bound(bound.back(), fn.function.facts.range_of(var));
      own[var] = bound.back();
    }
    GraphCursor::Inside inside(fn.graph, side);
    RELAXC_TRY(Value * seen, cast_to(fn, side->results()[value->index], relax::substitute(fn.context(), wanted, own),
                                     std::move(bound), place));
    side->yield->set_operand(value->index, seen);
  }
  op.binds.insert(op.binds.end(), binds.begin(), binds.end());
  value->info = wanted;
  return value;
}

Status check_open_results(FunctionParts& fn) {
  Diagnostics& diag = fn.source.diag();
  bool ok = true;
  for (const relax::Op* op : relax::ops_of(fn.function.body(), true)) {
    if (op->kind != relax::OpKind::kIf) continue;
    for (const Value* result : op->results) {
      Info a = op->regions[0]->results()[result->index]->info, b = op->regions[1]->results()[result->index]->info;
      if (result->info->kind != relax::InfoKind::kObject || a->kind == b->kind) continue;
      diag.error(op->location, Kind::unsupported, "the branches give '{}' as {} and as {}", result->name,
                 relax::to_string(a), relax::to_string(b));
      diag.note(nullptr,
                "a handle and what it may point to have no common form in memory: R.match_cast '{}' to what it "
                "is, first thing after the 'if'",
                result->name);
      ok = false;
    }
  }
  if (!ok) return diag.failed();
  return Done{};
}

}  // namespace relaxc::frontend
