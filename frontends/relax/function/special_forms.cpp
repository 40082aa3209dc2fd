// special_forms.cpp: reads calls of the language that are not operators of the table.
//
// Some compute nothing: explicit emission, the device of a value, marks for passes.
#include "frontends/relax/function/special_forms.h"

#include "frontends/relax/constants/constant_reader.h"
#include "frontends/relax/function/calls.h"
#include "frontends/relax/function/casts.h"
#include "frontends/relax/function/closures.h"
#include "frontends/relax/function/explicit_memory.h"
#include "frontends/relax/function/expressions.h"
#include "frontends/relax/function/infos.h"
#include "frontends/relax/function/values.h"
#include "frontends/relax/text/literals.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;
using relax::Value;

namespace {

Result<Term> extern_form(FunctionParts& fn, const ast::Expr& e) {
  RELAXC_TRY(std::string symbol, string_value(fn.source, *e.items[1], "a symbol"));
  return Term::of(Term::kExternal, symbol);
}

Result<Term> shape_form(FunctionParts& fn, const ast::Expr& e) {
  RELAXC_TRY(std::vector<arith::Expr> list, fn.dims.list(*e.items[1]));
  return Term::of(fn.graph.at(e.place).shape(std::move(list)));
}

Result<Term> prim_value_form(FunctionParts& fn, const ast::Expr& e) {
  RELAXC_TRY(Scalar scalar, fn.dims.read(*e.items[1]));
  if (scalar.literal == Scalar::kReal) {
    RELAXC_TRY(scalar.expr, fn.dims.adapt(scalar, DType::f(32), e.place));
  }
  bool dim = scalar.literal == Scalar::kDimLiteral && scalar.expr.dtype() == DType::i(64);
  if (dim) scalar.expr = fn.context().index(*scalar.expr.constant());
  return Term::of(fn.graph.at(e.place).prim(scalar.expr));
}

Result<Term> tuple_form(FunctionParts& fn, const ast::Expr& e) {
  if (e.items.size() == 1) return Term::of(fn.graph.at(e.place).tuple({}));
  std::vector<Term> items;
  for (size_t i = 1; i < e.items.size(); ++i) {
    RELAXC_TRY(Term item, eval(fn, *e.items[i]));
    items.push_back(std::move(item));
  }
  return Term::sequence(std::move(items));
}

/// Reads relax.Tuple((x, y)), as a value of 2022.
Result<Term> fields_form(FunctionParts& fn, const ast::Expr& e) {
  return eval(fn, *e.items[1]);
}

Result<Term> tuple_get_item_form(FunctionParts& fn, const ast::Expr& e) {
  const ast::Keyword* which = e.keyword("index");
  RELAXC_TRY(Term tuple, eval(fn, *e.items[1]));
  RELAXC_TRY(Value * value, as_value(fn, tuple, e.place));
  RELAXC_TRY(arith::Expr position, fn.dims.index(which != nullptr ? *which->value : *e.items[2]));
  if (position.constant() == nullptr) return fn.source.error(e.place, Kind::invalid_value, "expected a number");
  RELAXC_TRY(Value * part, fn.graph.at(e.place).tuple_get(value, *position.constant()));
  return Term::of(part);
}

Result<Term> shape_of_form(FunctionParts& fn, const ast::Expr& e) {
  RELAXC_TRY(Term operand, eval(fn, *e.items[1]));
  RELAXC_TRY(Value * value, as_value(fn, operand, e.items[1]->place));
  const auto* tensor = value == nullptr ? nullptr : value->info->as<relax::TensorInfo>();
  if (tensor == nullptr) return fn.source.error(e.items[1]->place, Kind::dtype_mismatch, "R.shape_of takes a tensor");
  if (const auto* dims = known_dims(fn, *value)) return Term::of(fn.graph.at(e.place).shape(*dims));
  return fn.source.error(e.place, Kind::shape_mismatch,
                         "the shape of {} is not known here; match_cast or match_shape can give it",
                         relax::to_string(value->info));
}

Result<Term> constant_form(FunctionParts& fn, const ast::Expr& e) {
  const ast::Expr* dtype = e.items.size() > 2 ? e.items[2] : nullptr;
  if (const ast::Keyword* keyword = e.keyword("dtype")) dtype = keyword->value;
  if (e.items.size() < 2 || e.items.size() > 3)
    return fn.source.error(e.place, Kind::wrong_arity, "R.const takes a value and a dtype");
  std::optional<DType> element;
  if (dtype != nullptr) {
    RELAXC_TRY(element, dtype_value(fn.source, *dtype));
  }
  std::optional<std::vector<int64_t>> shape;
  if (const ast::Keyword* keyword = e.keyword("shape")) {
    RELAXC_TRY(std::vector<arith::Expr> list, fn.dims.list(*keyword->value));
    shape.emplace();
    for (arith::Expr dim : list) {
      if (dim.constant() == nullptr || *dim.constant() < 0)
        return fn.source.error(keyword->value->place, Kind::invalid_value, "a constant's shape is made of numbers");
      shape->push_back(*dim.constant());
    }
  }
  RELAXC_TRY(relax::ConstantRef data, read_constant(fn.source, *e.items[1], element, shape));
  return Term::of(fn.graph.at(e.place).constant(std::move(data)));
}

/// Reads R.vm.kill_object(x), by which TVM lets go of memory early; the plan of memory knows the last use.
Result<Term> released_form(FunctionParts& fn, const ast::Expr& e) {
  RELAXC_TRY(Term operand, eval(fn, *e.items[1]));
  return Term::sequence({});
}

/// Reads R.memory.alloc_storage(…): a name for memory of which tensors are made, and which is planned anew.
Result<Term> storage_form(FunctionParts&, const ast::Expr&) {
  return Term::sequence({});
}

/// A form, the function that reads it, and the limits of its number of arguments.
struct Form {
  std::string_view path;
  Result<Term> (*read)(FunctionParts&, const ast::Expr&);
  size_t least = 0, most = SIZE_MAX;
};
constexpr Form kForms[] = {
    {"R.call_tir", call_tir},
    {"R.call_tir_with_grad", call_tir},
    {"R.call_dps", call_dps},
    {"R.call_dps_packed", call_dps_packed},
    {"R.call_packed", call_packed},
    {"R.call_pure_packed", call_packed},
    {"R.invoke_pure_packed", call_packed},
    {"R.call_tir_inplace", call_tir_inplace},
    {"R.call_inplace_packed", call_inplace_packed},
    {"R.assert_op", assert_op},
    {"R.print", print_values},
    {"R.layout_transform", layout_transform},
    {"R.match_cast", match_cast},
    {"R.emit_match_cast", match_cast},
    {"R.match_shape", match_shape},
    {"R.make_closure", make_closure},
    {"R.invoke_closure", invoke_closure},
    {"R.invoke_pure_closure", invoke_closure},
    {"R.const", constant_form},
    {"R.ExternFunc", extern_form, 1, 2},
    {"R.shape", shape_form, 1, 1},
    {"R.ShapeExpr", shape_form, 1, 1},
    {"R.prim_value", prim_value_form, 1, 1},
    {"R.tuple", tuple_form},
    {"R.Tuple", fields_form, 1, 1},
    {"R.TupleGetItem", tuple_get_item_form, 1, 2},
    {"R.shape_of", shape_of_form, 1, 1},
    {"R.inspect.tensor_ndim", inspect_tensor, 1, 1},
    {"R.inspect.tensor_dtype_code", inspect_tensor, 1, 1},
    {"R.inspect.tensor_dtype_bits", inspect_tensor, 1, 1},
    {"R.inspect.tensor_dtype_lanes", inspect_tensor, 1, 1},
    {"R.inspect.tensor_shape_i", inspect_tensor, 2, 2},
    {"R.inspect.tensor_stride_i", inspect_tensor, 2, 2},
    {"R.inspect.tensor_byte_offset", inspect_tensor, 1, 1},
    {"R.inspect.tensor_elem_offset", inspect_tensor, 1, 1},
    {"R.vm.kill_object", released_form, 1, 1},
    {"R.memory.kill_tensor", released_form, 1, 1},
    {"R.memory.kill_storage", released_form, 1, 1},
    {"R.builtin.alloc_tensor", alloc_tensor, 1},
    {"R.memory.alloc_tensor", alloc_tensor_of_storage, 1},
    {"R.vm.alloc_tensor", alloc_tensor_of_storage, 1},
    {"R.memory.alloc_storage", storage_form, 1},
    {"R.vm.alloc_storage", storage_form, 1},
};

/// A form whose value is its operand, and the limits of its number of arguments.
struct TransparentForm {
  std::string_view path;
  size_t least, most;
};
constexpr TransparentForm kTransparentForms[] = {
    {"R.emit", 1, 2},
    {"R.to_vdevice", 2, 2},
    {"R.hint_on_device", 1, 3},
    {"R.stop_lift_params", 1, 1},
    {"R.builtin.stop_lift_params", 1, 1},
    {"R.grad.no_grad", 1, 1},
    {"R.grad.start_checkpoint", 1, 1},
    {"R.grad.end_checkpoint", 1, 1},
    {"R.str", 1, 1},
    {"R.dtype", 1, 1},
};

}  // namespace

