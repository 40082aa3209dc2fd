// arguments.cpp: what calls of all kinds of functions have in common.
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

const ast::Expr* argument(const ast::Expr& e, size_t position, std::initializer_list<std::string_view> names) {
  if (e.items.size() > position) return e.items[position];
  for (std::string_view name : names)
    if (const ast::Keyword* keyword = e.keyword(name)) return keyword->value;
  return nullptr;
}

const ast::Keyword* result_types(const ast::Expr& call) {
  for (std::string_view name : {"out_ty", "ty_args", "out_sinfo", "sinfo_args"})
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

Result<std::vector<relax::Value*>> call_arguments(FunctionParts& fn, const ast::Expr& list) {
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
      Result<Value*> value = as_value(fn, part, item->place);
      ok = ok && value;
      if (value && *value == nullptr) {
        (void)fn.source.error(item->place, Kind::invalid_value, "None is no argument");
        ok = false;
      }
      if (ok) values.push_back(*value);
    }
  }
  if (!ok) return fn.source.diag().failed();
  return values;
}

Result<std::vector<relax::Value*>> positional_arguments(FunctionParts& fn, const ast::Expr& e, size_t first) {
  std::vector<Value*> args;
  bool ok = true;
  for (size_t i = first; i < e.items.size(); ++i) {
    args.push_back(operand_value(fn, *e.items[i]));
    ok = ok && args.back() != nullptr;
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

Result<Term> callee(FunctionParts& fn, const ast::Expr& e) {
  RELAXC_TRY(Term term, eval(fn, e));
  if (term.kind == Term::kString) return Term::of(Term::kExternal, term.text);
  if (term.kind == Term::kGlobal || term.kind == Term::kExternal) return term;
  return fn.source.error(e.place, Kind::dtype_mismatch, "expected a function");
}

}  // namespace relaxc::frontend
