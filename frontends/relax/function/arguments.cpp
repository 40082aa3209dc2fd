// arguments.cpp: reads the arguments of calls of all kinds of functions.
#include <algorithm>

#include "compiler/support/suggest.h"
#include "frontends/relax/function/calls.h"
#include "frontends/relax/function/expressions.h"
#include "frontends/relax/function/infos.h"
#include "frontends/relax/function/values.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;
using relax::Info;
using relax::Value;

namespace {

/// Returns a term as a value; with `texts`, a string becomes a constant of its bytes, as external functions take it.
Result<Value*> argument_value(FunctionParts& fn, const Term& term, Place place, bool texts) {
  if (!texts || term.kind != Term::kString) return as_value(fn, term, place);
  const auto* data = reinterpret_cast<const std::byte*>(term.text.data());
  return fn.graph.at(place).constant(relax::ConstantData::inline_bytes(
      DType::u(8), {static_cast<int64_t>(term.text.size())}, {data, data + term.text.size()}));
}

}  // namespace

const ast::Expr* argument(const ast::Expr& e, size_t position, std::initializer_list<std::string_view> names) {
  if (e.items.size() > position) return e.items[position];
  for (std::string_view name : names)
    if (const ast::Keyword* keyword = e.keyword(name)) return keyword->value;
  return nullptr;
}

const ast::Keyword* result_types(const ast::Expr& call) {
  for (std::string_view name : {"out_ty", "ty_args", "out_sinfo", "sinfo_args", "type_args"})
    if (const ast::Keyword* keyword = call.keyword(name)) return keyword;
  return nullptr;
}

Status check_keywords(FunctionParts& fn, const ast::Expr& e, const std::vector<std::string>& known) {
  for (const ast::Keyword& keyword : e.keywords) {
    if (std::find(known.begin(), known.end(), keyword.name) != known.end()) continue;
    Failure failure =
        fn.source.error(keyword.place, Kind::invalid_attribute, "the call has no argument '{}'", keyword.name);
    if (auto near = nearest_name(keyword.name, known)) fn.source.hint("did you mean '{}'?", *near);
    return failure;
  }
  return Done{};
}

Result<std::vector<relax::Value*>> call_arguments(FunctionParts& fn, const ast::Expr& list, bool texts) {
  std::vector<const ast::Expr*> items = {&list};
  std::string callee = list.is(AstKind::kCall) ? fn.names.path_of(*list.items[0]) : "";
  bool arguments = callee == "R.carry" || callee == "R.tuple";
  if (list.is_sequence()) items = list.items;
  if (arguments) items.assign(list.items.begin() + 1, list.items.end());
  std::vector<Value*> values;
  bool ok = true;
  for (const ast::Expr* item : items) {
    Result<Term> term = eval(fn, *item);
    bool spread = term && items.size() == 1 && !list.is_sequence() && !arguments && term->kind == Term::kSequence;
    std::vector<Term> parts = !term ? std::vector<Term>{} : spread ? term->items : std::vector<Term>{*term};
    ok = ok && term;
    for (const Term& part : parts) {
      Result<Value*> value = argument_value(fn, part, item->place, texts);
      ok = ok && value;
      if (value && *value == nullptr) {
        (void)fn.source.error(item->place, Kind::invalid_value, "None cannot be an argument");
        ok = false;
      }
      if (ok) values.push_back(*value);
    }
  }
  if (!ok) return fn.source.diag().failed();
  return values;
}

Result<std::vector<relax::Value*>> listed_arguments(FunctionParts& fn, const ast::Expr& list, bool texts) {
  RELAXC_TRY(std::vector<Value*> values, call_arguments(fn, list, texts));
  const bool tuple = list.is(AstKind::kCall) && fn.names.path_of(*list.items[0]) == "R.tuple";
  const bool alone = values.size() == 1 && !list.is_sequence() && !tuple;
  if (!alone || values[0]->info->as<relax::TupleInfo>() == nullptr) return values;
  return tuple_fields(fn, values[0], list.place);
}

Result<std::vector<relax::Value*>> positional_arguments(FunctionParts& fn, const ast::Expr& e, size_t first,
                                                        bool texts) {
  std::vector<Value*> args;
  bool ok = true;
  for (size_t i = first; i < e.items.size(); ++i) {
    Result<Term> term = eval(fn, *e.items[i]);
    Result<Value*> value = term ? argument_value(fn, *term, e.items[i]->place, texts) : fn.source.diag().failed();
    ok = ok && value;
    if (!ok) continue;
    if (*value == nullptr)
      return fn.source.error(e.items[i]->place, Kind::invalid_value, "expected a value, found None");
    args.push_back(*value);
  }
  if (!ok) return fn.source.diag().failed();
  return args;
}

Result<std::vector<relax::Info>> output_infos(FunctionParts& fn, const ast::Expr& e, size_t position) {
  const ast::Expr* declared = e.items.size() > position ? e.items[position] : nullptr;
  if (const ast::Keyword* keyword = result_types(e)) declared = keyword->value;
  if (declared == nullptr)
    return fn.source.error(e.place, Kind::wrong_arity, "the call needs out_ty=R.Tensor(…) to say what it gives");
  RELAXC_TRY(std::vector<Info> infos, read_infos(fn, *declared));
  const auto* tuple = infos.size() == 1 ? infos[0]->as<relax::TupleInfo>() : nullptr;
  return tuple != nullptr && !tuple->fields.empty() ? tuple->fields : infos;
}

/// Returns the C function for a packed function of TVM, whose name may have dots: my.pkg.filter is my_pkg_filter.
static Result<Term> external_term(FunctionParts& fn, const std::string& text, Place place) {
  std::string name = text;
  std::replace(name.begin(), name.end(), '.', '_');
  auto [known, fresh] = fn.scope.dotted.emplace(name, text);
  if (known->second == text) return Term::of(Term::kExternal, name);
  return fn.source.error(place, Kind::redefinition, "'{}' and '{}' would be one function '{}' in C", known->second,
                         text, name);
}

Result<Term> callee(FunctionParts& fn, const ast::Expr& e) {
  RELAXC_TRY(Term term, eval(fn, e));
  if (term.kind == Term::kString || term.kind == Term::kExternal) return external_term(fn, term.text, e.place);
  if (term.kind == Term::kGlobal) return term;
  return fn.source.error(e.place, Kind::dtype_mismatch, "expected a function");
}

}  // namespace relaxc::frontend
