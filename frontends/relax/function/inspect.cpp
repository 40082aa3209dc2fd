// inspect.cpp: reads R.inspect.* and attributes such as x.ndim and x.dtype.bits, which TVM's runtime reads from a
// tensor's record.
//
// A tensor is compact here, and a pointer points to its first element, also those of callers: the entry refuses other
// strides and adds byte_offset to the pointer. So only dims are left to the run.
#include "compiler/interface/dlpack.h"
#include "frontends/relax/function/expressions.h"
#include "frontends/relax/function/special_forms.h"
#include "frontends/relax/function/values.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;
using relax::Value;

namespace {

constexpr std::string_view kDtypeParts[][2] = {
    {"bits", "dtype_bits"}, {"lanes", "dtype_lanes"}, {"type_code", "dtype_code"}};

/// What is asked of which tensor, along which axis.
struct Question {
  std::string what;  ///< the operator's name behind "tensor_"
  const ast::Expr* tensor = nullptr;
  const ast::Expr* axis = nullptr;
  std::string asked;  ///< the words of the text, for messages
};

/// Reads the number of an axis.
Result<size_t> axis_of(FunctionParts& fn, const Question& q, Place place, const relax::TensorInfo& tensor) {
  if (q.axis == nullptr) return fn.source.error(place, Kind::wrong_arity, "expected a tensor and an axis");
  RELAXC_TRY(Term term, eval(fn, *q.axis));
  const std::optional<Scalar> axis = as_scalar(term);
  const int64_t* number = axis ? axis->expr.constant() : nullptr;
  if (number == nullptr || *number < 0 || *number >= tensor.ndim)
    return fn.source.error(q.axis->place, Kind::invalid_value, "expected an axis, a number of 0..{}", tensor.ndim - 1);
  return static_cast<size_t>(*number);
}

Result<arith::Expr> dim_or_stride(FunctionParts& fn, const Question& q, Place place, Value& value) {
  RELAXC_TRY(const size_t axis, axis_of(fn, q, place, *value.info->as<relax::TensorInfo>()));
  const std::vector<arith::Expr>* dims = known_dims(fn, value);
  if (dims == nullptr)
    return fn.source.error(place, Kind::shape_mismatch, "the shape of {} is not known here; match_cast can give it",
                           relax::to_string(value.info));
  if (q.what == "shape_i") return (*dims)[axis];
  arith::Expr stride = fn.context().index(1);
  for (size_t i = axis + 1; i < dims->size(); ++i) stride = stride * (*dims)[i];
  return arith::simplify(stride);
}

Result<Term> answer(FunctionParts& fn, const Question& q, Place place) {
  RELAXC_TRY(Term operand, eval(fn, *q.tensor));
  RELAXC_TRY(Value * value, as_value(fn, operand, q.tensor->place));
  const auto* tensor = value == nullptr ? nullptr : value->info->as<relax::TensorInfo>();
  const bool asks_dtype = q.what.rfind("dtype_", 0) == 0;
  if (tensor == nullptr || tensor->ndim < 0 || (asks_dtype && !tensor->dtype))
    return fn.source.error(q.tensor->place, Kind::dtype_mismatch, "{} takes a tensor of known {}", q.asked,
                           asks_dtype ? "dtype" : "rank");
  const auto result = [&](DType dtype, int64_t number) {
    return Term::of(fn.graph.at(place).prim(fn.context().imm(dtype, number)));
  };
  if (q.what == "ndim") return result(DType::i(32), tensor->ndim);
  if (q.what == "dtype_code") return result(DType::u(8), interface::dlpack_type(*tensor->dtype).code);
  if (q.what == "dtype_bits") return result(DType::u(8), interface::dlpack_type(*tensor->dtype).bits);
  if (q.what == "dtype_lanes") return result(DType::u(16), 1);
  if (q.what == "byte_offset" || q.what == "elem_offset") return result(DType::u(64), 0);
  RELAXC_TRY(arith::Expr size, dim_or_stride(fn, q, place, *value));
  return Term::of(fn.graph.at(place).prim(size));
}

/// Returns what an attribute asks of a tensor; nothing if it is none of these.
std::optional<Question> question_of(const ast::Expr& e) {
  if (e.is(AstKind::kSubscript)) {
    const ast::Expr& base = *e.items[0];
    const bool strides = base.is(AstKind::kAttribute) && base.text == "strides" && e.items.size() == 2;
    return strides ? std::optional(Question{"stride_i", base.items[0], e.items[1], "strides"}) : std::nullopt;
  }
  if (e.text == "ndim" || e.text == "byte_offset" || e.text == "elem_offset")
    return Question{e.text, e.items[0], nullptr, e.text};
  const ast::Expr& base = *e.items[0];
  for (const auto& [part, what] : kDtypeParts)
    if (e.text == part && base.is(AstKind::kAttribute) && base.text == "dtype")
      return Question{std::string(what), base.items[0], nullptr, "dtype." + e.text};
  return std::nullopt;
}

}  // namespace

Result<Term> inspect_tensor(FunctionParts& fn, const ast::Expr& e) {
  const std::string path = dotted_path(*e.items[0]).value_or("");
  const ast::Expr* axis = e.items.size() > 2 ? e.items[2] : nullptr;
  return answer(fn, {path.substr(path.rfind("tensor_") + 7), e.items[1], axis, path}, e.place);
}

Result<Term> inspect_attribute(FunctionParts& fn, const ast::Expr& e) {
  return answer(fn, *question_of(e), e.place);
}

bool inspects_tensor(const ast::Expr& e) {
  return question_of(e).has_value();
}

}  // namespace relaxc::frontend
