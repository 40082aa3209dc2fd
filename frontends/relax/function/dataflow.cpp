// dataflow.cpp: reads dataflow blocks; only symbols and the names in R.output stay valid after them.
#include "frontends/relax/function/statements.h"
#include "frontends/relax/text/literals.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;
using ast::StmtKind;
namespace {

/// Reads the statements of the block; appends names in R.output to `exported`. Returns false after an error.
bool read_statements(FunctionParts& fn, const Body& body, std::vector<const ast::Expr*>& exported) {
  bool ok = true;
  for (const ast::Stmt* stmt : body) {
    const ast::Expr* call = stmt->kind == StmtKind::kExpr && stmt->value->is(AstKind::kCall) ? stmt->value : nullptr;
    std::string path = call == nullptr ? std::string() : fn.names.path_of(*call->items[0]);
    if (path == "R.output" || path == "R.outputs") {
      exported.insert(exported.end(), call->items.begin() + 1, call->items.end());
      continue;
    }
    if (stmt->kind == StmtKind::kReturn) {
      (void)fn.source.error(stmt->place, Kind::ill_formed, "'return' must come after the dataflow block, not inside");
      ok = false;
      continue;
    }
    if (statement(fn, *stmt)) continue;
    ok = false;
    fn.names.poison(stmt->target);
  }
  return ok;
}

using Kept = std::vector<std::pair<std::string, Term>>;

/// Looks up the exported names and appends them to `kept`. Returns false after an error.
bool find_exported(FunctionParts& fn, const std::vector<const ast::Expr*>& exported, Kept& kept) {
  bool ok = true;
  for (const ast::Expr* name : exported) {
    auto* known = name->is(AstKind::kName) ? fn.names.find_own(name->text) : nullptr;
    if (known != nullptr) {
      kept.emplace_back(name->text, known->value);
      continue;
    }
    ok = false;
    if (name->is(AstKind::kName))
      (void)fn.names.unbound(*name, false);
    else
      (void)fn.source.error(name->place, Kind::ill_formed, "R.output takes names, found {}", describe(*name));
  }
  return ok;
}

/// Leaves a block: its symbols stay visible, and other names are hidden unless they are in `kept`.
void leave_block(FunctionParts& fn, const Names::Frame& frame, Kept kept, Place place) {
  for (const auto& [name, binding] : frame) {
    // A poisoned name stays poisoned outside, since its error was reported.
    bool symbol = binding.value.kind == Term::kScalar || binding.value.kind == Term::kPoison;
    if (symbol)
      fn.names.bind(name, binding.value, binding.place);
    else
      fn.names.hide(name, binding.place,
                    "it belongs to a dataflow block that has ended; name it in R.output to use it after");
  }
  for (auto& [name, term] : kept) {
    fn.names.unhide(name);
    fn.names.bind(name, std::move(term), place);
  }
}

}  // namespace

Status dataflow(FunctionParts& fn, const ast::Stmt& stmt) {
  if (fn.graph.in_dataflow())
    return fn.source.error(stmt.place, Kind::ill_formed, "a dataflow block cannot be inside another");
  GraphCursor::Dataflow block(fn.graph);
  Names::Inner own_names(fn.names);
  std::vector<const ast::Expr*> exported;
  Kept kept;
  bool ok = read_statements(fn, stmt.body, exported);
  ok &= find_exported(fn, exported, kept);
  leave_block(fn, own_names.leave(), std::move(kept), stmt.place);
  if (!ok) return fn.source.diag().failed();
  return Done{};
}

}  // namespace relaxc::frontend
