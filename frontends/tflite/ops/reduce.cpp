// reduce.cpp: reductions along axes, and cumulative sums.
#include <bit>

#include "frontends/tflite/operators.h"

namespace relaxc::tflite::reduce_family {
namespace {

struct Reduction {
  Value* x = nullptr;
  Ints axes;
  bool keep = false;
  int64_t count = 1;  ///< number of elements that are reduced to one
};

Reduction read(Node& node) {
  Reduction r;
  r.x = node.input(0);
  r.keep = node.options<tflite_schema::ReducerOptions>().keep_dims();
  Ints dims = node.dims(r.x);
  r.axes = node.axes(node.constant_ints(1, "the axes"), static_cast<int64_t>(dims.size()));
  if (node.ok())
    for (int64_t axis : r.axes) r.count *= dims[static_cast<size_t>(axis)];
  return r;
}

template <const OpName& Op>
Status plain(Node& node) {
  Reduction r = read(node);
  return node.set(node.reduce(Op, r.x, r.axes, r.keep));
}
constexpr OpName kSum = "sum", kProd = "prod", kMax = "max", kMin = "min", kAny = "any", kAll = "all";

/// Sums stored - zero_point, rescaled by the quotient of the scales; for a mean, the multiplier is divided by `count`.
Status quantized_sum(Node& node, const Reduction& r, bool mean) {
  Value* sum = node.reduce("sum", node.i32(r.x), r.axes, r.keep);
  double real = static_cast<double>(node.scale_of(node.in(0))) / static_cast<double>(node.scale_of(node.out()));
  if (node.ok() && !(real < 1e9)) return node.error(Kind::invalid_value, "scales are {} apart", real);
  Multiplier m = multiplier_of(real);
  int64_t zero = node.zero_of(node.in(0));
  if (mean && r.count > 0) {
    int shift = 63 - std::countl_zero(static_cast<uint64_t>(r.count));
    shift = std::min({shift, 32, 31 + m.shift});
    m.mantissa = static_cast<int32_t>((int64_t{m.mantissa} << shift) / r.count);
    m.shift -= shift;
  }
  sum = node.add(sum, static_cast<double>(static_cast<int32_t>(static_cast<uint32_t>(-zero * r.count))));
  return node.set(node.scale(sum, m, {.dtype = node.stored_type(), .zero_point = node.zero_of(node.out())}));
}

Status mean(Node& node) {
  Reduction r = read(node);
  if (!node.ok()) return node.status();
  if (node.quantized()) return quantized_sum(node, r, true);
  if (node.type() == TensorType::FLOAT32) return node.set(node.reduce("mean", r.x, r.axes, r.keep));
  Value* sum = node.reduce("sum", node.as(r.x, DType::i(64)), r.axes, r.keep);
  return node.set(node.as(node.divide(sum, node.like(sum, static_cast<double>(r.count))), r.x->dtype()));
}

Status sum(Node& node) {
  Reduction r = read(node);
  if (!node.ok()) return node.status();
  if (node.quantized()) return quantized_sum(node, r, false);
  return node.set(node.reduce("sum", r.x, r.axes, r.keep));
}

template <const OpName& Op>
Status arg(Node& node) {
  Value* x = node.input(0);
  Ints axes = node.constant_ints(1, "the axis");
  if (node.ok() && axes.size() != 1) return node.error(Kind::invalid_value, "{} axes; it takes one", axes.size());
  int64_t axis = node.ok() ? node.axis(axes[0], node.rank(x)) : 0;
  Value* y = node.call(Op, {x}, {{"axis", axis}, {"keepdims", false}});
  return node.set(node.as(y, node.result_type({TensorType::INT32, TensorType::INT64})));
}
constexpr OpName kArgMax = "argmax", kArgMin = "argmin";

Status cumulative_sum(Node& node) {
  const auto& o = node.options<tflite_schema::CumsumOptions>();
  Value* x = node.input(0);
  Ints axes = node.constant_ints(1, "the axis");
  if (node.ok() && axes.size() != 1) return node.error(Kind::invalid_value, "{} axes; it takes one", axes.size());
  int64_t axis = node.ok() ? node.axis(axes[0], node.rank(x)) : 0;
  return node.set(node.call("cumsum", {x}, {{"axis", axis}, {"exclusive", o.exclusive()}, {"reverse", o.reverse()}}));
}

constexpr std::string_view kConstantAxes = "axes must be constants";

constexpr Row kRows[] = {
    {.code = BuiltinOperator::MEAN,
     .convert = mean,
     .min_inputs = 2,
     .max_inputs = 2,
     .types = kNumbers,
     .rounding = "double, the number of elements in the multiplier",
     .note = kConstantAxes},
    {.code = BuiltinOperator::SUM,
     .convert = sum,
     .min_inputs = 2,
     .max_inputs = 2,
     .types = kNumbers,
     .rounding = "double",
     .note = kConstantAxes},
    {.code = BuiltinOperator::REDUCE_PROD,
     .convert = plain<kProd>,
     .min_inputs = 2,
     .max_inputs = 2,
     .types = kF32 | kI32 | kI64,
     .note = kConstantAxes},
    {.code = BuiltinOperator::REDUCE_MAX,
     .convert = plain<kMax>,
     .min_inputs = 2,
     .max_inputs = 2,
     .types = kNumbers,
     .note = kConstantAxes},
    {.code = BuiltinOperator::REDUCE_MIN,
     .convert = plain<kMin>,
     .min_inputs = 2,
     .max_inputs = 2,
     .types = kNumbers,
     .note = kConstantAxes},
    {.code = BuiltinOperator::REDUCE_ANY,
     .convert = plain<kAny>,
     .min_inputs = 2,
     .max_inputs = 2,
     .types = kBool,
     .note = kConstantAxes},
    {.code = BuiltinOperator::REDUCE_ALL,
     .convert = plain<kAll>,
     .min_inputs = 2,
     .max_inputs = 2,
     .types = kBool,
     .note = kConstantAxes},
    {.code = BuiltinOperator::ARG_MAX,
     .convert = arg<kArgMax>,
     .min_inputs = 2,
     .max_inputs = 2,
     .types = kNumbers | kBool,
     .note = kConstantAxes},
    {.code = BuiltinOperator::ARG_MIN,
     .convert = arg<kArgMin>,
     .min_inputs = 2,
     .max_inputs = 2,
     .types = kNumbers | kBool,
     .note = kConstantAxes},
    {.code = BuiltinOperator::CUMSUM,
     .convert = cumulative_sum,
     .min_inputs = 2,
     .max_inputs = 2,
     .types = kF32 | kI32 | kI64,
     .note = kConstantAxes},
};

}  // namespace
}  // namespace relaxc::tflite::reduce_family

RELAXC_TFLITE_OPERATORS(reduce, kRows)
