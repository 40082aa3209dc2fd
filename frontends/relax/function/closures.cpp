// closures.cpp: reads nested functions, and functions as values.
//
// A nested function is read at once, and its name is bound to a closure of what it captures (captures.h).
#include "frontends/relax/function/closures.h"

#include <algorithm>

#include "compiler/relax/callable.h"
#include "compiler/relax/name_dims.h"
#include "frontends/relax/function/calls.h"
#include "frontends/relax/function/casts.h"
#include "frontends/relax/function/reader.h"
#include "frontends/relax/function/values.h"
#include "frontends/relax/prim/reader.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;
using relax::Info;
using relax::Value;

namespace {

Result<Term> call_closure(FunctionParts& fn, Value* callee, std::vector<Value*> args, Place place) {
  relax::name_large_dims(fn.graph.at(place), args);
  const auto* type = callee->info->as<relax::CallableInfo>();
  if (type == nullptr) {
    Failure failure =
        fn.source.error(place, Kind::dtype_mismatch, "'{}' is called, but is {}",
                        callee->name.empty() ? "this value" : callee->name, relax::to_string(callee->info));
    if (callee->info->kind == relax::InfoKind::kObject)
      fn.source.hint("R.Callable((parameters,), result) says what a function takes and gives");
    return failure;
  }
  if (type->params.size() != args.size())
    return fn.source.error(place, Kind::wrong_arity, "'{}' takes {} arguments, found {}", callee->name,
                           type->params.size(), args.size());
  arith::Substitution symbols;
  for (arith::Var var : relax::symbols_of(type)) symbols.emplace(var, var);
  for (size_t i = 0; i < args.size(); ++i)
    RELAXC_DO(match_argument(fn, type->params[i], args[i]->info, symbols, place, std::to_string(i)));
  std::vector<Value*> operands = {callee};
  operands.insert(operands.end(), args.begin(), args.end());
  relax::Op* op = fn.graph.at(place).append(relax::OpKind::kCallClosure, operands);
  for (Info result : relax::results_of_call(fn.context(), relax::split_results(type->result), symbols, op->binds))
    fn.function.make_result(op, {}, result);
  RELAXC_DO(check_result_sizes(fn, *op, callee->name, place));
  return results_of(op);
}

bool is_decorated(FunctionParts& fn, const ast::Stmt& stmt, const std::vector<std::string>& names) {
  for (const ast::Expr* decorator : stmt.decorators) {
    std::string path = fn.names.path_of(decorator->is(AstKind::kCall) ? *decorator->items[0] : *decorator);
    if (std::find(names.begin(), names.end(), path) != names.end()) return true;
  }
  return false;
}

/// Reads a nested function; its name becomes a closure over the values that it captures.
Status nested_relax_function(FunctionParts& fn, const ast::Stmt& stmt) {
  relax::Module& module = fn.scope.module;
  relax::Function* made = module.add_function(module.unique_name(fn.function.name + "_" + stmt.text));
  RelaxFunctionReader inner(fn, stmt, *made);
  bool ok = inner.signature() && inner.body();
  made->is_private = true;
  if (!ok) return fn.diag().failed();
  std::vector<Value*> captured = inner.captures().finish();
  std::vector<Info> results;
  for (Value* value : made->body().results()) results.push_back(value->info);
  relax::Op* op = fn.graph.at(stmt.name_place).append(relax::OpKind::kMakeClosure, captured);
  op->callee = made->name;
  Info type = relax::callable_type(*made, std::move(results), captured.size(), inner.captures().shared());
  Value* closure = fn.function.make_result(op, stmt.text, type);
  fn.names.assign(stmt.text, Term::of(closure), stmt.name_place);
  return Done{};
}

/// Reads a nested prim func, which captures nothing. It becomes private in the module; its name is visible here only.
Status nested_prim_func(FunctionParts& fn, const ast::Stmt& stmt) {
  RELAXC_TRY(tir::PrimFunc made, read_prim_func(fn.scope, stmt));
  std::string name = fn.scope.module.unique_name(fn.function.name + "_" + stmt.text);
  fn.scope.globals[name] = {Global::kPrimFunc, &stmt, name, nullptr};
  made.name = name;
  made.is_private = true;
  fn.scope.module.add_prim_func(std::move(made));
  fn.names.assign(stmt.text, Term::of(Term::kGlobal, name), stmt.name_place);
  return Done{};
}

}  // namespace

Status nested_function(FunctionParts& fn, const ast::Stmt& stmt) {
  bool function = is_decorated(fn, stmt, {"R.function", "R.func"});
  bool prim = is_decorated(fn, stmt, {"T.prim_func"});
  auto read_it = [&]() -> Status {
    if (stmt.broken) return fn.diag().failed();  // the grammar reported it
    if (function) return nested_relax_function(fn, stmt);
    if (prim) return nested_prim_func(fn, stmt);
    return fn.source.error(stmt.name_place, Kind::unsupported,
                           "a function inside a function is an @R.function or a @T.prim_func");
  };
  Status read = read_it();
  if (!read) fn.names.bind(stmt.text, {}, stmt.name_place);
  return read;
}

