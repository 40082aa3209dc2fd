// nn.cpp: transposed convolution, normalization, and SVDF, a layer of keyword spotting that has a state.
#include <algorithm>

#include "frontends/tflite/fixed_point.h"
#include "frontends/tflite/importer.h"
#include "frontends/tflite/operators.h"
#include "frontends/tflite/windows.h"

namespace relaxc::tflite::nn_family {
namespace {

/// One spatial dim of a transposed convolution, as padding for the equal plain convolution: that of the flipped filter
/// over the data with stride - 1 zero points between its elements.
struct Upsampling {
  int64_t stride = 1, kernel = 1, size = 0, result = 0;
  /// Elements of the full result that are cropped in total (negative if some are added), and at the beginning.
  int64_t cut_total() const { return (size - 1) * stride + kernel - result; }
  int64_t cut_begin() const { return std::max<int64_t>(0, cut_total()) / 2; }
  int64_t spread() const { return (size - 1) * stride + 1; }
  int64_t pad_begin() const { return kernel - 1 - cut_begin(); }
  int64_t pad_end() const { return result + kernel - 1 - spread() - pad_begin(); }
};

/// Returns x [N, H, W, C] with stride - 1 copies of `zero` between rows and columns, and padded.
Value* spread_out(Node& node, Value* x, const Upsampling& rows, const Upsampling& columns, Value* zero) {
  Ints d = node.dims(x);
  if (!node.ok()) return nullptr;
  x = node.reshape(x, {d[0], d[1], 1, d[2], 1, d[3]});
  x = node.pad(x, {0, 0, 0, 0, 0, 0, 0, 0, rows.stride - 1, 0, columns.stride - 1, 0}, zero);
  x = node.reshape(x, {d[0], d[1] * rows.stride, d[2] * columns.stride, d[3]});
  return node.pad(x,
                  {0, rows.pad_begin(), columns.pad_begin(), 0, 0, rows.pad_end() - (rows.stride - 1),
                   columns.pad_end() - (columns.stride - 1), 0},
                  zero);
}

Status float_transpose_conv(Node& node, Value* x, Value* filter, const Upsampling& rows, const Upsampling& columns) {
  auto ends = [](const Upsampling& u) { return std::max<int64_t>(0, u.cut_total()) - u.cut_begin(); };
  auto more = [](const Upsampling& u) { return std::max<int64_t>(0, -u.cut_total()); };
  Attrs attrs{{"strides", Ints{rows.stride, columns.stride}},
              {"padding", Ints{rows.cut_begin(), columns.cut_begin(), ends(rows), ends(columns)}}};
  if (more(rows) >= rows.stride || more(columns) >= columns.stride)
    return node.error(Kind::unsupported, "a result that is larger than what the data reaches");
  attrs.set("output_padding", Ints{more(rows), more(columns)});
  Value* y =
      node.call("nn.conv_transpose", {node.channels_first(x), node.permute(filter, {3, 0, 1, 2})}, std::move(attrs));
  y = node.channels_last(y);
  if (node.has(3)) y = node.add(y, node.input(3));
  return node.set(node.activate(y, node.options<tflite_schema::TransposeConvOptions>().fused_activation_function()));
}

Status quantized_transpose_conv(Node& node, Value* x, Value* filter, const Upsampling& rows,
                                const Upsampling& columns) {
  const auto& o = node.options<tflite_schema::TransposeConvOptions>();
  ProductSum product{.data = 2, .filter = 1};
  bool per_tensor = node.type(2) == TensorType::UINT8;
  product.in_float = per_tensor;
  product.filter_zero = per_tensor ? node.zero_of(node.in(1)) : 0;
  DType sums = sums_dtype(node.type(2), o.quantized_bias_type());
  std::vector<Multiplier> multipliers = product_multipliers(node, product);
  x = spread_out(node, x, rows, columns, node.like(x, static_cast<double>(node.zero_of(node.in(2)))));
  filter = node.permute(node.call("flip", {centered(node, filter, product.filter_zero)}, {{"axis", Ints{1, 2}}}),
                        {1, 2, 3, 0});
  Value* sum = node.call("nn.conv_integer", {x, filter}, {{"out_dtype", sums}});
  Value* bias = folded_bias(node, product, 3, sums);
  if (!node.ok()) return node.status();
  if (bias != nullptr) sum = node.add(sum, bias);
  return node.set(node.scale(
      sum, multipliers, stored_output(node, node.result_type({node.type(2)}), o.fused_activation_function(), sums)));
}

Status transpose_conv(Node& node) {
  const auto& o = node.options<tflite_schema::TransposeConvOptions>();
  Value *filter = node.input(1), *x = node.input(2);
  Ints result = node.constant_ints(0, "the output's shape");
  if (!node.expect_rank(x, 4, "the data") || !node.expect_rank(filter, 4, "the filter")) return node.status();
  Ints data = node.dims(x), window = node.dims(filter);
  if (!node.ok()) return node.status();
  Upsampling rows{o.stride_h(), window[1], data[1], result.size() == 4 ? result[1] : 0};
  Upsampling columns{o.stride_w(), window[2], data[2], result.size() == 4 ? result[2] : 0};
  bool fits = result.size() == 4 && result[0] == data[0] && result[3] == window[0] && window[3] == data[3];
  for (const Upsampling& u : {rows, columns})
    fits = fits && u.stride >= 1 && u.stride <= 1 << 15 && u.kernel >= 1 && u.size >= 1 && u.result >= 1 &&
           u.cut_begin() < u.kernel && u.size <= INT32_MAX / u.stride;
  if (!fits)
    return node.error(Kind::shape_mismatch, "a filter of [{}] with strides {} and {} makes no [{}] of [{}]",
                      fmt::join(window, ", "), o.stride_h(), o.stride_w(), fmt::join(result, ", "),
                      fmt::join(data, ", "));
  if (node.type(2) == TensorType::FLOAT32) return float_transpose_conv(node, x, float_weights(node, 1), rows, columns);
  if (node.type(1) != (node.type(2) == TensorType::UINT8 ? TensorType::UINT8 : TensorType::INT8))
    return node.error(Kind::dtype_mismatch, "data of {} by a filter of {} is not supported", type_name(node.type(2)),
                      type_name(node.type(1)));
  return quantized_transpose_conv(node, x, filter, rows, columns);
}

Status l2_normalization(Node& node) {
  Value* x = node.input(0);
  if (!node.ok()) return node.status();
  if (node.rank(x) < 1) return node.error(Kind::rank_mismatch, "the data has no dims");
  auto activation = node.options<tflite_schema::L2NormOptions>().fused_activation_function();
  if (!node.quantized()) {
    Value* norm = node.call("sqrt", {node.reduce("sum", node.call("square", {x}), {-1})});
    return node.set(node.activate(node.divide(x, node.maximum(norm, node.like(norm, 1e-6))), activation));
  }
  constexpr double kOutputBits = 7;
  Value* steps = node.add(node.i32(x), static_cast<double>(-node.zero_of(node.in(0))));
  FixedPoint fixed(node);
  auto [mantissa, shift] = fixed.inverse_root(node.reduce("sum", node.multiply(steps, steps), {-1}));
  return node.set(node.store(fixed.scale(steps, mantissa, node.add(shift, kOutputBits)), {.dtype = DType::i(8)}));
}

/// Divides x by a power of the sum of squares of nearby channels: `radius` below and radius - 1 above, as in the
/// reference kernel.
Status local_response_normalization(Node& node) {
  const auto& o = node.options<tflite_schema::LocalResponseNormalizationOptions>();
  constexpr int64_t kMostRadius = 64;
  Value* x = node.input(0);
  if (!node.expect_rank(x, 4, "the data")) return node.status();
  int64_t radius = o.radius(), channels = node.dims(x)[3];
  if (radius < 0 || radius > kMostRadius)
    return node.error(Kind::unsupported, "a radius of {}; 0 to {} are supported", radius, kMostRadius);
  Value* squares = node.pad(node.call("square", {x}), {0, 0, 0, radius, 0, 0, 0, radius});
  Value* sum = node.call("broadcast_to", {node.like(x, 0), node.shape(node.dims(x))});
  for (int64_t k = 0; k < 2 * radius; ++k) sum = node.add(sum, node.slice(squares, 3, k, k + channels));
  Value* bias = node.like(sum, o.bias());
  Value* base = node.add(node.multiply(sum, static_cast<double>(o.alpha())), bias);
  return node.set(node.multiply(x, node.call("power", {base, node.like(base, -o.beta())})));
}

/// The variable that holds an SVDF's memory, and its new value.
struct Memory {
  Variable* variable = nullptr;
  Value* value = nullptr;
};

/// Returns the memory [batch, filters, time] without its oldest column, with `latest` [batch, filters] appended.
std::optional<Memory> remember(Node& node, Value* latest, int64_t batch, int64_t filters, int64_t time) {
  if (!node.has(4) || !node.in(4).is_variable) {
    node.error(Kind::unsupported, "input 4 is not a variable");
    return std::nullopt;
  }
  Value* old = node.input(4);
  if (!node.ok() || latest == nullptr) return std::nullopt;
  if (node.dims(old) != Ints{batch, filters * time} || old->dtype() != latest->dtype()) {
    node.error(Kind::shape_mismatch, "a memory of {} for {} filters over {} steps", relax::to_string(old->info),
               filters, time);
    return std::nullopt;
  }
  Value* kept = node.slice(node.reshape(old, {batch, filters, time}), 2, 1, time);
  Value* memory = time == 1 ? node.reshape(latest, {batch, filters, 1})
                            : node.concat({kept, node.reshape(latest, {batch, filters, 1})}, 2);
  for (Variable& variable : node.importer.variables())
    if (variable.value == old) return Memory{&variable, memory};
  node.error(Kind::unsupported, "input 4 is not a variable");
  return std::nullopt;
}

Status svdf(Node& node) {
  const auto& o = node.options<tflite_schema::SVDFOptions>();
  Value *x = node.input(0), *features = node.input(1), *over_time = node.input(2);
  if (!node.expect_rank(x, 2, "the data") || !node.expect_rank(features, 2, "the feature weights") ||
      !node.expect_rank(over_time, 2, "the time weights"))
    return node.status();
  Ints data = node.dims(x), weights = node.dims(features), times = node.dims(over_time);
  int64_t batch = data[0], filters = weights[0], rank = o.rank();
  if (rank < 1 || filters % rank != 0 || weights[1] != data[1] || times[0] != filters || times[1] < 1)
    return node.error(Kind::shape_mismatch, "weights of [{}] and [{}] of rank {} for data of [{}]",
                      fmt::join(weights, ", "), fmt::join(times, ", "), rank, fmt::join(data, ", "));
  bool stored = node.type() == TensorType::INT8;
  bool fits = stored ? node.type(1) == TensorType::INT8 && node.type(2) == TensorType::INT16
                     : node.type(1) == TensorType::FLOAT32 && node.type(2) == TensorType::FLOAT32;
  if (!fits)
    return node.error(Kind::dtype_mismatch, "weights of {} and {} for data of {} are not supported",
                      type_name(node.type(1)), type_name(node.type(2)), type_name(node.type()));
  Value* latest = nullptr;
  if (stored) {
    Value* steps = node.add(node.i32(x), static_cast<double>(-node.zero_of(node.in(0))));
    float real = node.scale_of(node.in(0)) * node.scale_of(node.in(1)) / node.scale_of(node.in(4));
    latest = node.scale(node.call("matmul", {steps, node.permute(node.i32(features), {1, 0})}),
                        multiplier_of(static_cast<double>(real)), {.dtype = DType::i(16)});
  } else {
    latest = node.call("matmul", {x, node.permute(features, {1, 0})});
  }
  std::optional<Memory> memory = remember(node, latest, batch, filters, times[1]);
  if (!memory) return node.status();
  memory->variable->value = node.reshape(memory->value, {batch, filters * times[1]});
  auto wide = [&](Value* v) { return stored ? node.i32(v) : v; };
  Value* sum = node.reduce("sum", node.multiply(wide(memory->value), wide(over_time)), {2}, false);
  sum = node.reduce("sum", node.reshape(sum, {batch, filters / rank, rank}), {2}, false);
  if (node.has(3)) sum = node.add(sum, node.input(3));
  if (!node.ok()) return node.status();
  if (!stored) return node.set(node.activate(sum, o.fused_activation_function()));
  float real = node.scale_of(node.in(4)) * node.scale_of(node.in(2)) / node.scale_of(node.out());
  return node.set(node.scale(sum, multiplier_of(static_cast<double>(real)),
                             {.dtype = DType::i(8), .zero_point = node.zero_of(node.out())}));
}

constexpr Row kRows[] = {
    {.code = BuiltinOperator::TRANSPOSE_CONV,
     .convert = transpose_conv,
     .min_inputs = 3,
     .max_inputs = 4,
     .types = kF32 | kQuantized,
     .typed = 2,
     .rounding = "double; int16: reduced, once (double with a bias of int32)",
     .note = "the output shape must be constant; 8-bit filters of float data are dequantized"},
    {.code = BuiltinOperator::L2_NORMALIZATION,
     .convert = l2_normalization,
     .types = kF32 | kI8,
     .rounding = "double, from a fixed-point root"},
    {.code = BuiltinOperator::LOCAL_RESPONSE_NORMALIZATION, .convert = local_response_normalization, .types = kF32},
    {.code = BuiltinOperator::SVDF,
     .convert = svdf,
     .min_inputs = 5,
     .max_inputs = 5,
     .types = kF32 | kI8,
     .rounding = "double, twice",
     .note = "the memory is a state; int8 only with time weights of int16"},
};

}  // namespace
}  // namespace relaxc::tflite::nn_family

RELAXC_TFLITE_OPERATORS(nn, kRows)
