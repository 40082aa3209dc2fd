// windows.cpp: convolutions and pools.
//
// auto_pad becomes explicit padding here. SAME depends on the dim, so a symbolic dim with a stride other than 1 (or a
// symbolic kernel) is padded by an operator of its own instead of by the convolution's constant attribute.
#include <cmath>
#include <limits>

#include "frontends/onnx/axes.h"
#include "frontends/onnx/converter.h"
#include "frontends/onnx/convolution.h"

namespace relaxc::frontend::windows_family {
namespace {

using Ints = std::vector<int64_t>;

/// The spatial dims of a window; those of a weight may be symbolic.
using Kernel = std::vector<Expr>;

/// The geometry of a window node; each list has one number per spatial dim.
struct Window {
  Kernel kernel;
  Ints strides, dilations, pad_begin, pad_end;
  Value* x = nullptr;
  std::vector<Expr> symbolic_pads;  ///< pads for `x`: all starts, then all ends of spatial dims; empty: none
  bool ceil = false;

  Attrs attrs() const {
    Ints padding = pad_begin;
    padding.insert(padding.end(), pad_end.begin(), pad_end.end());
    return {{"strides", strides}, {"padding", padding}, {"dilation", dilations}};
  }
  /// Returns the extent of the dilated window along spatial dim `i`, in elements.
  Expr reach(size_t i) const { return (kernel[i] - 1) * dilations[i] + 1; }
};

Result<Ints> spatial_list(Node& node, const char* name, size_t spatial, int64_t fallback) {
  Ints list = node.ints_attr(name, Ints(spatial, fallback));
  if (list.size() != spatial)
    return node.error(Kind::invalid_attribute, "{} has {} numbers for {} spatial dims", name, list.size(), spatial);
  return list;
}

/// Returns `x` with its spatial dims padded by expressions: all starts, then all ends.
Result<Value*> padded(Node& node, Value* x, const std::vector<Expr>& spatial, Value* value) {
  auto half = static_cast<std::ptrdiff_t>(spatial.size() / 2);
  std::vector<Expr> pads(2, node.index(0));
  pads.insert(pads.end(), spatial.begin(), spatial.begin() + half);
  pads.insert(pads.end(), 2, node.index(0));
  pads.insert(pads.end(), spatial.begin() + half, spatial.end());
  return node.call("pad", {x, node.shape(std::move(pads)), value});
}

/// Returns the window's operand, padded with `value` if its padding is symbolic.
Result<Value*> padded_by(Node& node, const Window& w, Value* value) {
  return w.symbolic_pads.empty() ? Result<Value*>(w.x) : padded(node, w.x, w.symbolic_pads, value);
}

/// Sets SAME padding: total = max(0, (ceil(dim / stride) - 1) * stride + reach - dim), with an odd element at the end
/// (SAME_UPPER) or the start.
void same_padding(Node& node, Window& w, bool lower) {
  std::vector<Expr> begin, end;
  bool symbolic = false;
  for (size_t i = 0; i < w.kernel.size(); ++i) {
    Expr dim = w.x->shape()[i + 2];
    Expr total =
        w.strides[i] == 1
            ? w.reach(i) - 1
            : arith::max(node.index(0), (arith::ceildiv(dim, w.strides[i]) - 1) * w.strides[i] + w.reach(i) - dim);
    total = node.simplify(total);
    Expr small = node.simplify(arith::floordiv(total, 2)), large = node.simplify(total - small);
    begin.push_back(lower ? large : small);
    end.push_back(lower ? small : large);
    symbolic = symbolic || total.constant() == nullptr;
  }
  if (symbolic) {
    w.symbolic_pads = std::move(begin);
    w.symbolic_pads.insert(w.symbolic_pads.end(), end.begin(), end.end());
    return;
  }
  for (size_t i = 0; i < w.kernel.size(); ++i) {
    w.pad_begin[i] = *begin[i].constant();
    w.pad_end[i] = *end[i].constant();
  }
}

Result<Window> window(Node& node, Value* x, Kernel kernel) {
  Window w;
  w.x = x;
  size_t rank = w.x->shape().size(), spatial = kernel.size();
  if (rank < 3 || spatial != rank - 2)
    return node.error(Kind::rank_mismatch, "a window of {} dims does not fit an input of {} dims (batch, channel, …)",
                      spatial, rank);
  w.kernel = std::move(kernel);
  RELAXC_TRY(w.strides, spatial_list(node, "strides", spatial, 1));
  RELAXC_TRY(w.dilations, spatial_list(node, "dilations", spatial, 1));
  auto is_size = [](int64_t size) { return size >= 1 && size <= INT32_MAX; };
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t* size = w.kernel[i].constant();
    if ((size != nullptr && !is_size(*size)) || !is_size(w.strides[i]) || !is_size(w.dilations[i]))
      return node.error(Kind::invalid_attribute, "kernel, strides and dilations must be positive 32-bit numbers");
  }
  w.pad_begin.assign(spatial, 0);
  w.pad_end.assign(spatial, 0);
  w.ceil = node.int_attr("ceil_mode", 0) != 0;
  std::string mode = node.string_attr("auto_pad", "NOTSET");
  if (mode == "NOTSET") {
    Ints pads = node.ints_attr("pads", Ints(2 * spatial, 0));
    if (pads.size() != 2 * spatial)
      return node.error(Kind::invalid_attribute, "pads has {} numbers for {} spatial dims", pads.size(), spatial);
    w.pad_begin.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(spatial));
    w.pad_end.assign(pads.begin() + static_cast<std::ptrdiff_t>(spatial), pads.end());
  } else if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
    same_padding(node, w, mode == "SAME_LOWER");
  } else if (mode != "VALID") {
    return node.error(Kind::invalid_attribute, "auto_pad '{}' is not one of NOTSET, SAME_UPPER, SAME_LOWER, VALID",
                      mode);
  }
  return w;
}

