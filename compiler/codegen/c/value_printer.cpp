// value_printer.cpp: see value_printer.h.
#include "compiler/codegen/c/value_printer.h"

#include "compiler/codegen/c/types.h"

namespace relaxc::codegen_c {

using arith::Expr;

ValuePrinter::ValuePrinter(const tir::PrimFunc& function, const FunctionStyle& style, Names& names,
                           std::set<std::string>& helpers, TextLines& out)
    : function_(function),
      names_(names),
      out_(out),
      expressions_(
          names, helpers, function.checks.overflow_code != 0 ? &ranges_.emplace(function) : nullptr,
          style.narrow_indices && tir::may_have_narrow_indices(function) ? &widths_.emplace(function) : nullptr) {
  if (style.dots) expressions_.use_dots();
  for (const tir::Param& param : function.params)
    if (param.buffer == nullptr && param.var.dtype().is_index()) expressions_.declare_wide(param.var);
  for (arith::Var symbol : function.symbols) expressions_.declare_wide(symbol);
}

std::string ValuePrinter::hoisted(Expr e) {
  declare(expressions_.share({e}));
  std::string text = expressions_.text(e);
  expressions_.end_statement();
  return text;
}

std::string ValuePrinter::computed(Expr e) {
  std::string text = hoisted(e);
  if (!expressions_.has_checks()) return text;
  std::string name = names_.fresh("value");
  out_.line("const {} {} = {};", expressions_.type_of(e), name, text);
  return name;
}

void ValuePrinter::check_overflow(const tir::Guard* computed_by) {
  if (!expressions_.take_checks()) return;
  checked_ = true;
  tir::Guard record = tir::overflow_record(function_, computed_by);
  auto known = [&](Expr e, int64_t otherwise) {
    return e && ranges_->all_fit(e) ? expressions_.text(e) : otherwise == 0 ? "0" : "INT64_MAX";
  };
  out_.line("if (bad) return {}(error, {}, {}, {}, {}, {}, {}, {});", expressions_.helper("fail"), record.code,
            record.tensor, record.axis, record.symbol, record.error_node, known(record.expected, INT64_MAX),
            known(record.actual, tir::overflow_actual(record)));
}

std::string ValuePrinter::counter_type(const tir::For& loop) {
  return value_type(widths_ && widths_->is_narrow(loop) ? DType::i(32) : DType::index());
}

std::string ValuePrinter::lane_type() const {
  return value_type(widths_ ? DType::i(32) : DType::index());
}

}  // namespace relaxc::codegen_c
