// statements.cpp: reads the statements of a Relax function.
//
// An error in one statement does not end the function: its targets are marked as failed, so that their uses report
// nothing, and the next statement is read. So each mistake is reported exactly once.
#include "frontends/relax/function/statements.h"

#include <algorithm>

#include "compiler/support/suggest.h"
#include "frontends/relax/function/calls.h"
#include "frontends/relax/function/casts.h"
#include "frontends/relax/function/closures.h"
#include "frontends/relax/function/expressions.h"
#include "frontends/relax/function/infos.h"
#include "frontends/relax/function/values.h"
#include "frontends/relax/shared/save_and_restore.h"
#include "frontends/relax/text/call_text.h"
#include "frontends/relax/text/literals.h"
#include "frontends/relax/text/name_uses.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;
using ast::StmtKind;
using relax::Value;

namespace {

/// Returns the dtype of the symbol that a call such as T.int64() declares; 32- and 64-bit integers are dims.
std::optional<DType> declared_symbol(const std::string& path, const ast::Expr& call) {
  for (const char* untyped : {"T.var", "T.Var", "T.SizeVar", "tir.Var", "R.shape_var", "T.index"})
    if (path == untyped && (path != "T.index" || call.items.size() == 1)) return DType::index();
  if (path.rfind("T.", 0) != 0 || call.items.size() != 1) return std::nullopt;
  std::optional<DType> dtype = parse_dtype(path == "T.boolean" ? "bool" : path.substr(2));
  return dtype == DType::i(64) || dtype == DType::i(32) ? DType::index() : dtype;
}

/// Returns whether every path through `body` ends with a return. The depth of indentation bounds the recursion.
bool ends_in_return(const std::vector<const ast::Stmt*>& body) {
  if (body.empty()) return false;
  const ast::Stmt& last = *body.back();
  return last.kind == StmtKind::kReturn ||
         (last.kind == StmtKind::kIf && ends_in_return(last.body) && ends_in_return(last.orelse));
}

/// Reads the annotation of a refused value, to report its errors and to bind the symbols that it names.
void read_for_errors(FunctionParts& fn, const ast::Expr& annotation) {
  std::vector<arith::Var> named;
  (void)read_info_by(fn, DimPattern::kFresh, annotation, named);
}

/// Returns the fields of a tuple. A value's fields are read only if there are `wanted` of them, since that emits ops.
Result<std::vector<Term>> parts_of(FunctionParts& fn, const Term& term, size_t wanted, Place place) {
  Diagnostics& diag = fn.source.diag();
  if (term.kind == Term::kPoison) return diag.failed();
  if (term.kind == Term::kSequence) return term.items;
  const auto* tuple = term.kind == Term::kValue ? term.value->info->as<relax::TupleInfo>() : nullptr;
  if (tuple == nullptr)
    return fn.source.error(place, Kind::dtype_mismatch, "only a tuple has parts, found {}",
                           term.kind == Term::kValue ? relax::to_string(term.value->info) : "no tuple");
  std::vector<Term> parts(tuple->fields.size());
  if (parts.size() != wanted) return parts;
  RELAXC_TRY(std::vector<Value*> fields, tuple_fields(fn, term.value, place));
  for (size_t i = 0; i < wanted; ++i) parts[i] = Term::of(fields[i]);
  return parts;
}

/// Binds `a`, or `a, (b, c)` to the parts of a tuple.
Status bind_target(FunctionParts& fn, const ast::Expr& target, Term term, Place value) {
  Diagnostics& diag = fn.source.diag();
  if (!target.is_sequence()) {
    if (!target.is(AstKind::kName))
      return fn.source.error(target.place, Kind::unsupported, "values are bound to names, found {}", describe(target));
    fn.names.assign(target.text, std::move(term), target.place);
    return Done{};
  }
  RELAXC_TRY(std::vector<Term> parts, parts_of(fn, term, target.items.size(), value));
  if (parts.size() != target.items.size())
    return fn.source.error(target.place, Kind::wrong_arity, "{} names for {} values", target.items.size(),
                           parts.size());
  bool ok = true;
  for (size_t i = 0; i < parts.size(); ++i) ok &= bool(bind_target(fn, *target.items[i], std::move(parts[i]), value));
  if (!ok) return diag.failed();
  return Done{};
}

/// Reads `n = T.int64()` or `n, m = R.shape_vars("n", "m")`; sets `done` if it is one of these.
Status declare_symbols(FunctionParts& fn, const ast::Stmt& stmt, bool& done) {
  std::vector<const ast::Expr*> targets = targets_of(*stmt.target), values = targets_of(*stmt.value);
  bool group =
      values.size() == 1 && values[0]->is(AstKind::kCall) && fn.names.path_of(*values[0]->items[0]) == "R.shape_vars";
  if (values.empty()) return Done{};  // `x = ()`
  auto declares = [&](const ast::Expr* value) {
    return value->is(AstKind::kCall) && declared_symbol(fn.names.path_of(*value->items[0]), *value).has_value();
  };
  const bool all = std::all_of(values.begin(), values.end(), declares);
  const bool some = values.size() == targets.size() && std::any_of(values.begin(), values.end(), declares);
  if (!group && !all && !some) return Done{};
  done = true;
  size_t count = group ? values[0]->items.size() - 1 : values.size();
  if (count != targets.size())
    return fn.source.error(stmt.place, Kind::wrong_arity, "{} names for {} symbols", targets.size(), count);
  for (size_t i = 0; i < targets.size(); ++i) {
    const ast::Expr* target = targets[i];
    if (!target->is(AstKind::kName))
      return fn.source.error(target->place, Kind::syntax, "expected a name for the symbol");
    if (!group && !declares(values[i])) {  // `n, c = T.int64(), T.int64(16)`: c is a number
      RELAXC_TRY(Term number, eval(fn, *values[i]));
      RELAXC_DO(bind_target(fn, *target, std::move(number), values[i]->place));
      continue;
    }
    auto* known = fn.names.find_own(target->text);
    bool again =
        known != nullptr && known->value.kind == Term::kScalar && known->value.scalar.expr.as<arith::VarNode>();
    DType dtype = group ? DType::index() : *declared_symbol(fn.names.path_of(*values[i]->items[0]), *values[i]);
    if (!again) fn.names.declare_symbol(target->text, dtype, target->place);
  }
  return Done{};
}

Status assignment(FunctionParts& fn, const ast::Stmt& stmt) {
  Diagnostics& diag = fn.source.diag();
  if (stmt.value == nullptr)
    return fn.source.error(stmt.place, Kind::ill_formed, "a declaration without a value has no effect here");
  bool done = false;
  RELAXC_DO(declare_symbols(fn, stmt, done));
  if (done) return Done{};
  Result<Term> term = [&] {
    SaveAndRestore<const ast::Expr*> hint(fn.hint, stmt.annotation);
    return eval(fn, *stmt.value);
  }();
  if (term) term = named_function(fn, *term, stmt.value->place);
  if (!term) {
    if (stmt.annotation != nullptr) read_for_errors(fn, *stmt.annotation);
    return diag.failed();
  }
  if (stmt.annotation != nullptr) {
    term = annotate(fn, *term, *stmt.annotation);
    if (!term) return diag.failed();
  }
  if (term->kind == Term::kScalar || term->is_dims()) RELAXC_DO(fn.sizes.note(stmt));
  return bind_target(fn, *stmt.target, std::move(*term), stmt.value->place);
}

Status expression_statement(FunctionParts& fn, const ast::Stmt& stmt) {
  const ast::Expr& e = *stmt.value;
  if (e.is(AstKind::kString)) return Done{};  // a string as a statement is a comment
  if (!e.is(AstKind::kCall)) return fn.source.error(e.place, Kind::ill_formed, "this statement does nothing");
  std::string path = fn.names.path_of(*e.items[0]);
  if (path == "R.func_attr") return function_attributes(fn, e);
  if (path == "R.func_name" || path == "R.func_ret_struct_info") return Done{};
  if (path == "R.output" || path == "R.outputs")
    return fn.source.error(e.place, Kind::ill_formed, "R.output belongs inside 'with R.dataflow():'");
  RELAXC_TRY(Term term, eval(fn, e));
  (void)term;
  return Done{};
}

Status with_statement(FunctionParts& fn, const ast::Stmt& stmt) {
  const ast::Expr& head = *stmt.with.front().value;
  std::string path = head.is(AstKind::kCall) ? fn.names.path_of(*head.items[0]) : std::string();
  if (stmt.with.size() == 1 && path == "R.dataflow") return dataflow(fn, stmt);
  if (stmt.with.size() == 1 && path == "R.loop") {
    Status read = loop(fn, stmt);
    if (!read && !stmt.body.empty()) fn.names.poison(stmt.body.back()->target);
    return read;
  }
  Failure failure =
      fn.source.error(head.place, Kind::unsupported, "'with' opens a dataflow block (R.dataflow) or a loop (R.loop)");
  if (auto near = nearest_name(path, {"R.dataflow", "R.loop"})) fn.source.hint("did you mean {}?", *near);
  fn.names.poison(stmt.body);
  return failure;
}

/// Returns the values that `return` gives for a term; a tuple gives its fields.
Result<std::vector<Value*>> result_values(FunctionParts& fn, const Term& term, Place place) {
  Diagnostics& diag = fn.source.diag();
  if (term.kind == Term::kPoison) return diag.failed();
  std::vector<Value*> values;
  bool several = term.kind == Term::kSequence && term.items.size() != 1 && !(term.is_dims() && !term.items.empty());
  if (several) {
    for (const Term& item : term.items) {
      RELAXC_TRY(Value * value, as_value(fn, item, place));
      values.push_back(value);
    }
    return values;
  }
  Term single = term;
  if (term.kind == Term::kSequence && !term.is_dims()) {  // (x,): a tuple of one
    RELAXC_TRY(Value * field, as_value(fn, term.items[0], place));
    return std::vector<Value*>{fn.graph.at(place).tuple({field})};
  }
  RELAXC_TRY(Value * value, as_value(fn, single, place));
  if (value == nullptr) return fn.source.error(place, Kind::invalid_value, "None cannot be returned; R.tuple() can");
  const auto* tuple = value->info->as<relax::TupleInfo>();
  if (tuple == nullptr || tuple->fields.size() == 1) return std::vector<Value*>{value};
  if (value->op != nullptr && value->op->kind == relax::OpKind::kTuple) return value->op->operands();
  return tuple_fields(fn, value, place);
}

Status return_values(FunctionParts& fn, const ast::Stmt& stmt) {
  if (!fn.results.may_return())
    return fn.source.error(stmt.place, Kind::unsupported, "'return' ends a function or both branches of its last 'if'");
  fn.results.give({});
  if (stmt.value == nullptr) return Done{};
  RELAXC_TRY(Term term, eval(fn, *stmt.value));
  RELAXC_TRY(std::vector<Value*> values, result_values(fn, term, stmt.value->place));
  fn.results.give(values);
  for (Value* value : values)
    if (value == nullptr) return fn.source.error(stmt.value->place, Kind::invalid_value, "None cannot be returned");
  return Done{};
}

}  // namespace

