// windows.cpp: see windows.h.
//
// The derivative of a convolution by its data is the transposed convolution with the same weights. That by its weights
// is a convolution as well: channels of the data become its batch, the batch its channels, the derivatives by the
// result its weights, and strides and dilations change places. Both may have elements more than needed at the end,
// which are cut off. The derivative of an average is the transposed convolution with ones, of derivatives that are
// divided by the number of elements of their windows.
#include "compiler/ops/gradients/windows.h"

#include <algorithm>
#include <numeric>

#include "compiler/ops/common/window.h"

namespace relaxc::ops::derivatives {
namespace {

std::vector<int64_t> pads_of(const Windows& w) {
  std::vector<int64_t> pads = w.pad_begin;
  pads.insert(pads.end(), w.pad_end.begin(), w.pad_end.end());
  return pads;
}

/// Returns x with the first elements of its spatial dims, as many as `shape` has.
Value* cut(GradientBuilder& build, Value* x, const Dims& shape) {
  for (size_t k = 2; k < shape.size() && !build.failed(); ++k)
    if (!arith::prove_equal(x->shape()[k], shape[k]))
      x = build.part(x, static_cast<int64_t>(k), build.builder().context().index(0), shape[k]);
  return x;
}

std::vector<int64_t> swapped_axes(size_t rank) {
  std::vector<int64_t> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  std::swap(axes[0], axes[1]);
  return axes;
}

Expr span_of(Expr kernel, const Windows& w, size_t k) {
  return (kernel - 1) * w.dilations[k] + 1;
}

/// Adds each element of g to all elements of its window, times `weights`: a transposed convolution to data of `shape`.
Value* spread_windows(GradientBuilder& build, Value* g, Value* weights, Windows w, int64_t groups, const Dims& shape) {
  if (build.failed()) return nullptr;
  std::vector<int64_t> extra;
  for (size_t k = 0; k + 2 < shape.size(); ++k) {
    Expr covered = (g->shape()[k + 2] - 1) * w.strides[k] + span_of(weights->shape()[k + 2], w, k) - w.pad_begin[k];
    Expr rest = arith::simplify(shape[k + 2] - covered);
    extra.push_back(w.strides[k] - 1);
    if (const int64_t* known = rest.constant()) {
      extra.back() = std::max<int64_t>(*known, 0);
      w.pad_end[k] = std::max<int64_t>(-*known, 0);
    }
  }
  relax::Attrs attrs{{"strides", w.strides},
                     {"padding", pads_of(w)},
                     {"dilation", w.dilations},
                     {"groups", groups},
                     {"output_padding", extra}};
  return cut(build, build.call("nn.conv_transpose", {g, weights}, std::move(attrs)), shape);
}

/// Returns the derivatives by weights of `shape`, [O, C / groups, spatial…], of a convolution of data [N, C, spatial…],
/// where g [N, O, spatial…] has those by its result.
Value* by_weights(GradientBuilder& build, Value* data, Value* g, const Windows& w, int64_t groups, const Dims& shape) {
  if (build.failed()) return nullptr;
  const size_t rank = shape.size();
  Dims from = data->shape();
  if (groups == 1) {
    data = build.permute(data, swapped_axes(rank));
  } else {
    Dims apart = from, together = from;
    apart[1] = build.builder().context().index(groups);
    apart.insert(apart.begin() + 2, shape[1]);
    together[0] = shape[1], together[1] = from[0] * groups;
    std::vector<int64_t> axes(rank + 1);
    std::iota(axes.begin(), axes.end(), 0);
    axes[0] = 2, axes[1] = 1, axes[2] = 0;
    data = build.reshape(build.permute(build.reshape(data, apart), axes), together);
  }
  relax::Attrs attrs{{"strides", w.dilations}, {"padding", pads_of(w)}, {"dilation", w.strides}, {"groups", groups}};
  Value* sums = build.call("nn.conv", {data, build.permute(g, swapped_axes(rank))}, std::move(attrs));
  return cut(build, build.permute(sums, swapped_axes(rank)), shape);
}

/// Returns the number of groups, of which `groups` = 0 means one for each channel; 0 if that is not constant.
int64_t groups_of(const Op& op) {
  const int64_t groups = op.attrs.integer("groups");
  const int64_t* channels = op.operand(0)->shape()[1].constant();
  return groups != 0 || channels == nullptr ? groups : *channels;
}

/// Returns the derivatives by the data x and the weights that `rule` gives, where g has the dtype of x.
using ConvolutionRule = Values (*)(GradientSite&, Value* x, Value* weight, Value* g, const Windows&, int64_t groups);
Values convolution_gradient(relax::GraphBuilder& b, const Op& op, ByResults by_results, ConvolutionRule rule) {
  const int64_t groups = groups_of(op);
  if (groups == 0) return refuse_gradient(b, op, "with an open number of groups");
  if (!op.operand(0)->dtype().is_float()) return no_gradient(b, op, by_results);
  GradientSite s(b, op, by_results);
  Value *x = op.operand(0), *g = s.build.as(s.g.value, x->dtype());
  return rule(s, x, op.operand(1), g, windows_of(op, s.shape(0).size() - 2, {}), groups);
}

}  // namespace

Values conv(relax::GraphBuilder& b, const Op& op, ByResults by_results) {
  return convolution_gradient(b, op, by_results,
                              [](GradientSite& s, Value* x, Value* weight, Value* g, const Windows& w, int64_t groups) {
                                Value* by_x = spread_windows(s.build, g, weight, w, groups, s.shape(0));
                                return s.done({by_x, by_weights(s.build, x, g, w, groups, s.shape(1))});
                              });
}

Values conv_transpose(relax::GraphBuilder& b, const Op& op, ByResults by_results) {
  return convolution_gradient(
      b, op, by_results, [](GradientSite& s, Value* x, Value* weight, Value* g, const Windows& w, int64_t groups) {
        relax::Attrs attrs{
            {"strides", w.strides}, {"padding", pads_of(w)}, {"dilation", w.dilations}, {"groups", groups}};
        Value* by_x = cut(s.build, s.build.call("nn.conv", {g, weight}, std::move(attrs)), s.shape(0));
        return s.done({by_x, by_weights(s.build, g, x, w, groups, s.shape(1))});
      });
}

Values max_pool(relax::GraphBuilder& b, const Op& op, ByResults by_results) {
  if (by_results[0] == nullptr || !op.operand(0)->dtype().is_float()) return no_gradient(b, op, by_results);
  GradientSite s(b, op, by_results);
  relax::Attrs attrs = op.attrs;
  attrs.set("indices", true), attrs.set("storage_order", int64_t{0});
  RELAXC_TRY(std::vector<Value*> found, b.call_many("nn.max_pool", {op.operand(0)}, std::move(attrs)));
  const Dims all{product(b.context(), s.shape(0))}, windows{product(b.context(), op.results[0]->shape())};
  Value* sums = s.build.call("scatter_elements",
                             {s.build.zeros(all, op.operand(0)->dtype()), s.build.reshape(found[1], windows),
                              s.build.reshape(s.g.value, windows)},
                             {{"reduction", std::string("add")}});
  return s.done({s.build.reshape(sums, s.shape(0))});
}

namespace {

/// Adds each element of `share`, of the result's shape, to all elements of its window.
Value* spread_ones(GradientSite& s, Value* share, const Windows& w) {
  // Channels become a part of the batch, so that one window of ones serves all.
  relax::GraphBuilder& b = s.build.builder();
  Dims flat = s.shape(0), rows = s.op.result()->shape(), window{b.context().index(1), b.context().index(1)};
  flat[0] = flat[0] * flat[1], flat[1] = b.context().index(1);
  rows[0] = flat[0], rows[1] = flat[1];
  for (int64_t extent : w.kernel) window.push_back(b.context().index(extent));
  Value* ones = s.build.call("ones", {b.shape(window)}, {{"dtype", s.op.result()->dtype()}});
  return s.build.reshape(spread_windows(s.build, s.build.reshape(share, rows), ones, w, 1, flat), s.shape(0));
}

/// Returns how many elements the windows of an average pool have, [1, 1, spatial…]; null if that is not supported.
Value* window_sizes(GradientBuilder& build, const Op& op, const Windows& w) {
  relax::GraphBuilder& b = build.builder();
  const Dims &x = op.operand(0)->shape(), &y = op.result()->shape();
  const bool padded = op.attrs.flag("count_include_pad");
  Dims counted{b.context().index(1), b.context().index(1)}, kernel = counted;
  Windows own = w;
  for (size_t k = 0; k + 2 < x.size(); ++k) {
    counted.push_back(padded ? x[k + 2] + w.pad_begin[k] + w.pad_end[k] : x[k + 2]);
    kernel.push_back(b.context().index(w.kernel[k]));
    if (padded) own.pad_begin[k] = own.pad_end[k] = 0;
    Expr reach = (y[k + 2] - 1) * w.strides[k] + span_of(kernel.back(), w, k);
    Expr beyond = arith::simplify(reach - counted.back() - own.pad_begin[k]);
    if (const int64_t* known = beyond.constant())
      own.pad_end[k] = std::max<int64_t>(*known, 0);
    else if (op.attrs.flag("ceil_mode"))
      return nullptr;
  }
  const DType dtype = op.result()->dtype();
  relax::Attrs attrs{{"strides", own.strides}, {"padding", pads_of(own)}, {"dilation", own.dilations}};
  Value* ones = build.call("ones", {b.shape(counted)}, {{"dtype", dtype}});
  Value* window = build.call("ones", {b.shape(kernel)}, {{"dtype", dtype}});
  return build.call("maximum", {build.call("nn.conv", {ones, window}, std::move(attrs)), build.number(dtype, 1)});
}

}  // namespace

Values avg_pool(relax::GraphBuilder& b, const Op& op, ByResults by_results) {
  if (!op.operand(0)->dtype().is_float()) return no_gradient(b, op, by_results);
  GradientSite s(b, op, by_results);
  const Windows w = windows_of(op, s.shape(0).size() - 2, op.attrs.ints("pool_size"));
  Value* sizes = window_sizes(s.build, op, w);
  if (sizes == nullptr && !s.build.failed()) return refuse_gradient(b, op, "in ceil_mode with open dims");
  Term share = s.g / Term{sizes, &s.build};
  return s.done({spread_ones(s, share.value, w)});
}

Values lp_pool(relax::GraphBuilder& b, const Op& op, ByResults by_results) {
  GradientSite s(b, op, by_results);
  const auto p = static_cast<double>(op.attrs.integer("p"));
  // An empty or zero window has no direction; as for abs, its derivative is 0.
  Term zero = s.g.number(0), share = s.g;
  if (p > 1) {
    Term scaled = s.g * s.y.with("power", s.y.number(1 - p));
    share = zero.where(s.y.with("equal", zero), scaled);
  }
  const Windows w = windows_of(op, s.shape(0).size() - 2, op.attrs.ints("pool_size"));
  Term spread{spread_ones(s, share.value, w), &s.build}, x = s.in(0), sign = x.call("sign");
  if (p > 1) sign = sign * x.call("abs").with("power", x.number(p - 1));
  return s.done({(spread * sign).value});
}

namespace {

/// Sums each element with its neighbours along `axis`, `before` and `after` it: a convolution with ones.
Term neighbour_sums(Term x, size_t axis, int64_t before, int64_t after) {
  GradientBuilder& build = *x.builder;
  if (build.failed()) return x;
  relax::GraphBuilder& b = build.builder();
  const Dims shape = x.value->shape();
  const auto at = static_cast<std::ptrdiff_t>(axis);
  const Expr one = b.context().index(1);
  const Dims flat{product(b.context(), Dims(shape.begin(), shape.begin() + at)), one, shape[axis],
                  product(b.context(), Dims(shape.begin() + at + 1, shape.end()))};
  const Dims window{one, one, b.context().index(before + after + 1), one};
  Value* ones = build.call("ones", {b.shape(window)}, {{"dtype", x.value->dtype()}});
  relax::Attrs attrs{{"padding", std::vector<int64_t>{before, 0, after, 0}}};
  return {build.reshape(build.call("nn.conv", {build.reshape(x.value, flat), ones}, std::move(attrs)), shape), &build};
}

}  // namespace

/// With s = bias + alpha / size * (sum of squares around), y = x / s^beta. An element is in the sums of its neighbours,
/// whose windows reach it from the other side.
Values lrn(relax::GraphBuilder& b, const Op& op, ByResults by_results) {
  GradientSite s(b, op, by_results);
  const int64_t size = op.attrs.integer("size"), before = (size - 1) / 2, after = size - 1 - before;
  const int64_t axis = op.attrs.integer("axis"), rank = static_cast<int64_t>(s.shape(0).size());
  const auto at = static_cast<size_t>(axis < 0 ? axis + rank : axis);
  const double ratio = op.attrs.number("alpha") / static_cast<double>(size), beta = op.attrs.number("beta");
  const Term x = s.in(0), base = neighbour_sums(x * x, at, before, after) * ratio + op.attrs.number("bias");
  const Term direct = s.g * base.with("power", base.number(-beta));
  const Term around = neighbour_sums(s.g * s.y / base, at, after, before);
  return s.done({(direct - x * around * (2 * ratio * beta)).value});
}

}  // namespace relaxc::ops::derivatives
