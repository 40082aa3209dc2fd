// external_calls.cpp: reads calls of external functions: those that fill their arguments, those that make their
// results, those that compute a shape, and those that are called for an effect.
//
// call_dps(shape, f, [args]) of 2021 is call_tir or a call of an external function, depending on f.
#include <algorithm>

#include "compiler/relax/callable.h"
#include "frontends/relax/function/calls.h"
#include "frontends/relax/function/casts.h"
#include "frontends/relax/function/infos.h"
#include "frontends/relax/function/values.h"
#include "frontends/relax/text/literals.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;
using relax::Info;
using relax::Value;

namespace {

/// A function of TVM's runtime that empties a field of a tuple, so that the tensor that nothing else refers to is
/// freed. The plan of memory knows the last use of each tensor.
constexpr std::string_view kResetItem = "vm_builtin_tuple_reset_item";

/// Emits a call whose external function allocates the results: tensors of known rank and dtype, whose undeclared dims
/// become symbols, or opaque objects.
Result<Term> returned_results(FunctionParts& fn, const std::string& name, const std::vector<Value*>& args,
                              std::vector<Info> infos, std::vector<arith::Var> bound, Place place) {
  for (Info& info : infos) {
    const auto* tensor = info->as<relax::TensorInfo>();
    bool known = tensor != nullptr && tensor->dtype && tensor->ndim >= 0;
    if (!known && info->as<relax::ObjectInfo>() == nullptr)
      return fn.source.error(place, Kind::unsupported,
                             "'{}' gives a tensor of known rank and dtype, a shape or an object, found {}; write "
                             "R.Tensor(ndim=1, dtype=\"float32\")",
                             name, relax::to_string(info));
    if (tensor == nullptr || tensor->shape) continue;
    std::vector<arith::Expr> dims;
    for (int32_t i = 0; i < tensor->ndim; ++i) {
      bound.push_back(fn.context().var("d" + std::to_string(bound.size())));
      dims.push_back(bound.back());
    }
    info = relax::tensor_info(fn.context(), std::move(dims), *tensor->dtype);
  }
  relax::Op* op = fn.graph.at(place).append(relax::OpKind::kCallExternal, args);
  op->callee = name;
  op->attrs.set("returned", true);
  op->binds = std::move(bound);
  for (Info info : infos) fn.function.make_result(op, {}, info);
  return results_of(op);
}

}  // namespace

Result<Term> external_call(FunctionParts& fn, const std::string& name, const std::vector<Value*>& args,
                           std::vector<Info> outputs, Place place) {
  auto sizes_itself = [](Info info) {
    const auto* tensor = info->as<relax::TensorInfo>();
    return tensor == nullptr || !tensor->shape || !tensor->dtype;
  };
  if (std::any_of(outputs.begin(), outputs.end(), sizes_itself))
    return returned_results(fn, name, args, std::move(outputs), {}, place);
  relax::Op* op = fn.graph.at(place).append(relax::OpKind::kCallExternal, args);
  op->callee = name;
  for (Info output : outputs) fn.function.make_result(op, {}, output);
  return results_of(op);
}

Result<Term> call_dps(FunctionParts& fn, const ast::Expr& e) {
  Diagnostics& diag = fn.source.diag();
  if (e.items.size() != 4)
    return fn.source.error(e.place, Kind::wrong_arity, "R.call_dps takes a shape, a function and its arguments");
  Result<std::vector<arith::Expr>> shape = fn.dims.list(*e.items[1]);
  Result<Term> function = callee(fn, *e.items[2]);
  Result<std::vector<Value*>> args = listed_arguments(fn, *e.items[3]);
  const tir::PrimFunc* called =
      function && function->kind == Term::kGlobal ? fn.scope.prim_func(function->text) : nullptr;
  if (!shape && called != nullptr && args) (void)check_prim_kinds(fn, *called, *args, 1, *e.items[3]);
  if (!shape || !function || !args) return diag.failed();
  std::optional<DType> dtype;
  if (fn.hint != nullptr) {
    // Only the dtype is read here; the rest of the annotation is checked against the value later.
    const ast::Expr* written = fn.hint->items.size() > 2 ? fn.hint->items[2] : nullptr;
    if (const ast::Keyword* keyword = fn.hint->keyword("dtype")) written = keyword->value;
    if (written != nullptr && written->is(AstKind::kString)) dtype = parse_dtype(written->text);
  }
  if (function->kind == Term::kGlobal) {
    const tir::PrimFunc* prim = fn.scope.prim_func(function->text);
    if (prim != nullptr)
      for (const tir::Param& param : prim->params)
        if (param.buffer != nullptr) dtype = param.buffer->dtype;
  }
  if (!dtype)
    return fn.source.error(e.place, Kind::ill_formed,
                           "annotate the result with its dtype, as in y: R.Tensor[_, \"f32\"]");
  std::vector<Info> outputs = {relax::tensor_info(fn.context(), *shape, *dtype)};
  if (function->kind == Term::kGlobal)
    return finish_call_tir(fn, function->text, *args, outputs, e, e.items[2]->place, e.items[3]);
  return external_call(fn, function->text, *args, std::move(outputs), e.place);
}

