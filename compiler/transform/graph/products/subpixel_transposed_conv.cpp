// subpixel_transposed_conv.cpp: transposed convolutions without the zeros between elements.
//
// The problem: y[o] sums x[(o + pad - k) / stride] * w[k] over the taps k for which the division leaves no remainder.
// That is one in `stride` taps; the others are multiplied by zero, and neighbours in a vector use different taps.
//
// The method: results whose o + pad have the same remainder r use the same taps, r, r + stride, …, so they are a plain
// convolution by those. All remainders together are one convolution with stride * … times the channels, whose weights
// are reordered when compiling (with zeros where a remainder has a tap less than others), and its channels are then
// interleaved along the axes that have strides (Shi et al. 2016, sub-pixel convolution). A weight of zero times NaN or
// infinity shows in results that would not have read that element.
#include "compiler/transform/graph/products/subpixel_transposed_conv.h"

#include <algorithm>
#include <cstring>

#include "compiler/transform/graph/products/window_attrs.h"

namespace relaxc {
namespace {

using namespace relax;

using Numbers = std::vector<int64_t>;

/// One spatial axis.
struct Axis {
  int64_t stride, taps;  ///< of the transposed convolution
  int64_t taps_of_phase;
  int64_t first;  ///< the first place that a phase computes: result o is in place (o + pad) / stride - first
  int64_t pad_begin, pad_end;  ///< padding of the plain convolution
  int64_t skipped;             ///< results before the first one that is wanted
};

Axis axis_of_phases(int64_t stride, int64_t taps, int64_t begin, int64_t end, int64_t extra) {
  Axis a{stride, taps, (taps + stride - 1) / stride, 0, 0, 0, 0};
  a.first = std::min(begin / stride, a.taps_of_phase - 1);
  a.pad_begin = a.taps_of_phase - 1 - a.first;
  // The last result of an image of n elements has o + pad = (n - 1) * stride + taps - 1 + extra - end; and an image of
  // one element must be enough, as for the transposed convolution.
  a.pad_end = std::max(a.first, (taps - 1 + extra - end + stride) / stride - 1);
  a.skipped = begin - a.first * stride;
  return a;
}

/// Whether the reordered weights have at most 16 times as many elements: as many zeros are added if a filter of one tap
/// moves by 4 along both axes of an image. Where filters are further apart, most phases are zeros alone.
bool grows_little(const std::vector<Axis>& axes) {
  double growth = 1;
  for (const Axis& a : axes) growth *= static_cast<double>(a.stride) * a.taps_of_phase / std::max<int64_t>(a.taps, 1);
  return growth <= 16;
}

/// Calls `visit` with all tuples below `extents` and their numbers; the last element changes fastest.
template <typename F>
void for_each_tuple(const Numbers& extents, F visit) {
  int64_t count = 1;
  for (int64_t extent : extents) count *= extent;
  Numbers at(extents.size());
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i;
    for (size_t k = extents.size(); k-- > 0; rest /= extents[k]) at[k] = rest % extents[k];
    visit(i, at);
  }
}

/// Returns weights [I, O, taps…] as [groups * O * phases, I / groups, taps of a phase…], each filter reversed.
ConstantRef weights_of_phases(const ConstantRef& weights, const std::vector<Axis>& axes, int64_t groups) {
  const Numbers from = weights->shape();
  const int64_t inputs = from[0] / groups, outputs = from[1];
  Numbers phases, shape{0, inputs};
  int64_t all = 1;
  for (const Axis& a : axes) phases.push_back(a.stride), all *= a.stride, shape.push_back(a.taps_of_phase);
  shape[0] = groups * outputs * all;
  auto apply = [=](std::span<const std::byte> bytes) {
    const auto size = static_cast<size_t>(weights->dtype().bytes());
    int64_t count = 1;
    for (int64_t extent : shape) count *= extent;
    std::vector<std::byte> made(static_cast<size_t>(count) * size);
    for_each_tuple(shape, [&](int64_t element, const Numbers& to) {
      int64_t channel = to[0] / all, rest = to[0] % all;
      int64_t source = (channel / outputs * inputs + to[1]) * outputs + channel % outputs;
      Numbers phase(axes.size());
      for (size_t k = axes.size(); k-- > 0; rest /= phases[k]) phase[k] = rest % phases[k];
      for (size_t k = 0; k < axes.size(); ++k) {
        int64_t tap = phase[k] + axes[k].stride * (axes[k].taps_of_phase - 1 - to[k + 2]);
        if (tap >= axes[k].taps) return;
        source = source * axes[k].taps + tap;
      }
      std::memcpy(&made[static_cast<size_t>(element) * size], &bytes[static_cast<size_t>(source) * size], size);
    });
    return made;
  };
  return ConstantData::transformed(weights->dtype(), shape, weights, {"in phases", apply});
}

/// Returns [N, C * phases, places…] as [N, C, places * stride…].
Value* interleaved(const Site& s, Value* y, const std::vector<Axis>& axes) {
  const std::vector<Expr> own = y->shape();
  std::vector<Expr> apart{own[0], s.out()->shape()[1]}, together = apart;
  Numbers order{0, 1};
  for (size_t k = 0; k < axes.size(); ++k) {
    apart.push_back(s.builder.context().index(axes[k].stride));
    order.push_back(static_cast<int64_t>(2 + axes.size() + k)), order.push_back(static_cast<int64_t>(2 + k));
    together.push_back(own[k + 2] * axes[k].stride);
  }
  apart.insert(apart.end(), own.begin() + 2, own.end());
  Value* moved = s.make("permute_dims", {s.make("reshape", {y, s.builder.shape(apart)})}, {{"axes", order}});
  return s.make("reshape", {moved, s.builder.shape(together)});
}

/// Returns the part of `y` that is the result of the transposed convolution.
Value* wanted(const Site& s, Value* y, const std::vector<Axis>& axes) {
  for (size_t k = 0; k < axes.size(); ++k) {
    Expr extent = s.out()->shape()[k + 2], begin = s.builder.context().index(axes[k].skipped);
    if (axes[k].skipped == 0 && arith::prove_equal(extent, y->shape()[k + 2], s.facts)) continue;
    y = s.make("slice_part", {y, s.builder.shape({begin}), s.builder.shape({extent})},
               {{"axis", static_cast<int64_t>(k + 2)}});
  }
  return y;
}

}  // namespace