Result<Term> transparent_form(FunctionParts& fn, const std::string& path, const ast::Expr& e, bool& known) {
  const TransparentForm* form = nullptr;
  for (const TransparentForm& row : kTransparentForms)
    if (row.path == path) form = &row;
  known = form != nullptr;
  if (!known) return Term();
  size_t given = e.items.size() - 1 + e.keywords.size();
  if (e.items.size() < 2 || given < form->least || given > form->most)
    return fn.source.error(e.place, Kind::wrong_arity, "{} takes {}{} arguments, found {}", path, form->least,
                           form->least == form->most ? "" : " to " + std::to_string(form->most), given);
  Result<Term> operand = eval(fn, *e.items[1]);
  const ast::Expr* second = e.items.size() > 2 ? e.items[2] : nullptr;
  for (std::string_view name : {"dst_vdevice", "dst_device"})
    if (const ast::Keyword* keyword = e.keyword(name)) second = keyword->value;
  if (path == "R.emit") {
    for (std::string_view name : {"annotate_struct_info", "annotate_ty"})
      if (const ast::Keyword* keyword = e.keyword(name)) second = keyword->value;
    if (!operand || second == nullptr) return operand;
    return annotate(fn, *operand, *second);
  }
  if (second != nullptr) RELAXC_DO(check_device(fn.source, *second));
  return operand;
}

std::vector<std::string> special_form_names() {
  std::vector<std::string> names;
  for (const Form& form : kForms) names.emplace_back(form.path.substr(2));
  for (const TransparentForm& form : kTransparentForms) names.emplace_back(form.path.substr(2));
  return names;
}

Result<Term> special_form(FunctionParts& fn, const std::string& path, const ast::Expr& e, bool& known) {
  size_t arguments = e.items.size() - 1;
  for (const Form& form : kForms) {
    if (form.path != path || arguments < form.least || arguments > form.most) continue;
    if (path == "R.Tuple" && !e.items[1]->is_sequence()) continue;  // a type
    if (path == "R.TupleGetItem" && arguments == 1 && e.keyword("index") == nullptr) continue;
    known = true;
    return form.read(fn, e);
  }
  known = false;
  return Term();
}

}  // namespace relaxc::frontend