Result<Term> named_function(FunctionParts& fn, const Term& term, Place place) {
  if (term.kind != Term::kGlobal || fn.scope.globals.at(term.text).kind != Global::kFunction) return term;
  RELAXC_TRY(Value * closure, global_closure(fn, term.text, {}, place));
  return Term::of(closure);
}

Result<relax::Value*> global_closure(FunctionParts& fn, const std::string& name, const std::vector<Value*>& captured,
                                     Place place) {
  Diagnostics& diag = fn.source.diag();
  const Global& global = fn.scope.globals.at(name);
  if (global.kind == Global::kPoison) return diag.failed();
  if (global.kind != Global::kFunction)
    return fn.source.error(place, Kind::unsupported, "the prim func '{}' is not a value; R.call_tir calls it", name);
  RelaxFunctionReader& reader = *global.reader;
  RELAXC_TRY(std::vector<Info> results, reader.results(place));
  const std::vector<Value*>& params = reader.function().body().arguments;
  if (captured.size() > params.size())
    return fn.source.error(place, Kind::wrong_arity, "'{}' takes {} arguments, and {} are captured", name,
                           params.size(), captured.size());
  arith::Substitution symbols;
  for (size_t i = 0, first = params.size() - captured.size(); i < captured.size(); ++i)
    RELAXC_DO(match_argument(fn, params[first + i]->info, captured[i]->info, symbols, place, params[first + i]->name));
  relax::Op* op = fn.graph.at(place).append(relax::OpKind::kMakeClosure, captured);
  op->callee = name;
  Info type = relax::callable_type(reader.function(), std::move(results), captured.size(), std::move(symbols));
  return fn.function.make_result(op, {}, type);
}

Result<Term> make_closure(FunctionParts& fn, const ast::Expr& e) {
  Diagnostics& diag = fn.source.diag();
  if (e.items.size() != 3)
    return fn.source.error(e.place, Kind::wrong_arity, "R.make_closure takes a function and the values it captures");
  Result<Term> function = callee(fn, *e.items[1]);
  Result<std::vector<Value*>> captured = call_arguments(fn, *e.items[2]);
  if (!function || !captured) return diag.failed();
  if (function->kind != Term::kGlobal)
    return fn.source.error(e.items[1]->place, Kind::dtype_mismatch,
                           "R.make_closure takes a function of the module, found an external one");
  RELAXC_TRY(Value * closure, global_closure(fn, function->text, *captured, e.place));
  return Term::of(closure);
}

Result<Term> invoke_closure(FunctionParts& fn, const ast::Expr& e) {
  Diagnostics& diag = fn.source.diag();
  if (e.items.size() != 3)
    return fn.source.error(e.place, Kind::wrong_arity, "R.invoke_closure takes a closure and its arguments");
  Value* function = operand_value(fn, *e.items[1]);
  Result<std::vector<Value*>> args = call_arguments(fn, *e.items[2]);
  if (function == nullptr || !args) return diag.failed();
  RELAXC_TRY(Term made, call_closure(fn, function, *args, e.place));
  const ast::Keyword* given = result_types(e);
  if (given == nullptr) return made;
  // Each result may have a declaration, which may name the symbols that the call binds.
  std::vector<const ast::Expr*> declared = {given->value};
  if (declared[0]->is_sequence()) declared = declared[0]->items;
  bool tuple = declared.size() == 1 && made.kind == Term::kSequence && declared[0]->is(AstKind::kCall) &&
               fn.names.path_of(*declared[0]->items[0]) == "R.Tuple";
  if (tuple) declared.assign(declared[0]->items.begin() + 1, declared[0]->items.end());
  std::vector<Term*> terms;
  if (made.kind == Term::kSequence)
    for (Term& item : made.items) terms.push_back(&item);
  else
    terms.push_back(&made);
  if (declared.size() != terms.size())
    return fn.source.error(given->place, Kind::wrong_arity, "{} struct infos for {} results", declared.size(),
                           terms.size());
  for (size_t i = 0; i < terms.size(); ++i) {
    RELAXC_TRY(*terms[i], annotate(fn, *terms[i], *declared[i]));
  }
  return made;
}

Result<Term> call_value(FunctionParts& fn, const Term& function, const ast::Expr& e) {
  RELAXC_TRY(std::vector<Value*> args, positional_arguments(fn, e, 1));
  RELAXC_TRY(Value * callee, as_value(fn, function, e.items[0]->place));
  return call_closure(fn, callee, args, e.place);
}

}  // namespace relaxc::frontend
