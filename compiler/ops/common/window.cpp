// window.cpp: see window.h.
#include "compiler/ops/common/window.h"

#include <algorithm>

namespace relaxc::ops {
namespace {

/// Returns one number for each dim: `fallback` for an empty list, and a single number for all dims.
std::vector<int64_t> filled(const std::vector<int64_t>& values, size_t count, int64_t fallback) {
  if (values.empty()) return std::vector<int64_t>(count, fallback);
  if (values.size() == 1) return std::vector<int64_t>(count, values[0]);
  return values;
}

relaxc::Status check_list(InferContext& c, std::string_view name, size_t spatial, bool pads) {
  if (!c.op.attrs.has(name)) return Done{};
  const auto& values = c.op.attrs.ints(name);
  bool fits = values.size() <= 1 || values.size() == spatial || (pads && values.size() == 2 * spatial);
  if (!fits)
    return c.error(Kind::invalid_attribute, "attribute '{}' of '{}' has {} numbers for {} spatial dims", name,
                   c.op.def->name, values.size(), spatial);
  for (int64_t value : values)
    if (value < (pads ? 0 : 1) || value > relax::kMostOfWindow)
      return c.error(Kind::invalid_attribute, "attribute '{}' of '{}' cannot be {}; it is {} to {}", name,
                     c.op.def->name, value, pads ? 0 : 1, relax::kMostOfWindow);
  return Done{};
}

}  // namespace

std::vector<Expr> channels_second(const Op& op, std::vector<Expr> list) {
  if (op.def->rows_first) std::swap(list[1], list[2]);
  return list;
}

Windows windows_of(const Op& op, size_t spatial, std::vector<int64_t> kernel) {
  Windows w;
  w.kernel = std::move(kernel);
  w.strides = filled(op.attrs.ints("strides"), spatial, 1);
  w.dilations = filled(op.attrs.ints("dilation"), spatial, 1);
  std::vector<int64_t> pads(2 * spatial, 0);  // operators without the attribute have no padding
  if (op.attrs.has("padding")) pads = filled(op.attrs.ints("padding"), spatial, 0);
  w.pad_begin.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(spatial));
  w.pad_end.assign(pads.end() - static_cast<std::ptrdiff_t>(spatial), pads.end());
  return w;
}

Result<Windows> read_windows(InferContext& c, size_t spatial, std::vector<int64_t> kernel) {
  RELAXC_DO(check_list(c, "strides", spatial, false));
  RELAXC_DO(check_list(c, "dilation", spatial, false));
  RELAXC_DO(check_list(c, "padding", spatial, true));
  RELAXC_DO(check_list(c, "output_padding", spatial, true));
  RELAXC_DO(check_list(c, "pool_size", spatial, false));
  return windows_of(c.op, spatial, std::move(kernel));
}

Expr window_count(Expr dim, Expr kernel, const Windows& w, size_t axis, bool ceil_mode) {
  int64_t stride = w.strides[axis];
  Expr span = (kernel - 1) * w.dilations[axis] + 1;
  Expr room = dim + (w.pad_begin[axis] + w.pad_end[axis]) - span;
  Expr count = (ceil_mode ? arith::ceildiv(room, stride) : arith::floordiv(room, stride)) + 1;
  if (!ceil_mode) return count;
  // The last window must begin inside of the dim or in the padding before it.
  return arith::min(count, arith::floordiv(dim + (w.pad_begin[axis] - 1), stride) + 1);
}

relaxc::Status require_window(InferContext& c, Expr dim, Expr kernel, const Windows& w, size_t axis) {
  Expr span = (kernel - 1) * w.dilations[axis] + 1, padded = dim + (w.pad_begin[axis] + w.pad_end[axis]);
  RELAXC_DO(c.require(arith::le(span, padded), kDerivedDim, span, padded,
                      {Finding::kAtLeast, fmt::format("spatial dim {} with its padding", axis)},
                      fmt::format("'{}': a window of {} is larger than spatial dim {}, which is {} with padding",
                                  c.op.def->name, to_string(span), axis, to_string(padded))));
  if (w.pad_begin[axis] + w.pad_end[axis] == 0) return Done{};
  return c.require(arith::le(c.context.index(1), dim), kDerivedDim, c.context.index(1), dim,
                   {Finding::kAtLeast, fmt::format("spatial dim {}", axis)},
                   fmt::format("'{}': spatial dim {} is empty", c.op.def->name, axis));
}

Tap tap(Expr o, Expr k, Expr dim, const Windows& w, size_t axis) {
  Context& context = o.context();
  Expr zero = context.index(0);
  int64_t pad = w.pad_begin[axis];
  Tap t;
  t.position = o * w.strides[axis] + k * w.dilations[axis] - pad;
  t.clamped = t.position;
  auto also = [&](Expr condition) { t.inside = t.inside ? arith::logical_and(t.inside, condition) : condition; };
  if (pad > 0) {
    also(arith::le(zero, t.position));
    t.clamped = arith::max(zero, t.clamped);
  }
  if (w.pad_end[axis] > 0) {
    also(arith::lt(t.position, dim));
    t.clamped = arith::min(t.clamped, dim - 1);
  }
  return t;
}

Expr all_inside(const std::vector<Tap>& taps) {
  Expr all;
  for (const Tap& t : taps)
    if (t.inside) all = all ? arith::logical_and(all, t.inside) : t.inside;
  return all;
}

}  // namespace relaxc::ops
