// relax_closure.cpp: nested functions, and functions as values.
//
// A nested function is read into a function of the module at once (lambda lifting): what it mentions of the function
// around becomes a parameter after its own, in the order of first mention, and its name there is bound to a closure of
// those values. Symbols come along in the shapes of captured tensors, and those that no shape gives as one shape at the
// end. The symbols of the two functions are the same identities, so that types need no translation.
//
// Inside of itself the function's name is a closure of its own captured parameters, which are known when its body has
// been read.
#include <algorithm>
#include <cctype>

#include "compiler/relax/callable.h"
#include "frontends/relax/literals.h"
#include "frontends/relax/relax_function.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;

namespace {

bool contains(const std::vector<arith::Var>& list, arith::Expr e) {
  return std::any_of(list.begin(), list.end(), [&](arith::Var var) { return var == e; });
}

/// The names that stand alone in quotes as dims of a type: its own symbols, wherever else they are mentioned.
std::vector<std::string> quoted_dims(const ast::Expr& type) {
  std::vector<std::string> names;
  std::vector<const ast::Expr*> waiting{&type};
  while (!waiting.empty()) {
    const ast::Expr& e = *waiting.back();
    waiting.pop_back();
    for (const ast::Expr* item : e.items) {
      bool plain = !item->text.empty() && std::isdigit(static_cast<unsigned char>(item->text[0])) == 0 &&
                   std::all_of(item->text.begin(), item->text.end(),
                               [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
      if (e.is_sequence() && item->is(AstKind::kString) && plain) names.push_back(item->text);
      waiting.push_back(item);
    }
    for (const ast::Keyword& keyword : e.keywords) waiting.push_back(keyword.value);
  }
  return names;
}

/// Whether a value of `info` gives `symbol` its value.
bool gives(relax::Info info, arith::Var symbol) {
  auto bare = [&](const std::vector<arith::Expr>& dims) {
    return std::any_of(dims.begin(), dims.end(), [&](arith::Expr dim) { return dim == symbol; });
  };
  if (const auto* tensor = info->as<relax::TensorInfo>()) return tensor->shape && bare(*tensor->shape);
  if (const auto* shape = info->as<relax::ShapeInfo>()) return shape->dims && bare(*shape->dims);
  if (const auto* prim = info->as<relax::PrimInfo>()) return prim->value && prim->value == symbol;
  const auto* tuple = info->as<relax::TupleInfo>();
  return tuple != nullptr && std::any_of(tuple->fields.begin(), tuple->fields.end(),
                                         [&](relax::Info field) { return gives(field, symbol); });
}

}  // namespace

/// @R.function def inner(…): inside a function.
Status RelaxFunctionReader::nested_function(const ast::Stmt& stmt) {
  Diagnostics& diag = source_.diag();
  auto poisoned = [&] {
    names_.bind(stmt.text, {}, stmt.name_place);
    return diag.failed();
  };
  bool function = false;
  for (const ast::Expr* decorator : stmt.decorators) {
    std::string path = path_of(decorator->is(AstKind::kCall) ? *decorator->items[0] : *decorator);
    function |= path == "R.function" || path == "R.func";
  }
  if (stmt.broken) return poisoned();  // reported by the grammar
  if (!function) {
    (void)source_.error(stmt.name_place, Kind::unsupported, "a function inside a function is an @R.function");
    return poisoned();
  }
  relax::Module& module = scope_.module;
  relax::Function* made = module.add_function(module.unique_name(function_.name + "_" + stmt.text));
  RelaxFunctionReader inner(scope_, stmt, *made);
  inner.parent_ = this;
  inner.own_params_ = stmt.params.size();
  inner.names_.bind(stmt.text, Term::of(Term::kSelf), stmt.name_place);
  bool ok = inner.signature() && inner.body();
  made->is_private = true;
  if (!ok) return poisoned();
  std::vector<Value*> captured = inner.finish_captures();
  std::vector<Info> results;
  for (Value* value : made->body().results()) results.push_back(value->info);
  arith::Substitution shared;
  for (arith::Var var : inner.outer_symbols_) shared.emplace(var, var);
  relax::Op* op = graph_.at(stmt.name_place).append(relax::OpKind::kMakeClosure, captured);
  op->callee = made->name;
  Info type = relax::callable_type(*made, std::move(results), captured.size(), std::move(shared));
  Value* closure = function_.make_result(op, stmt.text, type);
  hidden_.erase(stmt.text);
  if (assigned_ != nullptr) assigned_->push_back(stmt.text);
  names_.bind(stmt.text, Term::of(closure), stmt.name_place);
  return Done{};
}

Scope<Term>::Binding* RelaxFunctionReader::find(const std::string& name) {
  auto* known = names_.find(name);
  if (known != nullptr || parent_ == nullptr) return known;
  const auto* outer = parent_->find(name);
  if (outer == nullptr) return nullptr;
  Place place = outer->place;
  Term mine = import(outer->value, name, place);
  names_.bind_outermost(name, std::move(mine), place);
  return names_.find(name);
}

/// What a name of the function around is here.
Term RelaxFunctionReader::import(const Term& outer, const std::string& name, Place place) {
  if (outer.kind == Term::kSequence) {
    Term mine = outer;
    for (size_t i = 0; i < mine.items.size(); ++i)
      mine.items[i] = import(outer.items[i], name + "_" + std::to_string(i), place);
    return mine;
  }
  if (outer.kind == Term::kScalar) {
    if (parent_->unbound_.count(outer.scalar.expr) != 0) {  // declared there, given a value here
      arith::Var var = context_.var(name);
      unbound_.insert(var);
      return Term::of(Scalar{var});
    }
    import_symbols(arith::free_vars(outer.scalar.expr));
    return outer;
  }
  Value* value = outer.kind == Term::kValue ? outer.value : nullptr;
  if (outer.kind == Term::kSelf) {
    Result<Value*> closure = parent_->self_closure(place);
    if (!closure) return {};
    value = *closure;
  }
  if (value == nullptr) return outer;
  import_symbols(relax::symbols_of(value->info));
  captured_.push_back(value);
  return Term::of(function_.make_argument(&function_.body(), name, value->info));
}

void RelaxFunctionReader::import_symbols(const std::vector<arith::Var>& symbols) {
  for (arith::Var var : symbols) {
    if (contains(outer_symbols_, var)) continue;
    outer_symbols_.push_back(var);
    function_.facts.bound(var, parent_->function_.facts.range_of(var));
    function_.facts.multiple(var, parent_->function_.facts.multiple_of(var));
  }
}

/// Completes the parameters of a nested function; what the function around has to give for them.
std::vector<relax::Value*> RelaxFunctionReader::finish_captures() {
  relax::Region& body = function_.body();
  std::vector<arith::Expr> alone;
  for (arith::Var var : outer_symbols_) {
    bool given = std::any_of(body.arguments.begin() + static_cast<int64_t>(own_params_), body.arguments.end(),
                             [&](const Value* argument) { return gives(argument->info, var); });
    if (!given) alone.push_back(var);
  }
  if (!alone.empty()) {
    function_.make_argument(&body, "dims", relax::shape_info(context_, alone));
    captured_.push_back(parent_->graph_.at(definition_.name_place).shape(alone));
  }
  for (relax::Op* op : self_closures_)
    for (size_t i = own_params_; i < body.arguments.size(); ++i) op->add_operand(body.arguments[i]);
  for (arith::Var var : outer_symbols_)
    if (!contains(function_.symbols, var)) function_.symbols.push_back(var);
  return captured_;
}

Result<relax::Value*> RelaxFunctionReader::self_closure(Place place) {
  if (!has_declared_)
    return source_.error(place, Kind::ill_formed, "'{}' calls itself, so it must declare what it returns",
                         definition_.text);
  arith::Substitution shared;
  for (arith::Var var : outer_symbols_) shared.emplace(var, var);
  size_t captured = function_.body().arguments.size() - own_params_;
  Info type = relax::callable_type(function_, declared_, captured, std::move(shared));
  relax::Op* op = graph_.at(place).append(relax::OpKind::kMakeClosure, {});
  op->callee = function_.name;
  self_closures_.push_back(op);
  return function_.make_result(op, definition_.text, type);
}

/// A function of the module as a value, its last parameters given.
Result<relax::Value*> RelaxFunctionReader::global_closure(const std::string& name, const std::vector<Value*>& captured,
                                                          Place place) {
  Diagnostics& diag = source_.diag();
  const Global& global = scope_.globals.at(name);
  if (global.kind == Global::kPoison) return diag.failed();
  if (global.kind != Global::kFunction)
    return source_.error(place, Kind::unsupported, "the prim func '{}' is not a value; R.call_tir calls it", name);
  RelaxFunctionReader& reader = *global.reader;
  RELAXC_TRY(std::vector<Info> results, reader.results(place));
  const std::vector<Value*>& params = reader.function_.body().arguments;
  if (captured.size() > params.size())
    return source_.error(place, Kind::wrong_arity, "'{}' takes {} arguments, and {} are captured", name, params.size(),
                         captured.size());
  arith::Substitution symbols;
  for (size_t i = 0, first = params.size() - captured.size(); i < captured.size(); ++i)
    RELAXC_DO(match_argument(params[first + i]->info, captured[i]->info, symbols, place, params[first + i]->name));
  relax::Op* op = graph_.at(place).append(relax::OpKind::kMakeClosure, captured);
  op->callee = name;
  Info type = relax::callable_type(reader.function_, std::move(results), captured.size(), std::move(symbols));
  return function_.make_result(op, {}, type);
}

Result<Term> RelaxFunctionReader::named_function(const Term& term, Place place) {
  if (term.kind != Term::kGlobal || scope_.globals.at(term.text).kind != Global::kFunction) return term;
  RELAXC_TRY(Value * closure, global_closure(term.text, {}, place));
  return Term::of(closure);
}

/// R.make_closure(cls.f, (x, y))
Result<Term> RelaxFunctionReader::make_closure(const ast::Expr& e) {
  Diagnostics& diag = source_.diag();
  if (e.items.size() != 3)
    return source_.error(e.place, Kind::wrong_arity, "R.make_closure takes a function and the values it captures");
  Result<Term> function = callee(*e.items[1]);
  Result<std::vector<Value*>> captured = call_arguments(*e.items[2]);
  if (!function || !captured) return diag.failed();
  if (function->kind != Term::kGlobal)
    return source_.error(e.items[1]->place, Kind::dtype_mismatch,
                         "R.make_closure takes a function of the module, found an external one");
  RELAXC_TRY(Value * closure, global_closure(function->text, *captured, e.place));
  return Term::of(closure);
}

/// R.invoke_closure(c, (x, y), ty_args=(R.Tensor(…),))
Result<Term> RelaxFunctionReader::invoke_closure(const ast::Expr& e) {
  Diagnostics& diag = source_.diag();
  if (e.items.size() != 3)
    return source_.error(e.place, Kind::wrong_arity, "R.invoke_closure takes a closure and its arguments");
  Value* function = operand_value(*e.items[1]);
  Result<std::vector<Value*>> args = call_arguments(*e.items[2]);
  if (function == nullptr || !args) return diag.failed();
  RELAXC_TRY(Term made, call_closure(function, *args, e.place));
  const ast::Keyword* given = result_types(e);
  if (given == nullptr) return made;
  // What is declared may name the symbols that the call brings, one declaration for each result.
  std::vector<const ast::Expr*> declared = {given->value};
  if (declared[0]->is_sequence()) declared = declared[0]->items;
  bool tuple = declared.size() == 1 && made.kind == Term::kSequence && declared[0]->is(AstKind::kCall) &&
               path_of(*declared[0]->items[0]) == "R.Tuple";
  if (tuple) declared.assign(declared[0]->items.begin() + 1, declared[0]->items.end());
  std::vector<Term*> terms;
  if (made.kind == Term::kSequence)
    for (Term& item : made.items) terms.push_back(&item);
  else
    terms.push_back(&made);
  if (declared.size() != terms.size())
    return source_.error(given->place, Kind::wrong_arity, "{} struct infos for {} results", declared.size(),
                         terms.size());
  for (size_t i = 0; i < terms.size(); ++i) {
    RELAXC_TRY(*terms[i], annotate(*terms[i], *declared[i]));
  }
  return made;
}

/// f(x, y), where f is a value.
Result<Term> RelaxFunctionReader::call_value(const Term& function, const ast::Expr& e) {
  RELAXC_TRY(std::vector<Value*> args, positional_arguments(e, 1));
  RELAXC_TRY(Value * callee, as_value(function, e.items[0]->place));
  return call_closure(callee, args, e.place);
}

Result<Term> RelaxFunctionReader::call_closure(Value* callee, const std::vector<Value*>& args, Place place) {
  const auto* type = callee->info->as<relax::CallableInfo>();
  if (type == nullptr) {
    Failure failure = source_.error(place, Kind::dtype_mismatch, "'{}' is called, but is {}",
                                    callee->name.empty() ? "this value" : callee->name, relax::to_string(callee->info));
    if (callee->info->kind == relax::InfoKind::kObject)
      source_.hint("R.Callable((parameters,), result) says what a function takes and gives");
    return failure;
  }
  if (type->params.size() != args.size())
    return source_.error(place, Kind::wrong_arity, "'{}' takes {} arguments, found {}", callee->name,
                         type->params.size(), args.size());
  arith::Substitution symbols;
  for (arith::Var var : relax::symbols_of(type)) symbols.emplace(var, var);
  for (size_t i = 0; i < args.size(); ++i)
    RELAXC_DO(match_argument(type->params[i], args[i]->info, symbols, place, std::to_string(i)));
  std::vector<Value*> operands = {callee};
  operands.insert(operands.end(), args.begin(), args.end());
  relax::Op* op = graph_.at(place).append(relax::OpKind::kCallClosure, operands);
  for (Info result : relax::results_of_call(context_, relax::split_results(type->result), symbols, op->binds))
    function_.make_result(op, {}, result);
  return results_of(op);
}

/// R.Callable((parameters,), result, purity): symbols in quotes, and those that nothing around knows, are its own.
Result<relax::Info> RelaxFunctionReader::callable_info(const ast::Expr& e) {
  std::vector<const ast::Expr*> arguments(e.items.begin() + (e.items.empty() ? 0 : 1), e.items.end());
  const ast::Expr* result = arguments.size() > 1 ? arguments[1] : nullptr;
  const ast::Expr* purity = arguments.size() > 2 ? arguments[2] : nullptr;
  for (const ast::Keyword& keyword : e.keywords) {
    if (keyword.name == "ret") result = keyword.value;
    if (keyword.name == "purity") purity = keyword.value;
  }
  bool called = e.is(AstKind::kCall) || e.is(AstKind::kSubscript);
  if (!called || arguments.empty() || !arguments[0]->is_sequence() || result == nullptr) {
    Failure failure = source_.error(e.place, Kind::ill_formed, "expected R.Callable((parameters,), result)");
    if (called && result != nullptr && !arguments.empty())
      source_.hint(
          "a list of one parameter is written with a comma: ({},)",
          source_.text().substr(arguments[0]->place.begin, std::min<uint32_t>(arguments[0]->place.length, 40)));
    return failure;
  }
  DimPattern::OwnSymbols own;
  std::optional<DimPattern::Callable> outermost;
  if (pattern_.own_symbols() == nullptr) {
    outermost.emplace(pattern_, own);
    for (const std::string& name : quoted_dims(e)) (void)pattern_.own_symbol(context_, name);
  }
  std::vector<Info> params;
  bool ok = true;
  for (const ast::Expr* item : arguments[0]->items) {
    Result<Info> param = info(*item);
    ok = ok && param;
    if (param) params.push_back(*param);
  }
  Result<Info> given = info(*result);
  if (!ok || !given) return source_.diag().failed();
  Info type =
      relax::callable_info(context_, {}, std::move(params), *given, purity == nullptr || !purity->is(AstKind::kFalse));
  if (!outermost) return type;
  std::vector<arith::Var> symbols = relax::symbols_of(type);  // in order of first mention
  std::erase_if(symbols, [&](arith::Var var) {
    return std::none_of(own.begin(), own.end(), [&](const auto& entry) { return entry.second == var; });
  });
  const auto& callable = *type->as<relax::CallableInfo>();
  return relax::callable_info(context_, std::move(symbols), callable.params, callable.result, callable.pure);
}

}  // namespace relaxc::frontend