/// Returns the spatial dims of a weight. If kernel_shape is given, a weight of other dims is refused, at run time if
/// they are symbolic.
Result<Kernel> kernel_of(Node& node, Value*& weight) {
  if (node.has_attr("kernel_shape")) {
    Ints promised = node.ints_attr("kernel_shape");
    std::vector<Expr> dims = weight->shape();
    if (promised.size() + 2 != dims.size())
      return node.error(Kind::shape_mismatch, "kernel_shape is not that of the weight, {}",
                        relax::to_string(weight->info));
    for (size_t i = 0; i < promised.size(); ++i) dims[i + 2] = node.index(promised[i]);
    RELAXC_TRY(weight, with_shape(node, weight, std::move(dims), "kernel_shape"));
  }
  const std::vector<Expr>& dims = weight->shape();
  return Kernel(dims.begin() + std::min<std::ptrdiff_t>(2, static_cast<std::ptrdiff_t>(dims.size())), dims.end());
}

Result<Value*> add_bias(Node& node, Value* y, size_t input) {
  if (!node.has(input)) return y;
  RELAXC_TRY(Value * bias, node.input(input));
  if (bias->shape().size() != 1)
    return node.error(Kind::rank_mismatch, "the bias must be a list, found {}", relax::to_string(bias->info));
  std::vector<Expr> dims(y->shape().size() - 1, node.index(1));
  dims[0] = bias->shape()[0];
  RELAXC_TRY(bias, reshape(node, bias, std::move(dims)));
  return node.call("add", {y, bias});
}

Status conv(Node& node) {
  RELAXC_TRY(Value * x, node.input(0));
  RELAXC_TRY(Value * weight, node.input(1));
  RELAXC_TRY(Value * y, convolution(node, x, weight));
  return node.set(0, add_bias(node, y, 2));
}

/// Sets the padding of a transposed convolution from output_shape, or from auto_pad, which wants dim * stride.
Status transposed_padding(Node& node, Window& w, const Ints& extra) {
  std::string mode = node.string_attr("auto_pad", "NOTSET");
  Ints wanted = node.ints_attr("output_shape");
  size_t spatial = w.kernel.size();
  if (wanted.size() > spatial) wanted.erase(wanted.begin(), wanted.end() - static_cast<std::ptrdiff_t>(spatial));
  bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
  if (wanted.empty() && !same) return Done{};
  if (!wanted.empty() && wanted.size() != spatial)
    return node.error(Kind::invalid_attribute, "output_shape has {} numbers for {} spatial dims", wanted.size(),
                      spatial);
  std::vector<Expr> begin, end;
  bool symbolic = false;
  for (size_t i = 0; i < spatial; ++i) {
    Expr dim = w.x->shape()[i + 2];
    Expr target = wanted.empty() ? dim * w.strides[i] : node.index(wanted[i]);
    Expr total = node.simplify((dim - 1) * w.strides[i] + extra[i] + w.reach(i) - target);
    if (wanted.empty()) total = node.simplify(arith::max(node.index(0), total));
    // An odd element goes to the end with SAME_UPPER, else to the start.
    Expr small = node.simplify(arith::floordiv(total, 2)), large = node.simplify(total - small);
    begin.push_back(mode == "SAME_UPPER" ? small : large);
    end.push_back(mode == "SAME_UPPER" ? large : small);
    symbolic = symbolic || total.constant() == nullptr;
  }
  for (size_t i = 0; i < spatial; ++i) {
    w.pad_begin[i] = symbolic ? 0 : *begin[i].constant();
    w.pad_end[i] = symbolic ? 0 : *end[i].constant();
  }
  if (!symbolic) return Done{};
  w.symbolic_pads = std::move(begin);
  w.symbolic_pads.insert(w.symbolic_pads.end(), end.begin(), end.end());
  return Done{};
}

