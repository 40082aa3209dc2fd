// names.cpp: binds and finds the names of a Relax function.
#include "frontends/relax/function/names.h"

#include <fmt/ranges.h>

#include "compiler/support/suggest.h"
#include "frontends/relax/function/parts.h"
#include "frontends/relax/text/literals.h"
#include "frontends/relax/text/name_uses.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;

namespace {

/// Returns the type of a term; empty if it has none.
std::string type_of_term(const Term& term) {
  switch (term.kind) {
    case Term::kValue:
      return term.value->info == nullptr ? "" : relax::to_string(term.value->info);
    case Term::kScalar:
      return fmt::format("R.Prim(\"{}\")", prim_dtype_text(term.scalar.expr.dtype()));
    case Term::kSequence: {
      std::vector<std::string> items;
      for (const Term& item : term.items) items.push_back(type_of_term(item));
      return fmt::format("R.Tuple({})", fmt::join(items, ", "));
    }
    default:
      return {};
  }
}

}  // namespace

void Names::tell(const std::string& name, const Term& term, Place place) const {
  if (parts_.scope.bound) parts_.scope.bound(place, name, type_of_term(term));
}

void Names::bind(const std::string& name, Term term, Place place) {
  tell(name, term, place);
  scopes_.bind(name, std::move(term), place);
}

Names::Binding* Names::find_own(std::string_view name) {
  Binding* known = scopes_.find(name);
  if (known != nullptr && known->value.kind == Term::kValue)
    known->value.value = parts_.memory.current(known->value.value);
  return known;
}

Names::Binding* Names::find(const std::string& name) {
  Binding* known = find_own(name);
  if (known != nullptr || parts_.captures == nullptr) return known;
  std::optional<Captures::Found> outer = parts_.captures->find(name);
  if (!outer) return nullptr;
  scopes_.bind_outermost(name, std::move(outer->term), outer->place);
  return scopes_.find(name);
}

std::string Names::path_of(const ast::Expr& e) {
  std::optional<std::string> path = dotted_path(e);
  if (!path) return {};
  if (find(path->substr(0, path->find('.'))) != nullptr) return {};
  if (path->rfind("tir.", 0) == 0) return "T." + path->substr(4);
  for (std::string_view prefix : {"relax.op.", "relax."})
    if (path->rfind(prefix, 0) == 0) return "R." + path->substr(prefix.size());
  return *path;
}

void Names::assign(const std::string& name, Term term, Place place) {
  if (term.kind == Term::kValue && term.value->name.empty()) term.value->name = name;
  if (assigned_ != nullptr) assigned_->push_back(name);
  hidden_.erase(name);
  bind(name, std::move(term), place);
}

void Names::poison(const ast::Expr* target) {
  if (target == nullptr) return;
  if (target->is_sequence())
    for (const ast::Expr* item : target->items) poison(item);
  else if (target->is(AstKind::kName) && scopes_.find(target->text) == nullptr)
    assign(target->text, {}, target->place);
  else if (target->is(AstKind::kName))
    bind(target->text, {}, target->place);
}

void Names::poison(const std::vector<const ast::Stmt*>& body) {
  for (const ast::Stmt* stmt : body) {
    poison(stmt->target);
    if (stmt->kind == ast::StmtKind::kFunction) bind(stmt->text, {}, stmt->name_place);
    for (const ast::WithItem& item : stmt->with) poison(item.target);
    poison(stmt->body);
    poison(stmt->orelse);
  }
}

void Names::poison_mentioned(const ast::Expr* annotation) {
  if (annotation == nullptr) return;
  for (const std::string& name : names_used(*annotation))
    if (scopes_.find(name) == nullptr && name != "R" && name != "T") scopes_.bind(name, {}, annotation->place);
}

arith::Var Names::declare_symbol(const std::string& name, DType dtype, Place place) {
  arith::Var var = parts_.context().var(name, dtype);
  open_.insert(var);
  bind(name, Term::of(Scalar{var}), place);
  return var;
}

Failure Names::unbound(const ast::Expr& e, bool dims) {
  SourceText& source = parts_.source;
  Failure failure = source.error(e.place, Kind::unbound_name, "the name '{}' is not bound", e.text);
  if (source.suppressed()) return failure;
  if (auto inside = hidden_.find(e.text); inside != hidden_.end()) {
    source.note(inside->second.place, "{}", inside->second.way_out);
    return failure;
  }
  auto wanted = [&](const Term& term) {
    if (term.kind == Term::kPoison) return false;
    bool scalar = term.kind == Term::kScalar || (term.kind == Term::kValue && term.value->info->as<relax::PrimInfo>());
    return !dims || scalar;
  };
  std::vector<std::string> names = scopes_.names(wanted);
  if (!dims)
    for (std::string& global : parts_.scope.global_names()) names.push_back(std::move(global));
  if (auto near = nearest_name(e.text, names)) source.hint("did you mean '{}'?", *near);
  return failure;
}

bool Names::is_read_later(const std::string& name) const {
  for (const std::set<std::string>& names : later_)
    if (names.count(name) != 0) return true;
  return false;
}

}  // namespace relaxc::frontend
