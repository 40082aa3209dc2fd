// relax_call.cpp: the arguments of calls, and calls of Relax functions. relax_call_tir.cpp has those of prim funcs,
// relax_external.cpp those of external functions.
//
// A call of a Relax function has the callee's results with its symbols replaced by what the arguments put in their
// place; the callee is read first if it does not declare what it returns.
#include <algorithm>

#include "compiler/relax/callable.h"
#include "compiler/relax/known.h"
#include "frontends/relax/literals.h"
#include "frontends/relax/relax_function.h"
#include "frontends/relax/suggest.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;

const ast::Expr* argument(const ast::Expr& e, size_t position, std::initializer_list<std::string_view> names) {
  if (e.items.size() > position) return e.items[position];
  for (std::string_view name : names)
    if (const ast::Keyword* keyword = e.keyword(name)) return keyword->value;
  return nullptr;
}

Term RelaxFunctionReader::results_of(relax::Op* op) const {
  if (op->results.size() == 1) return Term::of(op->results[0]);
  std::vector<Term> terms;
  for (Value* value : op->results) terms.push_back(Term::of(value));
  return Term::sequence(std::move(terms));
}

/// The values of `(a, b)`, of R.tuple(a, b), of one value, or of the positional arguments of R.carry.
Result<std::vector<relax::Value*>> RelaxFunctionReader::call_arguments(const ast::Expr& list) {
  std::vector<const ast::Expr*> items = {&list};
  std::string callee = list.is(AstKind::kCall) ? path_of(*list.items[0]) : "";
  bool arguments = callee == "R.carry" || callee == "R.tuple";
  if (list.is_sequence()) items = list.items;
  if (arguments) items.assign(list.items.begin() + 1, list.items.end());
  std::vector<Value*> values;
  bool ok = true;
  for (const ast::Expr* item : items) {
    Result<Term> term = eval(*item);
    bool spread = term && items.size() == 1 && !list.is_sequence() && !arguments && term->kind == Term::kSequence;
    std::vector<Term> parts = !term ? std::vector<Term>{} : spread ? term->items : std::vector<Term>{*term};
    ok = ok && term;
    for (const Term& part : parts) {
      Result<Value*> value = as_value(part, item->place);
      ok = ok && value;
      if (value && *value == nullptr) {
        (void)source_.error(item->place, Kind::invalid_value, "None is no argument");
        ok = false;
      }
      if (ok) values.push_back(*value);
    }
  }
  if (!ok) return source_.diag().failed();
  return values;
}

/// The values of the positional arguments of a call from `first` on; each that is none is reported.
Result<std::vector<relax::Value*>> RelaxFunctionReader::positional_arguments(const ast::Expr& e, size_t first) {
  std::vector<Value*> args;
  bool ok = true;
  for (size_t i = first; i < e.items.size(); ++i) {
    args.push_back(operand_value(*e.items[i]));
    ok = ok && args.back() != nullptr;
  }
  if (!ok) return source_.diag().failed();
  return args;
}

/// Reports the first keyword that is not one of `known`.
Status RelaxFunctionReader::check_keywords(const ast::Expr& e, const std::vector<std::string>& known) {
  for (const ast::Keyword& keyword : e.keywords) {
    if (std::find(known.begin(), known.end(), keyword.name) != known.end()) continue;
    Failure failure =
        source_.error(keyword.place, Kind::invalid_attribute, "the call has no argument '{}'", keyword.name);
    if (auto near = nearest_name(keyword.name, known)) source_.hint("did you mean '{}'?", *near);
    return failure;
  }
  return Done{};
}

const ast::Keyword* result_types(const ast::Expr& call) {
  for (std::string_view name : {"out_ty", "ty_args", "out_sinfo", "sinfo_args"})
    if (const ast::Keyword* keyword = call.keyword(name)) return keyword;
  return nullptr;
}

/// What a call gives: its result_types or the argument at `position`.
Result<std::vector<relax::Info>> RelaxFunctionReader::output_infos(const ast::Expr& e, size_t position) {
  const ast::Expr* declared = e.items.size() > position ? e.items[position] : nullptr;
  if (const ast::Keyword* keyword = result_types(e)) declared = keyword->value;
  if (declared == nullptr)
    return source_.error(e.place, Kind::wrong_arity, "the call needs out_ty=R.Tensor(…) to say what it gives");
  RELAXC_TRY(std::vector<Info> infos, info_list(*declared));
  const auto* tuple = infos.size() == 1 ? infos[0]->as<relax::TupleInfo>() : nullptr;
  return tuple != nullptr && !tuple->fields.empty() ? tuple->fields : infos;
}

Result<Term> RelaxFunctionReader::callee(const ast::Expr& e) {
  RELAXC_TRY(Term term, eval(e));
  if (term.kind == Term::kString) return Term::of(Term::kExternal, term.text);
  if (term.kind == Term::kGlobal || term.kind == Term::kExternal) return term;
  return source_.error(e.place, Kind::dtype_mismatch, "expected a function");
}

/// The dims of `f[n, m](…)`, one for each symbol that f lists in brackets.
Result<std::vector<arith::Expr>> RelaxFunctionReader::explicit_symbols(const RelaxFunctionReader& callee,
                                                                       const ast::Expr& list) {
  std::vector<arith::Expr> given;
  for (size_t i = 1; i < list.items.size(); ++i)
    if (Result<arith::Expr> value = dim(*list.items[i])) given.push_back(*value);
  size_t listed = callee.definition_.type_params.size();
  if (given.size() + 1 != list.items.size()) return source_.diag().failed();
  if (given.size() != listed)
    return source_.error(list.place, Kind::wrong_arity, "'{}' lists {} symbols in brackets, found {}",
                         callee.definition_.text, listed, given.size());
  return given;
}

