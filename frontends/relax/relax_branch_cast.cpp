// relax_branch_cast.cpp: casts of what an `if` gives, moved into its branches.
#include "compiler/relax/known.h"
#include "frontends/relax/relax_function.h"

namespace relaxc::frontend {

/// Whether `value` is a result that the branches of an `if` know more of than the `if` does, and nobody has used it: a
/// cast of it may as well stand in both branches.
bool RelaxFunctionReader::may_cast_in_branches(const Value& value) const {
  const relax::Op* op = value.op;
  if (op == nullptr || op->kind != relax::OpKind::kIf || op->block->parent != &graph_.region()) return false;
  // The branch around it may give it on.
  bool given_on = value.uses().size() == 1 && value.uses()[0].user == graph_.region().yield;
  if (!value.unused() && !given_on) return false;
  const auto* tensor = value.info->as<relax::TensorInfo>();
  const auto* shape = value.info->as<relax::ShapeInfo>();
  return value.info->kind == relax::InfoKind::kObject || (tensor && !(tensor->shape && tensor->dtype)) ||
         (shape && !shape->dims);
}

/// A handle and a tensor have no common form in memory. What the `if` gives is cast to is the same in both branches,
/// so the casts move there: the handle is opened in its branch, and the tensor is checked in its own.
Result<relax::Value*> RelaxFunctionReader::cast_in_branches(Value* value, Info wanted,
                                                            const std::vector<arith::Var>& binds, Place place) {
  relax::Op& op = *value->op;
  for (relax::Region* side : op.regions) {
    arith::Substitution own;
    std::vector<arith::Var> bound;
    for (arith::Var var : binds) {
      bound.push_back(context_.var(var.name(), var.dtype()));
      function_.facts.bound(bound.back(), function_.facts.range_of(var));
      own[var] = bound.back();
    }
    GraphCursor::Inside inside(graph_, side);
    RELAXC_TRY(Value * seen, cast_to(side->results()[value->index], relax::substitute(context_, wanted, own),
                                     std::move(bound), place));
    side->yield->set_operand(value->index, seen);
  }
  op.binds.insert(op.binds.end(), binds.begin(), binds.end());
  value->info = wanted;
  return value;
}

/// A result of an `if` that is a handle here and a value there, and that no cast has settled.
Status RelaxFunctionReader::check_open_results() {
  Diagnostics& diag = source_.diag();
  bool ok = true;
  for (const relax::Op* op : relax::ops_of(function_.body(), true)) {
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
