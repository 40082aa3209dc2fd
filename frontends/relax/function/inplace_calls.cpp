// inplace_calls.cpp: reads calls that write a result to an operand's memory.
//
// Their results are values like any others: the operand keeps its value, and lowering decides whether its memory can be
// reused.
#include <set>

#include "frontends/relax/function/calls.h"
#include "frontends/relax/function/values.h"
#include "frontends/relax/text/literals.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;
using relax::Info;
using relax::Value;

namespace {

/// Reports an output `i` that cannot reuse argument `number`, of type `given`; null: it reuses none.
Status check_place(FunctionParts& fn, size_t i, Info wanted, int64_t number, Info given, Place place) {
  const auto* output = wanted->as<relax::TensorInfo>();
  if (output == nullptr)
    return fn.source.error(place, Kind::dtype_mismatch, "output {} must be a tensor, found {}", i,
                           relax::to_string(wanted));
  if (given == nullptr) return Done{};
  const auto* operand = given->as<relax::TensorInfo>();
  bool differs = operand == nullptr || operand->dtype != output->dtype || !operand->shape || !output->shape ||
                 operand->shape->size() != output->shape->size();
  for (size_t axis = 0; !differs && axis < output->shape->size(); ++axis)
    differs = !arith::prove_equal((*operand->shape)[axis], (*output->shape)[axis], fn.function.facts);
  if (!differs) return Done{};
  return fn.source.error(place, Kind::shape_mismatch, "output {} is {} and takes the place of argument {}, which is {}",
                         i, relax::to_string(wanted), number, relax::to_string(given));
}

/// Returns for each output the argument whose memory it reuses, or -1. Reports outputs that cannot reuse it.
Result<std::vector<int64_t>> inplace_indices(FunctionParts& fn, const ast::Expr& e, const ast::Expr* listed,
                                             const std::vector<Value*>& args, const std::vector<Info>& outputs) {
  if (const ast::Keyword* keyword = e.keyword("inplace_indices")) listed = keyword->value;
  if (listed == nullptr)
    return fn.source.error(e.place, Kind::wrong_arity,
                           "the call needs inplace_indices=[…], an operand for each output");
  std::vector<const ast::Expr*> items = listed->is_sequence() ? listed->items : std::vector<const ast::Expr*>{listed};
  if (items.size() != outputs.size())
    return fn.source.error(listed->place, Kind::wrong_arity, "{} inplace_indices for {} outputs", items.size(),
                           outputs.size());
  std::vector<int64_t> indices;
  std::set<int64_t> taken;
  for (size_t i = 0; i < items.size(); ++i) {
    RELAXC_TRY(arith::Expr number, fn.dims.index(*items[i]));
    const int64_t* value = number.constant();
    if (value == nullptr || *value < -1 || *value >= static_cast<int64_t>(args.size()))
      return fn.source.error(items[i]->place, Kind::invalid_value, "expected the number of one of {} arguments, or -1",
                             args.size());
    if (*value >= 0 && !taken.insert(*value).second)
      return fn.source.error(items[i]->place, Kind::invalid_value, "two outputs cannot take the place of argument {}",
                             *value);
    indices.push_back(*value);
    RELAXC_DO(check_place(fn, i, outputs[i], *value,
                          *value < 0 ? Info(nullptr) : args[static_cast<size_t>(*value)]->info, e.place));
  }
  return indices;
}

Result<Term> call_inplace(FunctionParts& fn, const std::string& name, bool external, std::vector<Value*> args,
                          std::vector<int64_t> indices, const std::vector<Info>& outputs, Place place) {
  relax::Op* op = fn.graph.at(place).append(relax::OpKind::kCallInplace, std::move(args));
  op->callee = name;
  op->attrs.set("external", external);
  op->attrs.set("inplace_indices", std::move(indices));
  for (Info output : outputs) fn.function.make_result(op, {}, output);
  return results_of(op);
}

}  // namespace

Result<Term> call_tir_inplace(FunctionParts& fn, const ast::Expr& e) {
  Diagnostics& diag = fn.source.diag();
  if (e.items.size() < 3 || e.items.size() > 5)
    return fn.source.error(e.place, Kind::wrong_arity,
                           "R.call_tir_inplace takes a prim func, its arguments, inplace_indices and out_ty");
  Result<Term> function = callee(fn, *e.items[1]);
  Result<std::vector<Value*>> args = listed_arguments(fn, *e.items[2]);
  Result<std::vector<Info>> outputs = output_infos(fn, e, 4);
  if (!function || !args || !outputs) return diag.failed();
  if (function->kind != Term::kGlobal)
    return fn.source.error(e.items[1]->place, Kind::dtype_mismatch,
                           "R.call_tir_inplace calls a prim func; R.call_inplace_packed calls an external function");
  const ast::Expr* listed = e.items.size() > 3 ? e.items[3] : nullptr;
  if (const ast::Keyword* symbols = e.keyword("tir_vars")) {
    RELAXC_TRY(std::vector<arith::Expr> list, fn.dims.list(*symbols->value));
    for (arith::Expr symbol : list) args->push_back(fn.graph.at(e.place).prim(symbol));
  }
  RELAXC_TRY(std::vector<int64_t> indices, inplace_indices(fn, e, listed, *args, *outputs));
  const Global& global = fn.scope.globals.at(function->text);
  if (global.kind == Global::kPoison) return diag.failed();
  const tir::PrimFunc* prim = fn.scope.prim_func(function->text);
  if (prim == nullptr)
    return fn.source.error(e.items[1]->place, Kind::dtype_mismatch,
                           "R.call_tir_inplace calls a prim func, and '{}' is not one", function->text);
  std::vector<Info> fresh;
  for (size_t i = 0; i < indices.size(); ++i)
    if (indices[i] < 0) fresh.push_back((*outputs)[i]);
  RELAXC_DO(check_prim_args(fn, *prim, *args, fresh, e.place));
  return call_inplace(fn, prim->name, false, std::move(*args), std::move(indices), *outputs, e.place);
}

Result<Term> call_inplace_packed(FunctionParts& fn, const ast::Expr& e) {
  Diagnostics& diag = fn.source.diag();
  if (e.items.size() < 3)
    return fn.source.error(e.place, Kind::wrong_arity, "R.call_inplace_packed takes a function and its arguments");
  Result<Term> function = callee(fn, *e.items[1]);
  Result<std::vector<Value*>> args = positional_arguments(fn, e, 2, true);
  Result<std::vector<Info>> outputs = output_infos(fn, e, e.items.size());
  if (!function || !args || !outputs) return diag.failed();
  if (function->kind != Term::kExternal)
    return fn.source.error(e.items[1]->place, Kind::dtype_mismatch,
                           "R.call_inplace_packed calls an external function; R.call_tir_inplace calls a prim func");
  RELAXC_TRY(std::vector<int64_t> indices, inplace_indices(fn, e, nullptr, *args, *outputs));
  return call_inplace(fn, function->text, true, std::move(*args), std::move(indices), *outputs, e.place);
}

}  // namespace relaxc::frontend
