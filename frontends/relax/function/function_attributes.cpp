// function_attributes.cpp: reads R.func_attr: attributes of the function, bounds of its symbols, and values of its
// parameters.
#include "compiler/relax/attr_text.h"
#include "compiler/relax/function_attrs.h"
#include "frontends/relax/constants/metadata.h"
#include "frontends/relax/function/expressions.h"
#include "frontends/relax/function/operators.h"
#include "frontends/relax/function/statements.h"
#include "frontends/relax/text/literals.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;

namespace {

/// Returns the symbol that `e` names, or null after a warning that there is none: TVM's importer of PyTorch programs
/// writes bounds under PyTorch's names, which are not always those of the symbols. The symbol needs no value yet: the
/// bound is a promise about its later value.
Result<arith::Var> bounded_symbol(FunctionParts& fn, const ast::Expr& e) {
  ast::Expr name = e;
  RELAXC_TRY(name.text, string_value(fn.source, e, "a symbol"));
  name.kind = AstKind::kName;
  auto* known = fn.names.find_own(name.text);
  bool is_symbol = known != nullptr && (known->value.kind == Term::kScalar || known->value.kind == Term::kValue);
  if (!is_symbol) {
    fn.diag().warning(fn.source.at(e.place), Kind::unbound_name,
                      "no symbol of this function is named '{}', so its bound has no effect", name.text);
    return arith::Var();
  }
  Scalar scalar = known->value.scalar;
  if (known->value.kind == Term::kValue) {
    RELAXC_TRY(scalar, fn.dims.read(name));
  }
  const auto* var = scalar.expr.as<arith::VarNode>();
  if (var == nullptr) return fn.source.error(e.place, Kind::invalid_attribute, "'{}' is not a symbol", name.text);
  return arith::Var(var);
}

/// Reads tir_var_upper_bound and the like, which are dicts from symbols to numbers.
Status symbol_bounds(FunctionParts& fn, const std::string& attribute, const ast::Expr& dict) {
  arith::Facts& facts = fn.function.facts;
  if (!dict.is(AstKind::kDict))
    return fn.source.error(dict.place, Kind::invalid_attribute, "'{}' takes a dict such as {{\"n\": 256}}", attribute);
  for (size_t i = 0; i + 1 < dict.items.size(); i += 2) {
    const ast::Expr &key = *dict.items[i], &written = *dict.items[i + 1];
    RELAXC_TRY(std::string symbol, string_value(fn.source, key, "a symbol"));
    RELAXC_TRY(arith::Expr value, fn.dims.index(written));
    if (value.constant() == nullptr)
      return fn.source.error(written.place, Kind::invalid_attribute, "a bound is an integer");
    RELAXC_TRY(arith::Var var, bounded_symbol(fn, key));
    if (!var) continue;
    int64_t bound = *value.constant();
    if (attribute == "tir_var_multiple_of" && bound < 1)
      return fn.source.error(written.place, Kind::invalid_attribute,
                             "'{}' cannot be a multiple of {}; a positive number is expected", symbol, bound);
    if (attribute == "tir_var_multiple_of")
      facts.multiple(var, bound);
    else if (attribute == "tir_var_upper_bound")
      facts.bound(var, {INT64_MIN, bound});
    else
      facts.bound(var, {bound, INT64_MAX});
    if (!facts.conflict().empty())
      return fn.source.error(written.place, Kind::invalid_attribute, "{} = {} leaves no value for '{}': {}", attribute,
                             bound, symbol, facts.conflict());
  }
  return Done{};
}

/// Returns the tensor metadata["ffi.Tensor"][number] that `e` refers to; null if the text has no metadata.
Result<relax::ConstantRef> tensor_of_metadata(FunctionParts& fn, const ast::Expr& e) {
  auto subscript = [](const ast::Expr& of) { return of.is(AstKind::kSubscript) && of.items.size() == 2; };
  const ast::Expr* list = subscript(e) ? e.items[0] : nullptr;
  const bool refers = list != nullptr && subscript(*list) && fn.names.path_of(*list->items[0]) == "metadata" &&
                      list->items[1]->is(AstKind::kString) && names_tensors(list->items[1]->text);
  if (!refers)
    return fn.source.error(e.place, Kind::invalid_attribute,
                           "'params' takes tensors such as metadata[\"ffi.Tensor\"][0], found {}", describe(e));
  RELAXC_TRY(int64_t number, integer_value(fn.source, *e.items[1]));
  if (fn.scope.bad_metadata) return fn.diag().failed();
  if (!fn.scope.has_metadata) return relax::ConstantRef();
  const auto count = static_cast<int64_t>(fn.scope.tensors.size());
  if (number >= 0 && number < count) return fn.scope.tensors[static_cast<size_t>(number)];
  return fn.source.error(e.place, Kind::missing_data, "there is no tensor {}; the metadata has {} tensors", number,
                         count);
}

/// Reads `params`: the values of the function's last parameters, as TVM's importers leave them with a module whose
/// weights are parameters (keep_params_in_input).
Status parameter_values(FunctionParts& fn, const ast::Expr& list) {
  const std::vector<relax::Value*>& params = fn.function.body().arguments;
  if (!list.is_sequence() || list.items.size() > params.size())
    return fn.source.error(list.place, Kind::invalid_attribute, "'params' is a list of at most {} tensors, found {}",
                           params.size(), list.is_sequence() ? std::to_string(list.items.size()) : describe(list));
  std::map<std::string, relax::ConstantRef> values;
  const size_t first = params.size() - list.items.size();
  for (size_t i = 0; i < list.items.size(); ++i) {
    RELAXC_TRY(values[params[first + i]->name], tensor_of_metadata(fn, *list.items[i]));
  }
  if (fn.scope.beside.give && !values.empty()) fn.scope.beside.give(fn.function.name, std::move(values));
  return Done{};
}

}  // namespace

Status function_attributes(FunctionParts& fn, const ast::Expr& call) {
  if (call.items.size() != 2 || !call.items[1]->is(AstKind::kDict))
    return fn.source.error(call.place, Kind::invalid_attribute, "R.func_attr takes one dict");
  const std::vector<const ast::Expr*>& entries = call.items[1]->items;
  for (size_t i = 0; i + 1 < entries.size(); i += 2) {
    RELAXC_TRY(std::string key, string_value(fn.source, *entries[i], "an attribute's name"));
    const ast::Expr& value = *entries[i + 1];
    if (key == "tir_var_upper_bound" || key == "tir_var_lower_bound" || key == "tir_var_multiple_of") {
      RELAXC_DO(symbol_bounds(fn, key, value));
      continue;
    }
    if (key == "global_symbol") continue;
    if (key == "params") {
      RELAXC_DO(parameter_values(fn, value));
      continue;
    }
    RELAXC_TRY(Term term, eval(fn, value));
    const relax::FunctionAttr* row = relax::find_function_attr(key);
    relax::AttrType type = row == nullptr ? relax::AttrType::kString : row->type;
    RELAXC_TRY(relax::AttrValue read, attribute_value(fn.source, term, type, key, value.place));
    if (!relax::set_attribute(fn.function, key, read))
      return fn.source.error(value.place, Kind::invalid_attribute, "'{}' is {}, found {}", key, row->form,
                             relax::attr_text(read));
  }
  return Done{};
}

}  // namespace relaxc::frontend