Status suite(FunctionParts& fn, const Body& body) {
  bool ok = true;
  for (size_t i = 0; i < body.size(); ++i) {
    const ast::Stmt& stmt = *body[i];
    if (fn.results.nothing_may_follow()) {
      (void)fn.source.error(stmt.place, Kind::ill_formed, "no statement can follow 'return'");
      return fn.source.diag().failed();
    }
    if (stmt.kind == StmtKind::kIf && stmt.orelse.empty() && i + 1 < body.size() && ends_in_return(stmt.body)) {
      // The statements after an `if` that returns become its else branch.
      ast::Stmt whole = stmt;
      whole.orelse.assign(body.begin() + static_cast<int64_t>(i) + 1, body.end());
      fn.results.at_end(true);
      if (!statement(fn, whole)) ok = false;
      break;
    }
    bool nested = stmt.kind == StmtKind::kIf || stmt.kind == StmtKind::kWith;
    std::optional<Names::Later> later;
    if (nested) later.emplace(fn.names, names_used({body.begin() + static_cast<int64_t>(i) + 1, body.end()}));
    fn.results.at_end(i + 1 == body.size());
    if (!statement(fn, stmt)) {
      ok = false;
      fn.names.poison(stmt.target);
      if (stmt.kind == StmtKind::kFor || stmt.kind == StmtKind::kWhile) fn.names.poison(stmt.body);
    }
  }
  if (!ok) return fn.source.diag().failed();
  return Done{};
}

Status statement(FunctionParts& fn, const ast::Stmt& stmt) {
  switch (stmt.kind) {
    case StmtKind::kPass:
    case StmtKind::kImport:
      return Done{};
    case StmtKind::kAssign:
      return assignment(fn, stmt);
    case StmtKind::kExpr:
      return expression_statement(fn, stmt);
    case StmtKind::kReturn:
      return return_values(fn, stmt);
    case StmtKind::kWith:
      return with_statement(fn, stmt);
    case StmtKind::kIf:
      return branch(fn, stmt);
    case StmtKind::kAugmentAssign:
      return fn.source.error(stmt.place, Kind::unsupported, "values do not change here; write a new binding");
    case StmtKind::kFor:
    case StmtKind::kWhile:
      return fn.source.error(stmt.place, Kind::unsupported,
                             "a Relax function loops by 'with R.loop(…)' or by calling itself");
    case StmtKind::kFunction:
      return nested_function(fn, stmt);
    default:
      break;
  }
  return fn.source.error(stmt.place, Kind::unsupported, "this statement is not allowed in a Relax function");
}

}  // namespace relaxc::frontend