/// `pads_input`: index of the input that holds the padding, if it is not an attribute.
Status conv_transpose_with(Node& node, std::optional<size_t> pads_input, size_t bias_input) {
  RELAXC_TRY(Value * weight, node.input(1));
  RELAXC_TRY(Kernel kernel, kernel_of(node, weight));
  size_t spatial = kernel.size();
  std::string mode = node.string_attr("auto_pad", "NOTSET");
  Window w;
  RELAXC_TRY(w.x, node.input(0));
  if (w.x->shape().size() != spatial + 2 || spatial == 0)
    return node.error(Kind::rank_mismatch, "input and weight must have the same 3 or more dims");
  w.kernel = std::move(kernel);
  RELAXC_TRY(w.strides, spatial_list(node, "strides", spatial, 1));
  RELAXC_TRY(w.dilations, spatial_list(node, "dilations", spatial, 1));
  RELAXC_TRY(Ints extra, spatial_list(node, "output_padding", spatial, 0));
  Ints pads = node.ints_attr("pads", Ints(2 * spatial, 0));
  if (pads.size() != 2 * spatial)
    return node.error(Kind::invalid_attribute, "pads has {} numbers for {} spatial dims", pads.size(), spatial);
  w.pad_begin.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(spatial));
  w.pad_end.assign(pads.begin() + static_cast<std::ptrdiff_t>(spatial), pads.end());
  if (pads_input && node.has(*pads_input)) {
    RELAXC_TRY(w.symbolic_pads, node.ints(*pads_input, static_cast<int64_t>(2 * spatial)));
  } else {
    RELAXC_DO(transposed_padding(node, w, extra));
  }
  // A negative pad at the end enlarges the output.
  for (size_t i = 0; i < spatial; ++i)
    if (w.pad_end[i] < 0) {
      extra[i] -= w.pad_end[i];
      w.pad_end[i] = 0;
    }
  Attrs attrs = w.attrs();
  attrs.set("groups", node.int_attr("group", 1));
  attrs.set("output_padding", extra);
  RELAXC_TRY(Value * y, node.call("nn.conv_transpose", {w.x, weight}, std::move(attrs)));
  if (!w.symbolic_pads.empty()) {  // padding crops the result; negative padding extends it
    for (Expr& pad : w.symbolic_pads) pad = node.simplify(-pad);
    RELAXC_TRY(y, padded(node, y, w.symbolic_pads, nullptr));
  }
  return node.set(0, add_bias(node, y, bias_input));
}

Status conv_transpose(Node& node) {
  return conv_transpose_with(node, std::nullopt, 2);
}
/// Converts the operator of com.microsoft whose padding, by which the result is cropped, is an input.
Status conv_transpose_dynamic(Node& node) {
  return conv_transpose_with(node, 2, 3);
}

Result<Window> pool_window(Node& node) {
  if (!node.has_attr("kernel_shape")) return node.error(Kind::invalid_attribute, "kernel_shape is missing");
  RELAXC_TRY(Value * x, node.input(0));
  RELAXC_TRY(Window w, window(node, x, node.indices(node.ints_attr("kernel_shape"))));
  // Symbolic padding is a pad operator, which would give an empty input a result; all other pools refuse that.
  if (!w.symbolic_pads.empty())
    for (size_t i = 0; i < w.kernel.size(); ++i) RELAXC_DO(expect(node, arith::le(node.index(1), x->shape()[i + 2])));
  return w;
}

Attrs pool_attrs(Node& node, const Window& w) {
  Attrs attrs = w.attrs();
  attrs.set("pool_size", node.ints_attr("kernel_shape"));
  attrs.set("ceil_mode", w.ceil);
  return attrs;
}