Value* subpixel_transposed_conv(const Site& s) {
  ConstantRef weights = s.op.is("nn.conv_transpose") ? constant_of(s.in(1)) : nullptr;
  if (weights == nullptr || weights->dtype().bits < 8 || s.op.attrs.integer("groups") == 0) return nullptr;
  const size_t spatial = weights->shape().size() - 2;
  const Attrs& attrs = s.op.attrs;
  const Numbers strides = one_per_dim(attrs.ints("strides"), spatial, 1),
                pads = both_sides(attrs.ints("padding"), spatial),
                extra = one_per_dim(attrs.ints("output_padding"), spatial, 0);
  const Numbers dilations = one_per_dim(attrs.ints("dilation"), spatial, 1);
  bool plain = std::all_of(dilations.begin(), dilations.end(), [](int64_t n) { return n == 1; });
  if (!plain || std::all_of(strides.begin(), strides.end(), [](int64_t n) { return n == 1; })) return nullptr;
  std::vector<Axis> axes;
  Numbers padding;
  for (size_t k = 0; k < spatial; ++k) {
    axes.push_back(axis_of_phases(strides[k], weights->shape()[k + 2], pads[k], pads[spatial + k], extra[k]));
    padding.push_back(axes[k].pad_begin);
  }
  for (const Axis& a : axes) padding.push_back(a.pad_end);
  if (!grows_little(axes)) return nullptr;
  Value* filters = s.builder.constant(weights_of_phases(weights, axes, attrs.integer("groups")));
  Value* y =
      s.make("nn.conv", {s.in(), filters},
             {{"padding", padding}, {"groups", attrs.integer("groups")}, {"out_dtype", attrs.string("out_dtype")}});
  y->op->requirements.insert(y->op->requirements.end(), s.op.requirements.begin(), s.op.requirements.end());
  mark_rounding(s.builder.function());
  return wanted(s, interleaved(s, y, axes), axes);
}

}  // namespace relaxc
