// effects.cpp: what a function does besides giving results: R.assert_op and R.print.
//
// An effect has no result, so its name is the empty tuple.
#include "compiler/relax/effects.h"
#include "frontends/relax/function/expressions.h"
#include "frontends/relax/function/forms.h"
#include "frontends/relax/function/values.h"
#include "frontends/relax/text/literals.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;
using relax::Info;
using relax::Value;

namespace {

/// `format="…"` or `format=R.str("…")`; empty without one.
Result<std::string> format_text(FunctionParts& fn, const ast::Expr& e) {
  const ast::Keyword* keyword = e.keyword("format");
  if (keyword == nullptr) return std::string();
  const ast::Expr* text = keyword->value;
  if (text->is(AstKind::kCall) && text->items.size() == 2 && fn.names.path_of(*text->items[0]) == "R.str")
    text = text->items[1];
  return string_value(fn.source, *text, "a format");
}

Status effect_here(FunctionParts& fn, const ast::Expr& e, std::string_view what) {
  if (!fn.graph.in_dataflow()) return Done{};
  return fn.source.error(e.place, Kind::purity, "{} has an effect and cannot stand in a dataflow block", what);
}

/// The values that a message or a line shows: arguments from `first` on, lists of them taken apart.
Result<std::vector<relax::Value*>> shown_values(FunctionParts& fn, const ast::Expr& e, size_t first) {
  std::vector<Value*> values;
  bool ok = true;
  for (size_t i = first; i < e.items.size(); ++i) {
    const ast::Expr& item = *e.items[i];
    std::vector<const ast::Expr*> parts = item.is(AstKind::kList) ? item.items : std::vector<const ast::Expr*>{&item};
    for (const ast::Expr* part : parts) {
      Value* value = operand_value(fn, *part);
      ok = ok && value != nullptr;
      if (value == nullptr) continue;
      if (relax::print_kind(value->info) == relax::kPrintNothing) {
        (void)fn.source.error(part->place, Kind::unsupported, "tensors, shapes and scalars can be shown, found {}",
                              relax::to_string(value->info));
        ok = false;
      }
      values.push_back(value);
    }
  }
  if (!ok) return fn.source.diag().failed();
  return values;
}

}  // namespace

Result<Term> assert_op(FunctionParts& fn, const ast::Expr& e) {
  Diagnostics& diag = fn.source.diag();
  RELAXC_DO(effect_here(fn, e, "R.assert_op"));
  if (e.items.size() < 2)
    return fn.source.error(e.place, Kind::wrong_arity, "R.assert_op takes a condition, values and a format");
  RELAXC_TRY(std::string format, format_text(fn, e));
  Value* condition = operand_value(fn, *e.items[1]);
  RELAXC_TRY(std::vector<Value*> values, shown_values(fn, e, 2));
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
  RELAXC_TRY(std::vector<Value*> values, shown_values(fn, e, 1));
  relax::PrintFormat read = relax::read_print_format(format, values.size());
  if (!read.fault.empty()) return fn.source.error(e.place, Kind::invalid_attribute, "{}", read.fault);
  fn.graph.at(e.place).append(relax::OpKind::kPrint, std::move(values))->attrs.set("format", std::move(format));
  return Term::sequence({});
}

}  // namespace relaxc::frontend
