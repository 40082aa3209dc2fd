// inspect.cpp: reads R.inspect.*, which TVM's runtime reads from a tensor's record.
//
// A tensor is compact here, and a pointer points to its first element, also those of callers: the entry refuses other
// strides and adds byte_offset to the pointer. So only dims are left to the run.
#include "compiler/interface/dlpack.h"
#include "frontends/relax/function/expressions.h"
#include "frontends/relax/function/special_forms.h"
#include "frontends/relax/function/values.h"

namespace relaxc::frontend {

using relax::Value;

namespace {

/// Reads the number of an axis, which is after the tensor.
Result<size_t> axis_of(FunctionParts& fn, const ast::Expr& e, const relax::TensorInfo& tensor) {
  if (e.items.size() != 3) return fn.source.error(e.place, Kind::wrong_arity, "expected a tensor and an axis");
  RELAXC_TRY(Term term, eval(fn, *e.items[2]));
  const std::optional<Scalar> axis = as_scalar(term);
  const int64_t* number = axis ? axis->expr.constant() : nullptr;
  if (number == nullptr || *number < 0 || *number >= tensor.ndim)
    return fn.source.error(e.items[2]->place, Kind::invalid_value, "expected an axis, a number of 0..{}",
                           tensor.ndim - 1);
  return static_cast<size_t>(*number);
}

Result<arith::Expr> dim_or_stride(FunctionParts& fn, const ast::Expr& e, Value& value, bool is_stride) {
  RELAXC_TRY(const size_t axis, axis_of(fn, e, *value.info->as<relax::TensorInfo>()));
  const std::vector<arith::Expr>* dims = known_dims(fn, value);
  if (dims == nullptr)
    return fn.source.error(e.place, Kind::shape_mismatch, "the shape of {} is not known here; match_cast can give it",
                           relax::to_string(value.info));
  if (!is_stride) return (*dims)[axis];
  arith::Expr stride = fn.context().index(1);
  for (size_t i = axis + 1; i < dims->size(); ++i) stride = stride * (*dims)[i];
  return arith::simplify(stride);
}

}  // namespace

Result<Term> inspect_tensor(FunctionParts& fn, const ast::Expr& e) {
  const std::string path = dotted_path(*e.items[0]).value_or("");
  const std::string what = path.substr(path.rfind("tensor_") + 7);
  RELAXC_TRY(Term operand, eval(fn, *e.items[1]));
  RELAXC_TRY(Value * value, as_value(fn, operand, e.items[1]->place));
  const auto* tensor = value == nullptr ? nullptr : value->info->as<relax::TensorInfo>();
  const bool asks_dtype = what.rfind("dtype_", 0) == 0;
  if (tensor == nullptr || tensor->ndim < 0 || (asks_dtype && !tensor->dtype))
    return fn.source.error(e.items[1]->place, Kind::dtype_mismatch, "{} takes a tensor of known {}", path,
                           asks_dtype ? "dtype" : "rank");
  const auto result = [&](DType dtype, int64_t number) {
    return Term::of(fn.graph.at(e.place).prim(fn.context().imm(dtype, number)));
  };
  if (what == "ndim") return result(DType::i(32), tensor->ndim);
  if (what == "dtype_code") return result(DType::u(8), interface::dlpack_type(*tensor->dtype).code);
  if (what == "dtype_bits") return result(DType::u(8), interface::dlpack_type(*tensor->dtype).bits);
  if (what == "dtype_lanes") return result(DType::u(16), 1);
  if (what == "byte_offset" || what == "elem_offset") return result(DType::u(64), 0);
  RELAXC_TRY(arith::Expr size, dim_or_stride(fn, e, *value, what == "stride_i"));
  return Term::of(fn.graph.at(e.place).prim(size));
}

}  // namespace relaxc::frontend
