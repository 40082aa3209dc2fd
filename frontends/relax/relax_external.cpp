// relax_external.cpp: calls of external functions: those that fill what they are given, those that make their results
// themselves, those that compute a shape, and those called for an effect.
//
// The 2021 spelling call_dps(shape, f, [args]) is call_tir or a call of an external function, by what f is.
#include <algorithm>

#include "compiler/relax/callable.h"
#include "frontends/relax/literals.h"
#include "frontends/relax/relax_function.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;

/// 2021: R.call_dps(shape, f, [args]); the dtype is the callee's, or that of the annotation.
Result<Term> RelaxFunctionReader::call_dps(const ast::Expr& e) {
  Diagnostics& diag = source_.diag();
  if (e.items.size() != 4)
    return source_.error(e.place, Kind::wrong_arity, "R.call_dps takes a shape, a function and its arguments");
  Result<std::vector<arith::Expr>> shape = dims(*e.items[1]);
  Result<Term> function = callee(*e.items[2]);
  Result<std::vector<Value*>> args = call_arguments(*e.items[3]);
  const tir::PrimFunc* called =
      function && function->kind == Term::kGlobal ? scope_.module.find_prim_func(function->text) : nullptr;
  if (!shape && called != nullptr && args) (void)check_prim_kinds(*called, *args, 1, *e.items[3]);
  if (!shape || !function || !args) return diag.failed();
  std::optional<DType> dtype;
  if (hint_ != nullptr) {
    // Only the dtype is wanted; the rest of the annotation is checked when the value is there.
    const ast::Expr* written = hint_->items.size() > 2 ? hint_->items[2] : nullptr;
    if (const ast::Keyword* keyword = hint_->keyword("dtype")) written = keyword->value;
    if (written != nullptr && written->is(AstKind::kString)) dtype = parse_dtype(written->text);
  }
  if (function->kind == Term::kGlobal) {
    const tir::PrimFunc* prim = scope_.module.find_prim_func(function->text);
    if (prim != nullptr)
      for (const tir::Param& param : prim->params)
        if (param.buffer != nullptr) dtype = param.buffer->dtype;
  }
  if (!dtype)
    return source_.error(e.place, Kind::ill_formed,
                         "annotate the result with its dtype, as in y: R.Tensor[_, \"f32\"]");
  std::vector<Info> outputs = {relax::tensor_info(context_, *shape, *dtype)};
  if (function->kind == Term::kGlobal) return finish_call_tir(function->text, *args, outputs, e.place, e.items[3]);
  relax::Op* op = graph_.at(e.place).append(relax::OpKind::kCallExternal, *args);
  op->callee = function->text;
  function_.make_result(op, {}, outputs[0]);
  return results_of(op);
}

/// R.call_dps_packed("f", (x, y), out_ty=R.Tensor(…))
Result<Term> RelaxFunctionReader::call_dps_packed(const ast::Expr& e) {
  Diagnostics& diag = source_.diag();
  RELAXC_DO(check_keywords(e, {"func", "args", "out_sinfo", "out_ty", "sinfo_args", "ty_args"}));
  const ast::Expr *named = argument(e, 1, {"func"}), *list = argument(e, 2, {"args"});
  if (named == nullptr || list == nullptr || e.items.size() > 4)
    return source_.error(e.place, Kind::wrong_arity, "R.call_dps_packed takes a function, its arguments and out_ty");
  Result<Term> function = callee(*named);
  Result<std::vector<Value*>> args = call_arguments(*list);
  Result<std::vector<Info>> outputs = output_infos(e, 3);
  if (!function || !args || !outputs) return diag.failed();
  if (function->kind == Term::kGlobal) return finish_call_tir(function->text, *args, *outputs, e.place, list);
  auto sizes_itself = [](Info info) {
    const auto* tensor = info->as<relax::TensorInfo>();
    return tensor == nullptr || !tensor->shape || !tensor->dtype;
  };
  if (std::any_of(outputs->begin(), outputs->end(), sizes_itself))
    return returned_results(function->text, *args, std::move(*outputs), {}, e.place);
  relax::Op* op = graph_.at(e.place).append(relax::OpKind::kCallExternal, *args);
  op->callee = function->text;
  for (Info output : *outputs) function_.make_result(op, {}, output);
  return results_of(op);
}

