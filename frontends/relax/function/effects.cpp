// effects.cpp: reads R.assert_op and R.print, which have effects.
//
// They have no result, so a name that is assigned is the empty tuple.
#include "compiler/relax/effects.h"
#include "frontends/relax/function/expressions.h"
#include "frontends/relax/function/special_forms.h"
#include "frontends/relax/function/values.h"
#include "frontends/relax/text/literals.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;
using relax::Info;
using relax::Value;

namespace {

/// Returns the text of R.str("…"); any other expression is returned itself.
const ast::Expr& within_str(FunctionParts& fn, const ast::Expr& e) {
  bool boxed = e.is(AstKind::kCall) && e.items.size() == 2 && fn.names.path_of(*e.items[0]) == "R.str";
  return boxed ? *e.items[1] : e;
}

/// Returns the text of `format="…"` or `format=R.str("…")`; empty if there is no format.
Result<std::string> format_text(FunctionParts& fn, const ast::Expr& e) {
  const ast::Keyword* keyword = e.keyword("format");
  if (keyword == nullptr) return std::string();
  return string_value(fn.source, within_str(fn, *keyword->value), "a format");
}

Status effect_here(FunctionParts& fn, const ast::Expr& e, std::string_view what) {
  if (!fn.graph.in_dataflow()) return Done{};
  return fn.source.error(e.place, Kind::purity, "{} has an effect and cannot be in a dataflow block", what);
}

/// What to print: the values, and the text of each argument, with a "{}" for each value in it.
struct Shown {
  std::vector<Value*> values;
  std::vector<std::string> forms;
};

/// Adds a value to `shown` and its text to `form`; a tuple adds its fields, in parentheses.
Status show(FunctionParts& fn, Value* value, Place place, Shown& shown, std::string& form) {
  if (relax::print_kind(value->info) != relax::kPrintNothing) {
    shown.values.push_back(value);
    form += "{}";
    return Done{};
  }
  const auto* tuple = value->info->as<relax::TupleInfo>();
  if (tuple == nullptr)
    return fn.source.error(place, Kind::unsupported, "tensors, shapes, scalars and tuples can be shown, found {}",
                           relax::to_string(value->info));
  form += "(";
  for (size_t i = 0; i < tuple->fields.size(); ++i) {
    if (i > 0) form += ", ";
    RELAXC_TRY(Value * field, fn.graph.at(place).tuple_get(value, static_cast<int64_t>(i)));
    RELAXC_DO(show(fn, field, place, shown, form));
  }
  form += ")";
  return Done{};
}

/// Returns a text as a format that shows it.
std::string as_format(const std::string& text) {
  std::string out;
  for (char c : text) out += c == '{' || c == '}' ? std::string(2, c) : std::string(1, c);
  return out;
}

/// Returns the arguments from `first` on; the items of lists count as arguments. A string shows itself.
Result<Shown> shown_values(FunctionParts& fn, const ast::Expr& e, size_t first) {
  Shown shown;
  bool ok = true;
  for (size_t i = first; i < e.items.size(); ++i) {
    const ast::Expr& item = *e.items[i];
    std::vector<const ast::Expr*> parts = item.is(AstKind::kList) ? item.items : std::vector<const ast::Expr*>{&item};
    for (const ast::Expr* part : parts) {
      if (const ast::Expr& text = within_str(fn, *part); text.is(AstKind::kString)) {
        shown.forms.push_back(as_format(text.text));
        continue;
      }
      Value* value = operand_value(fn, *part);
      ok = ok && value != nullptr;
      if (value != nullptr) ok &= bool(show(fn, value, part->place, shown, shown.forms.emplace_back()));
    }
  }
  if (!ok) return fn.source.diag().failed();
  return shown;
}

/// Returns the format with each argument's text in place of its "{}", if an argument is not exactly one value.
std::string spelled_out(std::string format, const std::vector<std::string>& forms) {
  bool plain = true;
  for (const std::string& form : forms) plain = plain && form == "{}";
  if (plain) return format;
  std::string out;
  if (format.empty()) {
    for (const std::string& form : forms) out += out.empty() ? form : " " + form;
    return out;
  }
  size_t next = 0;
  for (size_t i = 0; i < format.size(); ++i) {
    bool brace = format[i] == '{' || format[i] == '}',
         twice = brace && i + 1 < format.size() && format[i + 1] == format[i];
    bool place = !twice && format.compare(i, 2, "{}") == 0 && next < forms.size();
    out += place ? forms[next++] : twice ? format.substr(i, 2) : format.substr(i, 1);
    if (place || twice) ++i;
  }
  return out;
}

}  // namespace

Result<Term> assert_op(FunctionParts& fn, const ast::Expr& e) {
  Diagnostics& diag = fn.source.diag();
  RELAXC_DO(effect_here(fn, e, "R.assert_op"));
  if (e.items.size() < 2)
    return fn.source.error(e.place, Kind::wrong_arity, "R.assert_op takes a condition, values and a format");
  RELAXC_TRY(std::string format, format_text(fn, e));
  Value* condition = operand_value(fn, *e.items[1]);
  RELAXC_TRY(Shown shown, shown_values(fn, e, 2));
  std::vector<Value*> values = std::move(shown.values);
  format = spelled_out(std::move(format), shown.forms);
  if (condition == nullptr) return diag.failed();
  const auto* prim = condition->info->as<relax::PrimInfo>();
  const auto* tensor = condition->info->as<relax::TensorInfo>();
  bool scalar = tensor != nullptr && tensor->ndim == 0 && tensor->dtype == DType::boolean();
  if (!scalar && (prim == nullptr || !prim->dtype.is_bool()))
    return fn.source.error(e.items[1]->place, Kind::dtype_mismatch,
                           "the condition is a scalar bool or a comparison of dims, found {}",
                           relax::to_string(condition->info));
  values.insert(values.begin(), condition);
  fn.graph.at(e.place).append(relax::OpKind::kAssert, std::move(values))->attrs.set("format", std::move(format));
  return Term::sequence({});
}

Result<Term> print_values(FunctionParts& fn, const ast::Expr& e) {
  RELAXC_DO(effect_here(fn, e, "R.print"));
  RELAXC_TRY(std::string format, format_text(fn, e));
  RELAXC_TRY(Shown shown, shown_values(fn, e, 1));
  std::vector<Value*> values = std::move(shown.values);
  format = spelled_out(std::move(format), shown.forms);
  relax::PrintFormat read = relax::read_print_format(format, values.size());
  if (!read.fault.empty()) return fn.source.error(e.place, Kind::invalid_attribute, "{}", read.fault);
  fn.graph.at(e.place).append(relax::OpKind::kPrint, std::move(values))->attrs.set("format", std::move(format));
  return Term::sequence({});
}

}  // namespace relaxc::frontend
