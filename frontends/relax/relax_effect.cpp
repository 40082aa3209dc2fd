// relax_effect.cpp: what a function does besides giving results (R.assert_op, R.print), and calls that give a result
// where an operand was (R.call_tir_inplace, R.call_inplace_packed).
//
// An effect has no result, so its name is the empty tuple. In-place calls are values like any others: the operand keeps
// what it is, and whether its memory may be taken is lowering's question.
#include "compiler/relax/effects.h"
#include "frontends/relax/literals.h"
#include "frontends/relax/relax_function.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;

/// `format="…"` or `format=R.str("…")`; empty without one.
Result<std::string> RelaxFunctionReader::format_text(const ast::Expr& e) {
  const ast::Keyword* keyword = e.keyword("format");
  if (keyword == nullptr) return std::string();
  const ast::Expr* text = keyword->value;
  if (text->is(AstKind::kCall) && text->items.size() == 2 && path_of(*text->items[0]) == "R.str") text = text->items[1];
  return string_value(source_, *text, "a format");
}

Status RelaxFunctionReader::effect_here(const ast::Expr& e, std::string_view what) {
  if (!graph_.in_dataflow()) return Done{};
  return source_.error(e.place, Kind::purity, "{} has an effect and cannot stand in a dataflow block", what);
}

/// The values that a message or a line shows: arguments from `first` on, lists of them taken apart.
Result<std::vector<relax::Value*>> RelaxFunctionReader::shown_values(const ast::Expr& e, size_t first) {
  std::vector<Value*> values;
  bool ok = true;
  for (size_t i = first; i < e.items.size(); ++i) {
    const ast::Expr& item = *e.items[i];
    std::vector<const ast::Expr*> parts = item.is(AstKind::kList) ? item.items : std::vector<const ast::Expr*>{&item};
    for (const ast::Expr* part : parts) {
      Value* value = operand_value(*part);
      ok = ok && value != nullptr;
      if (value == nullptr) continue;
      if (relax::print_kind(value->info) == relax::kPrintNothing) {
        (void)source_.error(part->place, Kind::unsupported, "tensors, shapes and scalars can be shown, found {}",
                            relax::to_string(value->info));
        ok = false;
      }
      values.push_back(value);
    }
  }
  if (!ok) return source_.diag().failed();
  return values;
}

/// R.assert_op(condition, values…, format="…")
Result<Term> RelaxFunctionReader::assert_op(const ast::Expr& e) {
  Diagnostics& diag = source_.diag();
  RELAXC_DO(effect_here(e, "R.assert_op"));
  if (e.items.size() < 2)
    return source_.error(e.place, Kind::wrong_arity, "R.assert_op takes a condition, values and a format");
  RELAXC_TRY(std::string format, format_text(e));
  Value* condition = operand_value(*e.items[1]);
  RELAXC_TRY(std::vector<Value*> values, shown_values(e, 2));
  if (condition == nullptr) return diag.failed();
  const auto* prim = condition->info->as<relax::PrimInfo>();
  const auto* tensor = condition->info->as<relax::TensorInfo>();
  bool scalar = tensor != nullptr && tensor->ndim == 0 && tensor->dtype == DType::boolean();
  if (!scalar && (prim == nullptr || !prim->dtype.is_bool()))
    return source_.error(e.items[1]->place, Kind::dtype_mismatch,
                         "the condition is a scalar bool or a comparison of dims, found {}",
                         relax::to_string(condition->info));
  values.insert(values.begin(), condition);
  graph_.at(e.place).append(relax::OpKind::kAssert, std::move(values))->attrs.set("format", std::move(format));
  return Term::sequence({});
}

/// R.print(values…, format="…")
Result<Term> RelaxFunctionReader::print(const ast::Expr& e) {
  RELAXC_DO(effect_here(e, "R.print"));
  RELAXC_TRY(std::string format, format_text(e));
  RELAXC_TRY(std::vector<Value*> values, shown_values(e, 1));
  relax::PrintFormat read = relax::read_print_format(format, values.size());
  if (!read.fault.empty()) return source_.error(e.place, Kind::invalid_attribute, "{}", read.fault);
  graph_.at(e.place).append(relax::OpKind::kPrint, std::move(values))->attrs.set("format", std::move(format));
  return Term::sequence({});
}