/// Results that the external function makes itself: of known rank and dtype, with dims that it brings if they are not
/// said; or opaque objects.
Result<Term> RelaxFunctionReader::returned_results(const std::string& name, const std::vector<Value*>& args,
                                                   std::vector<Info> infos, std::vector<arith::Var> bound,
                                                   Place place) {
  for (Info& info : infos) {
    const auto* tensor = info->as<relax::TensorInfo>();
    bool known = tensor != nullptr && tensor->dtype && tensor->ndim >= 0;
    if (!known && info->as<relax::ObjectInfo>() == nullptr)
      return source_.error(place, Kind::unsupported,
                           "'{}' gives a tensor of known rank and dtype, a shape or an object, found {}; write "
                           "R.Tensor(ndim=1, dtype=\"float32\")",
                           name, relax::to_string(info));
    if (tensor == nullptr || tensor->shape) continue;
    std::vector<arith::Expr> dims;
    for (int32_t i = 0; i < tensor->ndim; ++i) {
      bound.push_back(context_.var("d" + std::to_string(bound.size())));
      dims.push_back(bound.back());
    }
    info = relax::tensor_info(context_, std::move(dims), *tensor->dtype);
  }
  relax::Op* op = graph_.at(place).append(relax::OpKind::kCallExternal, args);
  op->callee = name;
  op->attrs.set("returned", true);
  op->binds = std::move(bound);
  for (Info info : infos) function_.make_result(op, {}, info);
  return results_of(op);
}

/// R.call_packed("f", x, …): for its effect, or, where it gives a shape, an external shape function.
Result<Term> RelaxFunctionReader::call_packed(const ast::Expr& e) {
  Diagnostics& diag = source_.diag();
  if (e.items.size() < 2) return source_.error(e.place, Kind::wrong_arity, "R.call_packed takes a function");
  Result<Term> function = callee(*e.items[1]);
  Result<std::vector<Value*>> read = positional_arguments(e, 2);
  if (!function || !read) return diag.failed();
  std::vector<Value*> args = std::move(*read);
  const ast::Keyword* type = result_types(e);
  bool typed = type != nullptr;
  // R.Tuple without fields says that nothing comes back.
  const ast::Expr* said = typed ? type->value : hint_;
  if (said != nullptr && said->is_sequence() && said->items.size() == 1) said = said->items[0];
  if (said == nullptr || is_empty_tuple(*said)) {
    if (graph_.in_dataflow())
      return source_.error(e.place, Kind::purity, "a call for its effect cannot stand in a dataflow block");
    relax::Op* op = graph_.at(e.place).append(relax::OpKind::kCallExternal, args);
    op->callee = function->text;
    return Term::sequence({});
  }
  std::vector<arith::Var> bound;
  Result<std::vector<Info>> infos = [&] {
    DimPattern::Reading reading(pattern_, DimPattern::kFresh, &bound);
    return typed ? output_infos(e, e.items.size()) : info_list(*hint_);
  }();
  if (!infos) return diag.failed();
  const auto* shape = infos->size() == 1 ? (*infos)[0]->as<relax::ShapeInfo>() : nullptr;
  if (shape == nullptr) return returned_results(function->text, args, std::move(*infos), std::move(bound), e.place);
  int32_t rank = shape->ndim;
  for (size_t i = 0; rank < 0 && i < args.size(); ++i)  // R.Shape alone: as many dims as the shape that it is made of
    if (const auto* given = args[i]->info->as<relax::ShapeInfo>()) rank = given->ndim;
  relax::Op* op = graph_.at(e.place).append(relax::OpKind::kShapeFunction, args);
  op->callee = function->text;
  op->binds = std::move(bound);
  function_.make_result(op, {}, shape->dims ? relax::shape_info(context_, *shape->dims) : relax::shape_info(context_));
  if (!shape->dims && rank >= 0) give_dims(*op, rank);
  return results_of(op);
}

/// What an external shape function gives are symbols, as many as `rank`.
void RelaxFunctionReader::give_dims(relax::Op& shape_function, int32_t rank) {
  std::vector<arith::Expr> dims;
  for (int32_t i = 0; i < rank; ++i) {
    shape_function.binds.push_back(context_.var("s" + std::to_string(i)));
    dims.push_back(shape_function.binds.back());
  }
  shape_function.result()->info = relax::shape_info(context_, std::move(dims));
}

/// Whether somebody has said how many dims each external shape function gives; reports those that are left.
bool RelaxFunctionReader::ranks_are_known() {
  bool known = true;
  for (relax::Op* op : relax::ops_of(function_.body(), true)) {
    if (op->kind != relax::OpKind::kShapeFunction || op->result()->info->as<relax::ShapeInfo>()->dims) continue;
    (void)source_.diag().error(op->location, Kind::unsupported,
                               "how many dims '{}' gives is not known; write R.Shape(ndim=2), or match_cast it to that",
                               op->callee);
    known = false;
  }
  return known;
}

}  // namespace relaxc::frontend
