// signal.cpp: Fourier transforms, windows and the mel scale. The transforms themselves are in frontends/onnx/fourier.h.
#include <cmath>

#include "frontends/onnx/axes.h"
#include "frontends/onnx/conversion_builder.h"
#include "frontends/onnx/converter.h"
#include "frontends/onnx/fourier.h"
#include "frontends/onnx/load.h"

namespace relaxc::frontend::signal_family {
namespace {

constexpr double kTurn = 6.283185307179586;

Result<Expr> integer(Node& node, size_t input) {
  RELAXC_TRY(std::vector<Expr> list, node.ints(input, 1));
  return list[0];
}

Result<DType> datatype(Node& node) {
  return dtype_of(static_cast<int32_t>(node.int_attr("output_datatype", 1)), node.location, node.diag);
}

/// Converts DFT. The axis is an input from opset 20 on, an attribute before. The axis may be symbolic, so the sizes
/// before, along and after it are computed as expressions.
Status dft(Node& node) {
  RELAXC_TRY(Value * x, node.input(0));
  const std::vector<Expr> dims = x->shape();
  int64_t rank = static_cast<int64_t>(dims.size());
  if (rank < 2) return node.error(Kind::rank_mismatch, "it needs 2 dims at least, found {}", rank);
  std::vector<Expr> axis;
  if (node.opset < 20) {
    RELAXC_TRY(int64_t given, normal_axis(node, node.int_attr("axis", 1), rank));
    axis = {node.index(given)};
  } else if (node.has(2)) {
    RELAXC_TRY(axis, axis_exprs(node, 2, "axis", rank));
    if (axis.size() != 1) return node.error(Kind::invalid_value, "axis must be a scalar");
  } else {
    axis = {node.index(rank - 2)};
  }
  Expr before = node.index(1), along = before, behind = before;
  for (int64_t i = 0; i + 1 < rank; ++i) {
    Expr extent = dims[static_cast<size_t>(i)], place = node.index(i), one = node.index(1);
    before = before * arith::select(arith::lt(place, axis[0]), extent, one);
    along = along * arith::select(arith::eq(place, axis[0]), extent, one);
    behind = behind * arith::select(arith::lt(axis[0], place), extent, one);
  }
  along = node.simplify(along);
  Transform t;
  t.inverse = node.int_attr("inverse", 0) != 0, t.onesided = node.int_attr("onesided", 0) != 0;
  t.length = t.inverse && t.onesided ? node.simplify((along - 1) * 2) : along;
  if (node.has(1)) {
    RELAXC_TRY(t.length, integer(node, 1));
  }
  RELAXC_TRY(x, reshape(node, x, {node.simplify(before), along, node.simplify(behind), dims.back()}));
  RELAXC_TRY(Value * y, transform(node, x, t));
  std::vector<Expr> result;
  for (int64_t i = 0; i + 1 < rank; ++i)
    result.push_back(
        node.simplify(arith::select(arith::eq(node.index(i), axis[0]), y->shape()[1], dims[static_cast<size_t>(i)])));
  result.push_back(y->shape()[3]);
  return node.set(0, reshape(node, y, std::move(result)));
}

/// Transforms the frames of a signal [B, L, 1 or 2], weighted by the window, to [B, frames, bins, 2]. Exporters leave
/// out the last dim of real signals.
Status stft(Node& node) {
  RELAXC_TRY(Value * signal, node.input(0));
  if (signal->shape().size() == 2) {
    RELAXC_TRY(signal, node.call("expand_dims", {signal}, {{"axis", Ints{2}}}));
  }
  const std::vector<Expr> dims = signal->shape();
  if (dims.size() != 3)
    return node.error(Kind::rank_mismatch, "the signal must have 2 or 3 dims, found {}",
                      relax::to_string(signal->info));
  RELAXC_TRY(Expr step, integer(node, 1));
  RELAXC_TRY(Value * window, node.optional_input(2));
  if (window != nullptr && window->shape().size() != 1)
    return node.error(Kind::rank_mismatch, "the window must have 1 dim, found {}", relax::to_string(window->info));
  Expr length = window != nullptr ? window->shape().at(0) : dims[1];
  if (node.has(3)) {
    RELAXC_TRY(length, integer(node, 3));
  }
  Expr frames = node.simplify(arith::floordiv(dims[1] - length, step) + 1), one = node.index(1);
  RELAXC_TRY(Value * at, counting(node, frames, {frames, one}));
  RELAXC_TRY(Value * apart, number(node, step, DType::i(64)));
  RELAXC_TRY(at, node.call("multiply", {at, apart}));
  RELAXC_TRY(Value * inside, counting(node, length, {one, length}));
  RELAXC_TRY(at, node.call("add", {at, inside}));
  RELAXC_TRY(Value * x, node.call("take", {signal, at}, {{"axis", int64_t{1}}}));
  if (window != nullptr) {
    RELAXC_TRY(window, reshape(node, window, {length, one}));
    RELAXC_TRY(x, node.call("multiply", {x, window}));
  }
  RELAXC_TRY(x, reshape(node, x, {node.simplify(dims[0] * frames), length, one, dims[2]}));
  RELAXC_TRY(Value * y, transform(node, x, {length, false, node.int_attr("onesided", 1) != 0}));
  return node.set(0, reshape(node, y, {dims[0], frames, y->shape()[1], y->shape()[3]}));
}

/// Computes a0 - a1 cos(2 pi i / n) + a2 cos(4 pi i / n); n is the size if periodic, one less if symmetric.
Status cosine_window(Node& node, double a0, double a1, double a2) {
  RELAXC_TRY(Expr size, integer(node, 0));
  RELAXC_TRY(DType dtype, datatype(node));
  DType precise = dtype == DType::f(64) ? dtype : DType::f(32);
  RELAXC_TRY(Value * at, counting(node, size, {size}));
  RELAXC_TRY(at, astype(node, at, precise));
  RELAXC_TRY(Value * period, number(node, node.int_attr("periodic", 1) != 0 ? size : size - 1, precise));
  RELAXC_TRY(Value * angle, node.call("multiply", {at, node.scalar(precise, kTurn)}));
  RELAXC_TRY(angle, node.call("divide", {angle, period}));
  RELAXC_TRY(Value * wave, node.call("cos", {angle}));
  RELAXC_TRY(wave, node.call("multiply", {wave, node.scalar(precise, a1)}));
  RELAXC_TRY(Value * y, node.call("subtract", {node.scalar(precise, a0), wave}));
  if (a2 != 0) {
    RELAXC_TRY(angle, node.call("multiply", {angle, node.scalar(precise, 2)}));
    RELAXC_TRY(wave, node.call("cos", {angle}));
    RELAXC_TRY(wave, node.call("multiply", {wave, node.scalar(precise, a2)}));
    RELAXC_TRY(y, node.call("add", {y, wave}));
  }
  return node.set(0, astype(node, y, dtype));
}

Status hann_window(Node& node) {
  return cosine_window(node, 0.5, 0.5, 0);
}
Status hamming_window(Node& node) {
  return cosine_window(node, 25.0 / 46, 21.0 / 46, 0);
}
Status blackman_window(Node& node) {
  return cosine_window(node, 0.42, 0.5, 0.08);
}

/// Returns the edges of the bands as spectrogram bins: evenly spaced on the mel scale, rounded down. They are computed
/// in float64, since a rounding error moves an edge by a whole bin.
Result<Value*> mel_edges(Node& node, Expr bands) {
  DType f64 = DType::f(64);
  auto operand = [&](size_t input) -> Result<Value*> {
    RELAXC_TRY(Value * value, node.input(input));
    RELAXC_TRY(value, reshape(node, value, {}));
    return astype(node, value, f64);
  };
  auto apply = [&](OpName op, Value* a, double b) { return node.call(op, {a, node.scalar(f64, b)}); };
  auto mel = [&](size_t input) -> Result<Value*> {
    RELAXC_TRY(Value * hertz, operand(input));
    RELAXC_TRY(hertz, apply("divide", hertz, 700));
    RELAXC_TRY(hertz, apply("add", hertz, 1));
    RELAXC_TRY(hertz, node.call("log10", {hertz}));
    return apply("multiply", hertz, 2595);
  };
  RELAXC_TRY(Value * low, mel(3));
  RELAXC_TRY(Value * high, mel(4));
  RELAXC_TRY(Value * step, node.call("subtract", {high, low}));
  RELAXC_TRY(Value * count, number(node, bands + 2, f64));
  RELAXC_TRY(step, node.call("divide", {step, count}));
  RELAXC_TRY(Value * edge, counting(node, bands + 2, {bands + 2}));
  RELAXC_TRY(edge, astype(node, edge, f64));
  RELAXC_TRY(edge, node.call("multiply", {edge, step}));
  RELAXC_TRY(edge, node.call("add", {edge, low}));
  RELAXC_TRY(edge, apply("divide", edge, 2595));
  RELAXC_TRY(edge, node.call("power", {node.scalar(f64, 10), edge}));
  RELAXC_TRY(edge, apply("subtract", edge, 1));
  RELAXC_TRY(edge, apply("multiply", edge, 700));
  RELAXC_TRY(Value * length, operand(1));
  RELAXC_TRY(length, apply("add", length, 1));
  RELAXC_TRY(edge, node.call("multiply", {edge, length}));
  RELAXC_TRY(Value * rate, operand(2));
  RELAXC_TRY(edge, node.call("divide", {edge, rate}));
  return node.call("floor", {edge});
}

/// Builds triangles of height 1 over the bins, which rise from one edge to the next and fall to the one after it.
Status mel_weight_matrix(Node& node) {
  Diagnostics& diag = node.diag;
  DType f64 = DType::f(64);
  RELAXC_TRY(Expr bands, integer(node, 0));
  RELAXC_TRY(Expr length, integer(node, 1));
  RELAXC_TRY(DType dtype, datatype(node));
  Expr bins = node.simplify(arith::floordiv(length, 2) + 1), one = node.index(1);
  RELAXC_TRY(Value * edges, mel_edges(node, bands));
  Value* edge[3];
  for (int64_t i = 0; i < 3; ++i) {
    RELAXC_TRY(edge[i], node.call("slice_part", {edges, node.shape({node.index(i)}), node.shape({bands})},
                                  {{"axis", int64_t{0}}}));
    RELAXC_TRY(edge[i], reshape(node, edge[i], {one, bands}));
  }
  RELAXC_TRY(Value * bin, counting(node, bins, {bins, one}));
  RELAXC_TRY(bin, astype(node, bin, f64));
  Value *zero = node.scalar(f64, 0), *unit = node.scalar(f64, 1);
  auto ask = [&](OpName op, Value* a, Value* b) { return node.call(op, {a, b}); };
  auto both = [&](Result<Value*> a, Result<Value*> b) -> Result<Value*> {
    if (!a || !b) return diag.failed();
    return node.call("logical_and", {*a, *b});
  };
  RELAXC_TRY(Value * rise, ask("subtract", edge[1], edge[0]));
  RELAXC_TRY(Value * fall, ask("subtract", edge[2], edge[1]));
  RELAXC_TRY(Value * steep, ask("equal", rise, zero));
  RELAXC_TRY(Value * peak, ask("equal", bin, edge[1]));
  RELAXC_TRY(Value * up, ask("subtract", bin, edge[0]));
  RELAXC_TRY(up, ask("divide", up, rise));
  Result<Value*> to_peak = ask("less_equal", bin, edge[1]);
  RELAXC_TRY(Value * rising, both(ask("greater_equal", bin, edge[0]), to_peak));
  RELAXC_TRY(up, node.call("where", {rising, up, zero}));
  RELAXC_TRY(Value * alone, node.call("where", {peak, unit, zero}));
  RELAXC_TRY(up, node.call("where", {steep, alone, up}));
  RELAXC_TRY(Value * down, ask("subtract", edge[2], bin));
  RELAXC_TRY(down, ask("divide", down, fall));
  Result<Value*> to_end = ask("less", bin, edge[2]);
  RELAXC_TRY(Value * falling, both(ask("greater_equal", bin, edge[1]), to_end));
  RELAXC_TRY(Value * y, node.call("where", {falling, down, up}));
  return node.set(0, astype(node, y, dtype));
}

/// Converts Rfft of com.microsoft: the last `signal_ndim` axes of a real signal, the last of them one-sided.
Status real_transform(Node& node) {
  ConversionBuilder c(node);
  Value* x = c.call("expand_dims", {c.input(0)}, {{"axis", Ints{-1}}});
  if (!c.ok()) return c.failed();
  int64_t axes = node.int_attr("signal_ndim", 1), last = rank_of(x) - 2;
  if (axes < 1 || axes > last + 1) return node.error(Kind::invalid_attribute, "signal_ndim is {}", axes);
  RELAXC_TRY(x, fourier(node, x, last, false, true));
  for (int64_t i = 1; i < axes; ++i) {
    RELAXC_TRY(x, fourier(node, x, last - i, false, false));
  }
  return node.set(0, x);
}

/// Converts Irfft, the inverse of Rfft.
Status real_inverse(Node& node) {
  RELAXC_TRY(Value * x, node.input(0));
  int64_t axes = node.int_attr("signal_ndim", 1), last = rank_of(x) - 2;
  if (axes < 1 || axes > last + 1) return node.error(Kind::invalid_attribute, "signal_ndim is {}", axes);
  for (int64_t i = axes - 1; i > 0; --i) {
    RELAXC_TRY(x, fourier(node, x, last - i, true, false));
  }
  RELAXC_TRY(x, fourier(node, x, last, true, true));
  return node.set(0, node.call("squeeze", {x}, {{"axis", Ints{last + 1}}}));
}

constexpr Converter kRows[] = {
    {.name = "BlackmanWindow", .convert = blackman_window, .since = 17},
    {.name = "DFT", .convert = dft, .since = 17, .note = "computed as a matrix product"},
    {.name = "HammingWindow", .convert = hamming_window, .since = 17},
    {.name = "HannWindow", .convert = hann_window, .since = 17},
    {.name = "MelWeightMatrix", .convert = mel_weight_matrix, .since = 17},
    {.name = "STFT", .convert = stft, .since = 17, .note = "computed as a matrix product"},
    {.name = "Rfft", .convert = real_transform, .domain = "com.microsoft"},
    {.name = "Irfft", .convert = real_inverse, .domain = "com.microsoft"},
};

}  // namespace
}  // namespace relaxc::frontend::signal_family

RELAXC_CONVERTERS(signal, kRows)