/// What stands in brackets must be what the arguments say: they are where the callee finds its symbols.
Status RelaxFunctionReader::check_symbols(const RelaxFunctionReader& callee, const std::vector<arith::Expr>& given,
                                          const arith::Substitution& symbols, const ast::Expr& list) {
  for (size_t i = 0; i < given.size(); ++i) {
    const std::string& name = callee.definition_.type_params[i].name;
    for (const auto& [symbol, value] : symbols) {
      if (arith::Var(symbol.as<arith::VarNode>()).name() != name) continue;
      arith::Facts room;
      if (arith::prove_equal(value, given[i], relax::known_facts(graph_.region(), nullptr, room))) continue;
      return source_.error(list.items[i + 1]->place, Kind::shape_mismatch,
                           "the arguments give '{}' of '{}' the value {}, found {}", name, callee.definition_.text,
                           arith::to_string(value), arith::to_string(given[i]));
    }
  }
  return Done{};
}

/// cls.f(x, y), cls.f[n](x, y)
Result<Term> RelaxFunctionReader::call_global(const std::string& name, const ast::Expr& e) {
  Diagnostics& diag = source_.diag();
  const ast::Expr* explicit_list = e.items[0]->is(AstKind::kSubscript) ? e.items[0] : nullptr;
  const Global& global = scope_.globals.at(name);
  RELAXC_TRY(std::vector<Value*> args, positional_arguments(e, 1));
  if (global.kind == Global::kPoison) return diag.failed();
  if (global.kind == Global::kPrimFunc)
    return source_.error(e.place, Kind::ill_formed, "the prim func '{}' is called by R.call_tir", name);
  RelaxFunctionReader& reader = *global.reader;
  const std::vector<Value*>& params = reader.function_.body().arguments;
  if (params.size() != args.size())
    return source_.error(e.place, Kind::wrong_arity, "'{}' takes {} arguments, found {}", name, params.size(),
                         args.size());
  arith::Substitution symbols;
  for (size_t i = 0; i < args.size(); ++i) {
    RELAXC_DO(match_argument(params[i]->info, args[i]->info, symbols, e.items[i + 1]->place, params[i]->name));
  }
  if (explicit_list != nullptr) {
    RELAXC_TRY(std::vector<arith::Expr> given, explicit_symbols(reader, *explicit_list));
    RELAXC_DO(check_symbols(reader, given, symbols, *explicit_list));
  }
  RELAXC_TRY(std::vector<Info> results, reader.results(e.place));
  relax::Op* op = graph_.at(e.place).append(relax::OpKind::kCallFunction, args);
  op->callee = name;
  for (Info result : relax::results_of_call(context_, std::move(results), symbols, op->binds))
    function_.make_result(op, {}, result);
  return results_of(op);
}

/// Binds the callee's symbols to what an argument has in their place; reports what cannot fit.
Status RelaxFunctionReader::match_argument(Info param, Info argument, arith::Substitution& symbols, Place place,
                                           const std::string& name) {
  if (param->kind == relax::InfoKind::kObject) return Done{};
  auto mismatch = [&](Kind kind) {
    return source_.error(place, kind, "parameter '{}' is {}, found {}", name, relax::to_string(param),
                         relax::to_string(argument));
  };
  if (param->kind != argument->kind) return mismatch(Kind::dtype_mismatch);
  auto match_dims = [&](const auto& wanted, const auto& given) -> Status {
    if (!wanted || !given) return Done{};
    if (wanted->size() != given->size()) return mismatch(Kind::rank_mismatch);
    for (size_t i = 0; i < wanted->size(); ++i) {
      if ((*wanted)[i].template as<arith::VarNode>() && symbols.emplace((*wanted)[i], (*given)[i]).second) continue;
      arith::Expr expected = arith::substitute((*wanted)[i], symbols);
      if (arith::prove(arith::ne(expected, (*given)[i]), function_.facts)) return mismatch(Kind::shape_mismatch);
    }
    return Done{};
  };
  if (const auto* wanted = param->as<relax::TensorInfo>()) {
    const auto* given = argument->as<relax::TensorInfo>();
    if (wanted->dtype && given->dtype && wanted->dtype != given->dtype) return mismatch(Kind::dtype_mismatch);
    if (wanted->ndim >= 0 && given->ndim >= 0 && wanted->ndim != given->ndim) return mismatch(Kind::rank_mismatch);
    return match_dims(wanted->shape, given->shape);
  }
  if (const auto* wanted = param->as<relax::ShapeInfo>())
    return match_dims(wanted->dims, argument->as<relax::ShapeInfo>()->dims);
  if (const auto* wanted = param->as<relax::PrimInfo>()) {
    const auto* given = argument->as<relax::PrimInfo>();
    if (wanted->dtype != given->dtype) return mismatch(Kind::dtype_mismatch);
    if (wanted->value && given->value && wanted->value.as<arith::VarNode>())
      symbols.emplace(wanted->value, given->value);
    return Done{};
  }
  if (const auto* wanted = param->as<relax::CallableInfo>())
    if (wanted->params.size() != argument->as<relax::CallableInfo>()->params.size()) return mismatch(Kind::wrong_arity);
  if (const auto* wanted = param->as<relax::TupleInfo>()) {
    const auto& given = argument->as<relax::TupleInfo>()->fields;
    if (wanted->fields.size() != given.size()) return mismatch(Kind::wrong_arity);
    for (size_t i = 0; i < given.size(); ++i)
      RELAXC_DO(match_argument(wanted->fields[i], given[i], symbols, place, name));
  }
  return Done{};
}

}  // namespace relaxc::frontend