/// R.call_tir_inplace(cls.f, (x, y), inplace_indices=[0, -1], out_ty=[…])
Result<Term> RelaxFunctionReader::call_tir_inplace(const ast::Expr& e) {
  Diagnostics& diag = source_.diag();
  if (e.items.size() < 3 || e.items.size() > 5)
    return source_.error(e.place, Kind::wrong_arity,
                         "R.call_tir_inplace takes a prim func, its arguments, inplace_indices and out_ty");
  Result<Term> function = callee(*e.items[1]);
  Result<std::vector<Value*>> args = call_arguments(*e.items[2]);
  Result<std::vector<Info>> outputs = output_infos(e, 4);
  if (!function || !args || !outputs) return diag.failed();
  if (function->kind != Term::kGlobal)
    return source_.error(e.items[1]->place, Kind::dtype_mismatch,
                         "R.call_tir_inplace calls a prim func; R.call_inplace_packed calls an external function");
  const ast::Expr* listed = e.items.size() > 3 ? e.items[3] : nullptr;
  if (const ast::Keyword* symbols = e.keyword("tir_vars")) {
    RELAXC_TRY(std::vector<arith::Expr> list, dims(*symbols->value));
    for (arith::Expr symbol : list) args->push_back(graph_.at(e.place).prim(symbol));
  }
  RELAXC_TRY(std::vector<int64_t> indices, inplace_indices(e, listed, *args, *outputs));
  const Global& global = scope_.globals.at(function->text);
  if (global.kind == Global::kPoison) return diag.failed();
  const tir::PrimFunc* prim = scope_.module.find_prim_func(function->text);
  if (global.kind != Global::kPrimFunc || prim == nullptr)
    return source_.error(e.place, Kind::dtype_mismatch, "R.call_tir_inplace calls a prim func, and '{}' is none",
                         function->text);
  std::vector<Info> fresh;
  for (size_t i = 0; i < indices.size(); ++i)
    if (indices[i] < 0) fresh.push_back((*outputs)[i]);
  RELAXC_DO(check_prim_args(*prim, *args, fresh, e.place));
  return call_inplace(function->text, false, std::move(*args), std::move(indices), *outputs, e.place);
}

/// R.call_inplace_packed("f", x, y, inplace_indices=[0], ty_args=R.Tensor(…))
Result<Term> RelaxFunctionReader::call_inplace_packed(const ast::Expr& e) {
  Diagnostics& diag = source_.diag();
  if (e.items.size() < 3)
    return source_.error(e.place, Kind::wrong_arity, "R.call_inplace_packed takes a function and its arguments");
  Result<Term> function = callee(*e.items[1]);
  Result<std::vector<Value*>> args = positional_arguments(e, 2);
  Result<std::vector<Info>> outputs = output_infos(e, e.items.size());
  if (!function || !args || !outputs) return diag.failed();
  if (function->kind != Term::kExternal)
    return source_.error(e.items[1]->place, Kind::dtype_mismatch,
                         "R.call_inplace_packed calls an external function; R.call_tir_inplace calls a prim func");
  RELAXC_TRY(std::vector<int64_t> indices, inplace_indices(e, nullptr, *args, *outputs));
  return call_inplace(function->text, true, std::move(*args), std::move(indices), *outputs, e.place);
}

/// For each output the operand that it takes the place of, or -1; reports what cannot be.
Result<std::vector<int64_t>> RelaxFunctionReader::inplace_indices(const ast::Expr& e, const ast::Expr* listed,
                                                                  const std::vector<Value*>& args,
                                                                  const std::vector<Info>& outputs) {
  if (const ast::Keyword* keyword = e.keyword("inplace_indices")) listed = keyword->value;
  if (listed == nullptr)
    return source_.error(e.place, Kind::wrong_arity, "the call needs inplace_indices=[…], an operand for each output");
  std::vector<const ast::Expr*> items = listed->is_sequence() ? listed->items : std::vector<const ast::Expr*>{listed};
  if (items.size() != outputs.size())
    return source_.error(listed->place, Kind::wrong_arity, "{} inplace_indices for {} outputs", items.size(),
                         outputs.size());
  std::vector<int64_t> indices;
  std::set<int64_t> taken;
  for (size_t i = 0; i < items.size(); ++i) {
    RELAXC_TRY(arith::Expr number, index(*items[i]));
    const int64_t* value = number.constant();
    if (value == nullptr || *value < -1 || *value >= static_cast<int64_t>(args.size()))
      return source_.error(items[i]->place, Kind::invalid_value, "expected the number of one of {} arguments, or -1",
                           args.size());
    if (*value >= 0 && !taken.insert(*value).second)
      return source_.error(items[i]->place, Kind::invalid_value, "two outputs cannot take the place of argument {}",
                           *value);
    const auto* output = outputs[i]->as<relax::TensorInfo>();
    if (output == nullptr)
      return source_.error(e.place, Kind::dtype_mismatch, "output {} must be a tensor, found {}", i,
                           relax::to_string(outputs[i]));
    indices.push_back(*value);
    if (*value < 0) continue;
    Info given = args[static_cast<size_t>(*value)]->info;
    const auto* operand = given->as<relax::TensorInfo>();
    bool differs = operand == nullptr || operand->dtype != output->dtype || !operand->shape || !output->shape ||
                   operand->shape->size() != output->shape->size();
    for (size_t axis = 0; !differs && axis < output->shape->size(); ++axis)
      differs = !arith::prove_equal((*operand->shape)[axis], (*output->shape)[axis], function_.facts);
    if (differs)
      return source_.error(e.place, Kind::shape_mismatch,
                           "output {} is {} and takes the place of argument {}, which is {}", i,
                           relax::to_string(outputs[i]), *value, relax::to_string(given));
  }
  return indices;
}

Result<Term> RelaxFunctionReader::call_inplace(const std::string& name, bool external, std::vector<Value*> args,
                                               std::vector<int64_t> indices, const std::vector<Info>& outputs,
                                               Place place) {
  relax::Op* op = graph_.at(place).append(relax::OpKind::kCallInplace, std::move(args));
  op->callee = name;
  op->attrs.set("external", external);
  op->attrs.set("inplace_indices", std::move(indices));
  for (Info output : outputs) function_.make_result(op, {}, output);
  return results_of(op);
}

}  // namespace relaxc::frontend