/// Returns a value that no element of the dtype is below.
Value* lowest(Node& node, DType dtype) {
  if (dtype.is_float()) return node.scalar(dtype, -std::numeric_limits<double>::infinity());
  return node.scalar(dtype, dtype.is_int() ? -std::ldexp(1.0, dtype.bits - 1) : 0);
}

Status max_pool(Node& node) {
  RELAXC_TRY(Window w, pool_window(node));
  if (!w.symbolic_pads.empty() && node.wants(1))
    return node.error(Kind::unsupported, "indices under padding that depends on a symbolic dim; fix it with --dim");
  RELAXC_TRY(Value * x, padded_by(node, w, lowest(node, w.x->dtype())));
  Attrs attrs = pool_attrs(node, w);
  attrs.set("indices", node.wants(1));
  attrs.set("storage_order", node.int_attr("storage_order", 0));
  RELAXC_TRY(std::vector<Value*> results, node.call_many("nn.max_pool", {x}, std::move(attrs)));
  for (size_t i = 0; i < results.size(); ++i) RELAXC_DO(node.set(i, results[i]));
  return Done{};
}

/// Symbolic padding is a pad operator, whose zeros count as data; dividing by the pool of ones takes them out again.
Status average_pool(Node& node) {
  bool include = node.int_attr("count_include_pad", 0) != 0;
  RELAXC_TRY(Window w, pool_window(node));
  Attrs attrs = pool_attrs(node, w);
  attrs.set("count_include_pad", include);
  RELAXC_TRY(Value * x, padded_by(node, w, node.scalar(w.x->dtype(), 0)));
  RELAXC_TRY(Value * y, node.call("nn.avg_pool", {x}, attrs));
  if (w.symbolic_pads.empty() || include) return node.set(0, y);
  std::vector<Expr> dims = w.x->shape();
  dims[0] = dims[1] = node.index(1);
  RELAXC_TRY(w.x, node.call("ones", {node.shape(std::move(dims))}, {{"dtype", x->dtype()}}));
  RELAXC_TRY(Value * ones, padded_by(node, w, node.scalar(x->dtype(), 0)));
  RELAXC_TRY(Value * share, node.call("nn.avg_pool", {ones}, std::move(attrs)));
  // A dilated window may read padding only; the minimum makes the result 0, as with fixed padding, instead of 0 / 0.
  double least = 1;
  for (int64_t taps : node.ints_attr("kernel_shape")) least /= static_cast<double>(taps);
  RELAXC_TRY(share, node.call("maximum", {share, node.scalar(share->dtype(), least / 2)}));
  return node.set(0, node.call("divide", {y, share}));
}

Status lp_pool(Node& node) {
  RELAXC_TRY(Window w, pool_window(node));
  RELAXC_TRY(Value * x, padded_by(node, w, node.scalar(w.x->dtype(), 0)));
  Attrs attrs = pool_attrs(node, w);
  int64_t p = node.int_attr("p", 2);
  if (node.opset < 2) {  // p was a float before opset 2
    double real = node.float_attr("p", 2);
    p = static_cast<int64_t>(real);
    if (static_cast<double>(p) != real)
      return node.error(Kind::unsupported, "p must be a whole number, found {}", real);
  }
  attrs.set("p", p);
  return node.set(0, node.call("nn.lp_pool", {x}, std::move(attrs)));
}

constexpr Converter kRows[] = {
    {.name = "Conv", .convert = conv},
    {.name = "ConvTranspose", .convert = conv_transpose},
    {.name = "ConvTransposeWithDynamicPads", .convert = conv_transpose_dynamic, .domain = "com.microsoft"},
    {.name = "MaxPool", .convert = max_pool, .note = "indices under SAME padding of a symbolic dim need stride 1"},
    {.name = "AveragePool", .convert = average_pool},
    {.name = "LpPool", .convert = lp_pool},
};

}  // namespace
}  // namespace relaxc::frontend::windows_family

namespace relaxc::frontend {

Result<Value*> convolution(Node& node, Value* x, Value* weight) {
  RELAXC_TRY(windows_family::Kernel kernel, windows_family::kernel_of(node, weight));
  RELAXC_TRY(windows_family::Window w, windows_family::window(node, x, std::move(kernel)));
  RELAXC_TRY(Value * padded, windows_family::padded_by(node, w, node.scalar(x->dtype(), 0)));
  Attrs attrs = w.attrs();
  attrs.set("groups", node.int_attr("group", 1));
  return node.call("nn.conv", {padded, weight}, std::move(attrs));
}

}  // namespace relaxc::frontend

RELAXC_CONVERTERS(windows, kRows)