Result<Term> call_dps_packed(FunctionParts& fn, const ast::Expr& e) {
  Diagnostics& diag = fn.source.diag();
  RELAXC_DO(check_keywords(fn, e, {"func", "args", "out_sinfo", "out_ty", "sinfo_args", "ty_args"}));
  const ast::Expr *named = argument(e, 1, {"func"}), *list = argument(e, 2, {"args"});
  if (named == nullptr || list == nullptr || e.items.size() > 4)
    return fn.source.error(e.place, Kind::wrong_arity, "R.call_dps_packed takes a function, its arguments and out_ty");
  Result<Term> function = callee(fn, *named);
  Result<std::vector<Value*>> args = listed_arguments(fn, *list, true);
  Result<std::vector<Info>> outputs = output_infos(fn, e, 3);
  if (!function || !args || !outputs) return diag.failed();
  if (function->kind == Term::kGlobal)
    return finish_call_tir(fn, function->text, *args, *outputs, e, named->place, list);
  return external_call(fn, function->text, *args, std::move(*outputs), e.place);
}

Result<Term> call_packed(FunctionParts& fn, const ast::Expr& e) {
  Diagnostics& diag = fn.source.diag();
  if (e.items.size() < 2) return fn.source.error(e.place, Kind::wrong_arity, "R.call_packed takes a function");
  Result<Term> function = callee(fn, *e.items[1]);
  if (function && writes_memory(fn, e, 2)) return call_packed_on_memory(fn, function->text, e);
  Result<std::vector<Value*>> read = positional_arguments(fn, e, 2, true);
  if (!function || !read) return diag.failed();
  if (function->text == kResetItem) return Term::sequence({});
  std::vector<Value*> args = std::move(*read);
  const ast::Keyword* type = result_types(e);
  bool typed = type != nullptr;
  // R.Tuple without fields means that the call has no result.
  const ast::Expr* said = typed ? type->value : fn.hint;
  if (said != nullptr && said->is_sequence() && said->items.size() == 1) said = said->items[0];
  if (said == nullptr || is_empty_tuple(fn, *said)) {
    if (fn.graph.in_dataflow())
      return fn.source.error(e.place, Kind::purity, "a call for its effect cannot be in a dataflow block");
    relax::Op* op = fn.graph.at(e.place).append(relax::OpKind::kCallExternal, args);
    op->callee = function->text;
    return Term::sequence({});
  }
  std::vector<arith::Var> bound;
  Result<std::vector<Info>> infos = [&] {
    DimPattern::Reading reading(fn.dims.pattern(), DimPattern::kFresh, &bound);
    return typed ? output_infos(fn, e, e.items.size()) : read_infos(fn, *fn.hint);
  }();
  if (!infos) return diag.failed();
  const auto* shape = infos->size() == 1 ? (*infos)[0]->as<relax::ShapeInfo>() : nullptr;
  if (shape == nullptr) return returned_results(fn, function->text, args, std::move(*infos), std::move(bound), e.place);
  int32_t rank = shape->ndim;
  for (size_t i = 0; rank < 0 && i < args.size(); ++i)  // R.Shape alone has the rank of the first shape argument
    if (const auto* given = args[i]->info->as<relax::ShapeInfo>()) rank = given->ndim;
  relax::Op* op = fn.graph.at(e.place).append(relax::OpKind::kShapeFunction, args);
  op->callee = function->text;
  op->binds = std::move(bound);
  fn.function.make_result(
      op, {}, shape->dims ? relax::shape_info(fn.context(), *shape->dims) : relax::shape_info(fn.context()));
  if (!shape->dims && rank >= 0) give_dims(fn.context(), *op, rank);
  return results_of(op);
}

}  // namespace relaxc::frontend
