// resize.cpp: a tensor sampled at another resolution, as ONNX Resize defines it.
//
// Each result element has a real position along every resized axis, computed in float64 from its index by the
// coordinate mode. `nearest` reads one element. The others sum over a few taps along each axis, weighted by a kernel of
// the distance (a hat for linear, Keys 1981 for cubic). Weights are products of one weight for each axis, so positions
// and weights are tables for each axis, computed once; and if the last axis is resized, the others come first: whole
// rows are mixed, and elements are then selected from one mixed row. Positions outside read the edge, or
// (exclude_outside) have no weight; then, and with antialias, where the kernel is widened by the scale of a reduction,
// the weights are divided by their sum.
//
// Scales and the region that tf_crop_and_resize cuts out are attributes, or vectors that are known at run time. Then
// the dims determine how wide a kernel can become: a result has at least dim * scale - 1 elements.
#include <cmath>
#include <functional>

#include "compiler/ops/common/element.h"
#include "compiler/ops/common/shape.h"
#include "compiler/ops/gradients/linear_maps.h"

namespace relaxc::ops::resize_family {
namespace {

constexpr OperandDef kOperands[] = {
    {"x"}, {"sizes"}, {"scales", OperandDef::kOptional}, {"roi", OperandDef::kOptional}};
constexpr size_t kScales = 2, kRoi = 3;
constexpr AttrDef kAttrs[] = {{"mode", AttrType::kString, false, "nearest"},
                              {"coordinate_mode", AttrType::kString, false, "half_pixel"},
                              {"nearest_mode", AttrType::kString, false, "round_prefer_floor"},
                              {"scales", AttrType::kFloats},
                              {"roi", AttrType::kFloats},
                              {"cubic_coeff_a", AttrType::kFloat, false, "-0.75"},
                              {"exclude_outside", AttrType::kBool, false, "False"},
                              {"extrapolation_value", AttrType::kFloat, false, "0"},
                              {"antialias", AttrType::kBool, false, "False"}};
constexpr DType kF64 = DType::f(64);

relaxc::Status one_of(InferContext& c, std::string_view attr, std::initializer_list<std::string_view> known) {
  const std::string& value = c.op.attrs.string(attr);
  for (std::string_view name : known)
    if (name == value) return Done{};
  return c.error(Kind::invalid_attribute, "{} \"{}\" of 'resize' is not known", attr, value);
}

/// Checks a vector of `count` floats, which may be given instead of the attribute, but not in addition to it.
relaxc::Status check_vector(InferContext& c, size_t operand, std::string_view attr, size_t count) {
  if (!c.has(operand)) return Done{};
  RELAXC_TRY(const TensorInfo* list, c.tensor(operand));
  bool fits = list->ndim == 1 && (*list->shape)[0].is_constant(static_cast<int64_t>(count)) && list->dtype->is_float();
  if (fits && c.op.attrs.floats(attr).empty()) return Done{};
  return c.error(Kind::shape_mismatch, "'resize' takes its {} as an attribute or as {} floats, found {}", attr, count,
                 to_string(c.op.operand(operand)->info));
}

InferResult infer(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  RELAXC_TRY(Dims sizes, c.shape_value(1));
  RELAXC_DO(one_of(c, "mode", {"nearest", "linear", "cubic"}));
  RELAXC_DO(one_of(c, "coordinate_mode",
                   {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric",
                    "tf_half_pixel_for_nn", "tf_crop_and_resize"}));
  RELAXC_DO(one_of(c, "nearest_mode", {"round_prefer_floor", "round_prefer_ceil", "round", "floor", "ceil"}));
  size_t rank = x->shape->size();
  const auto &scales = c.op.attrs.floats("scales"), &roi = c.op.attrs.floats("roi");
  bool crop = c.op.attrs.string("coordinate_mode") == "tf_crop_and_resize" && !c.has(kRoi);
  RELAXC_DO(check_vector(c, kScales, "scales", rank));
  RELAXC_DO(check_vector(c, kRoi, "roi", 2 * rank));
  if (sizes.size() != rank || (!scales.empty() && scales.size() != rank) || (crop && roi.size() != 2 * rank))
    return c.error(Kind::invalid_value, "'resize' of {} dims with {} sizes, {} scales and {} bounds of a region", rank,
                   sizes.size(), scales.size(), roi.size());
  if (!is_number(*x->dtype))
    return c.error(Kind::dtype_mismatch, "'resize' is not defined for {}", to_string(*x->dtype));
  for (size_t k = 0; k < rank; ++k) {
    Expr zero = c.context.index(0), dim = (*x->shape)[k];
    RELAXC_DO(c.require(arith::le(zero, sizes[k]), kDerivedDim, zero, sizes[k],
                        {Finding::kAtLeast, fmt::format("the new dim {}", k)},
                        fmt::format("'resize' to {} along axis {}", to_string(sizes[k]), k)));
    if (dim == sizes[k]) continue;
    RELAXC_DO(c.require(arith::logical_or(arith::le(c.context.index(1), dim), arith::eq(sizes[k], zero)), kDerivedDim,
                        c.context.index(1), dim, {Finding::kAtLeast, fmt::format("dim {}", k)},
                        fmt::format("'resize' of axis {}, which is empty", k)));
    if (!scales.empty() && !(scales[k] > 0))
      return c.error(Kind::invalid_attribute, "'resize' by a scale of {}", scales[k]);
  }
  return one(tensor_info(c.context, std::move(sizes), *x->dtype));
}

/// One axis of a resize, which maps positions of the result to positions in x.
class Axis {
 public:
  Axis(DefineContext& d, size_t k)
      : context_(d.context()), in_(d.input(0)->shape[k]), out_(d.output()->shape[k]), mode_(mode(d)) {
    auto axis = static_cast<int64_t>(k), rank = static_cast<int64_t>(d.input(0)->shape.size());
    const auto &scales = d.attrs().floats("scales"), &roi = d.attrs().floats("roi");
    auto element = [&](size_t operand, int64_t at) {
      return cast(kF64, d.builder.load(d.input(operand), {context_.index(at)}));
    };
    given_ = !scales.empty() || d.has(kScales);
    if (!scales.empty()) known_scale_ = scales[k];
    if (!given_ && in_.constant() != nullptr && out_.constant() != nullptr && *in_.constant() > 0)
      known_scale_ = static_cast<double>(*out_.constant()) / static_cast<double>(*in_.constant());
    scale_ = known_scale_ > 0 ? number(known_scale_)
             : d.has(kScales) ? element(kScales, axis)
                              : cast(kF64, out_) / cast(kF64, in_);
    widens_ = d.attrs().flag("antialias") && !(known_scale_ >= 1);
    may_be_far_ = d.has(kScales) || mode_ == "tf_crop_and_resize";
    if (mode_ != "tf_crop_and_resize") return;
    begin_ = d.has(kRoi) ? element(kRoi, axis) : number(roi[k]);
    length_ = d.has(kRoi) ? element(kRoi, axis + rank) - begin_ : number(roi[k + roi.size() / 2] - roi[k]);
  }

  /// Whether the axis has the same elements in x and in the result.
  bool unchanged() const { return in_ == out_ && (!given_ || known_scale_ == 1) && mode_ != "tf_crop_and_resize"; }
  /// Whether the result skips most elements of x, so that a pass over all of x would be more work than it saves.
  bool skips_most() const { return known_scale_ > 0 && known_scale_ < 0.25 && !widens_; }
  /// Whether antialiasing widens the kernel; `squeezed` scales a distance in elements to the widened kernel.
  bool widens() const { return widens_; }
  Expr squeezed(Expr distance) const { return distance * (known_scale_ > 0 ? scale_ : arith::min(number(1), scale_)); }
  Expr last() const { return in_ - 1; }

  /// Returns the first tap of a kernel with this reach, relative to the element at or before the position.
  Expr first_tap(int64_t reach) const {
    if (!widens_) return context_.index(1 - reach);
    if (known_scale_ > 0)
      return context_.index(1 + static_cast<int64_t>(std::floor(-static_cast<double>(reach) / known_scale_)));
    Expr elements = arith::max(out_, context_.index(1));
    return context_.index(1) - arith::max(context_.index(reach), arith::ceildiv(in_ * reach, elements));
  }

  /// Returns the position of result element `i` in x, as a real number of elements.
  Expr position(Expr i) const {
    Expr at = cast(kF64, i), one = number(1), half = number(0.5), extent = cast(kF64, in_);
    if (mode_ == "asymmetric") return at / scale_;
    if (mode_ == "align_corners" || mode_ == "tf_crop_and_resize") {
      Expr steps = width() - one, single = arith::eq(width(), one), span = extent - one;
      Expr safe_steps = select(single, one, steps);
      if (mode_ == "align_corners") return select(single, number(0), at * span / safe_steps);
      Expr part = length_ * span;
      return select(single, part * half, at * part / safe_steps) + begin_ * span;
    }
    Expr middle = (at + half) / scale_;
    if (mode_ == "tf_half_pixel_for_nn") return middle;
    if (mode_ == "pytorch_half_pixel") return select(arith::lt(one, cast(kF64, out_)), middle - half, number(0));
    if (mode_ == "half_pixel_symmetric") {
      Expr adjustment = cast(kF64, out_) / width();
      return extent * half * (one - adjustment) + middle - half;
    }
    return middle - half;
  }

  /// Returns the same, but no further from x than float64 counts elements one by one, so that a tap that is a few
  /// elements away is an index as well: a region or a scale that is data may be anywhere.
  Expr near_position(Expr i) const {
    constexpr double kFarthest = 9007199254740992.0;  // 2^53
    Expr at = position(i);
    return may_be_far_ ? arith::max(number(-kFarthest), arith::min(at, number(kFarthest))) : at;
  }

  /// Returns how often each element of x is repeated, if nearest rounding amounts to that; else 0.
  int64_t repeats(const std::string& rounding) const {
    const auto whole = static_cast<int64_t>(known_scale_);
    if (known_scale_ < 2 || known_scale_ > 1024 || static_cast<double>(whole) != known_scale_) return 0;
    // floor((i + 1/2) / s) and ceil((i + 1/2) / s - 1) equal i // s as well.
    const bool floors = rounding == "floor" && (mode_ == "asymmetric" || mode_ == "tf_half_pixel_for_nn");
    const bool rounds = rounding == "round_prefer_floor" && mode_ == "half_pixel";
    return (floors || rounds) && arith::prove_equal(out_, in_ * whole, {}) ? whole : 0;
  }

  /// Whether a position is outside of x.
  Expr outside(Expr position) const {
    return arith::logical_or(arith::lt(position, number(0)), arith::lt(cast(kF64, last()), position));
  }
  Expr number(double value) const { return context_.imm_float(kF64, value); }
  Expr clamped(Expr index) const { return arith::max(context_.index(0), arith::min(index, last())); }

 private:
  static const std::string& mode(DefineContext& d) { return d.attrs().string("coordinate_mode"); }
  /// Returns the result's extent before it is rounded to an integer.
  Expr width() const { return given_ ? cast(kF64, in_) * scale_ : cast(kF64, out_); }

  Context& context_;
  Expr in_, out_, scale_;
  std::string mode_;
  double known_scale_ = 0;  ///< 0 if it is not known at compile time
  bool given_ = false, widens_ = false, may_be_far_ = false;
  Expr begin_, length_;  ///< the region that is cut out, relative to the extent of x
};

Expr floor_index(Expr position) {
  return cast(DType::index(), call(Intrinsic::k_floor, position));
}

class Resize {
 public:
  explicit Resize(DefineContext& d) : d_(d), b_(d.builder), x_(d.input(0)), y_(d.output()) {
    for (size_t k = 0; k < x_->shape.size(); ++k) axes_.emplace_back(d, k);
    mode_ = d.attrs().string("mode");
    normalize_ = d.attrs().flag("exclude_outside") || d.attrs().flag("antialias");
  }

  Stmt run() {
    if (mode_ == "nearest") return b_.compute(y_, [&](const Indices& i) { return extrapolated(i, nearest(i)); });
    std::vector<Taps> taps;
    for (size_t k = 0; k < axes_.size(); ++k)
      if (!axes_[k].unchanged()) taps.push_back(taps_of(k));
    BufferRef from = x_;
    if (taps.size() > 1 && taps.back().axis + 1 == axes_.size() && !axes_.back().skips_most()) {
      Dims shape = y_->shape;
      shape.back() = x_->shape.back();
      BufferRef rows = temporary("rows", kF64, shape);
      interpolate(rows, {taps.begin(), taps.end() - 1}, from, [](const Indices&, Expr v) { return v; });
      taps.erase(taps.begin(), taps.end() - 1);
      from = rows;
    }
    interpolate(y_, taps, from, [&](const Indices& i, Expr v) { return extrapolated(i, narrowed(v)); });
    Stmt all = b_.seq(std::move(steps_));
    for (size_t i = temporaries_.size(); i-- > 0;) all = b_.alloc(temporaries_[i], all);
    return all;
  }

 private:
  using Finish = std::function<Expr(const Indices&, Expr)>;

  /// The taps of one axis: for each element of the result, positions in x and weights, [count, extent].
  struct Taps {
    size_t axis;
    Expr count;
    BufferRef place, weight;
  };

  BufferRef temporary(const char* name, DType dtype, Dims shape) {
    return temporaries_.emplace_back(b_.buffer(name, dtype, std::move(shape)));
  }

  Taps taps_of(size_t k) {
    Expr count = arith::simplify(b_.index(2) - first_tap(k) * 2), extent = y_->shape[k];
    Taps taps{k, count, temporary("place", DType::i(64), {count, extent}), temporary("weight", kF64, {count, extent})};
    steps_.push_back(b_.compute(
        taps.place, [&](const Indices& i) { return cast(DType::i(64), axes_[k].clamped(tap(k, i[1], i[0]))); }));
    steps_.push_back(b_.compute(taps.weight, [&](const Indices& i) { return weight(k, i[1], i[0]); }));
    if (!normalize_) return taps;
    BufferRef total = temporary("total", kF64, {extent}), share = temporary("share", kF64, {count, extent});
    steps_.push_back(
        b_.reduce(total, {count}, d_.context().zero(kF64), [&](Expr sum, const Indices& i, const Indices& r) {
          return sum + b_.load(taps.weight, {r[0], i[0]});
        }));
    steps_.push_back(
        b_.compute(share, [&](const Indices& i) { return b_.load(taps.weight, i) / b_.load(total, {i[1]}); }));
    taps.weight = share;
    return taps;
  }

  /// Stores finish(sum of all taps) for each element. The sum is unrolled for few taps, else it is a reduction.
  void interpolate(BufferRef out, const std::vector<Taps>& taps, BufferRef from, const Finish& finish) {
    constexpr int64_t kFew = 16;
    Dims counts;
    int64_t all = 1;
    for (const Taps& one : taps) {
      counts.push_back(one.count);
      const int64_t* count = one.count.constant();
      all = count == nullptr || all > kFew ? kFew + 1 : all * *count;
    }
    auto term = [&](const Indices& i, const Indices& r) {
      Indices at = i;
      Expr weight;
      for (size_t n = 0; n < taps.size(); ++n) {
        size_t k = taps[n].axis;
        at[k] = cast(DType::index(), b_.load(taps[n].place, {r[n], i[k]}));
        Expr own = b_.load(taps[n].weight, {r[n], i[k]});
        weight = weight ? weight * own : own;
      }
      Expr element = cast(kF64, b_.load(from, at));
      return weight ? weight * element : element;
    };
    if (all > kFew) {
      BufferRef sum = temporary("sum", kF64, out->shape);
      auto add = [&](Expr acc, const Indices& i, const Indices& r) { return acc + term(i, r); };
      steps_.push_back(b_.reduce(sum, counts, d_.context().zero(kF64), add));
      steps_.push_back(b_.compute(out, [&](const Indices& i) { return finish(i, b_.load(sum, i)); }));
      return;
    }
    steps_.push_back(b_.compute(out, [&](const Indices& i) {
      Expr sum;
      for (int64_t n = 0; n < all; ++n) {
        Indices r(taps.size());
        int64_t rest = n;
        for (size_t k = taps.size(); k-- > 0; rest /= *counts[k].constant())
          r[k] = b_.index(rest % *counts[k].constant());
        sum = sum ? sum + term(i, r) : term(i, r);
      }
      return finish(i, sum);
    }));
  }

  /// Converts to the result's dtype; integers are rounded.
  Expr narrowed(Expr v) const { return cast(y_->dtype, y_->dtype.is_float() ? v : call(Intrinsic::k_round, v)); }

  /// With tf_crop_and_resize, positions outside of x give the constant `extrapolation_value`.
  Expr extrapolated(const Indices& i, Expr v) const {
    if (d_.attrs().string("coordinate_mode") != "tf_crop_and_resize") return v;
    Expr outside = d_.context().boolean(false);
    for (size_t k = 0; k < axes_.size(); ++k)
      outside = arith::logical_or(outside, axes_[k].outside(axes_[k].position(i[k])));
    return select(outside, d_.context().number(y_->dtype, d_.attrs().number("extrapolation_value")), v);
  }

  Expr nearest(const Indices& i) const {
    const std::string& rounding = d_.attrs().string("nearest_mode");
    Indices from = i;
    for (size_t k = 0; k < axes_.size(); ++k) {
      if (axes_[k].unchanged()) continue;
      if (const int64_t times = axes_[k].repeats(rounding); times != 0) {
        from[k] = arith::floordiv(i[k], times);
        continue;
      }
      Expr at = axes_[k].position(i[k]), half = axes_[k].number(0.5);
      if (rounding == "round_prefer_floor") at = call(Intrinsic::k_ceil, at - half);
      if (rounding == "round_prefer_ceil") at = call(Intrinsic::k_floor, at + half);
      if (rounding == "round") at = call(Intrinsic::k_round, at);
      if (rounding == "ceil") at = call(Intrinsic::k_ceil, at);
      from[k] = axes_[k].clamped(floor_index(at));
    }
    return b_.load(x_, from);
  }

  /// Returns the first tap of axis `k`; the last one is as far on the other side of the position.
  Expr first_tap(size_t k) const { return axes_[k].first_tap(mode_ == "cubic" ? 2 : 1); }

  /// Returns tap `r` of element `i` along axis `k`, as an element of x; `weight` returns its weight.
  Expr tap(size_t k, Expr i, Expr r) const { return floor_index(axes_[k].near_position(i)) + r + first_tap(k); }
  Expr weight(size_t k, Expr i, Expr r) const {
    const Axis& axis = axes_[k];
    Expr at = tap(k, i, r), distance = axis.near_position(i) - cast(kF64, at);
    if (axis.widens()) distance = axis.squeezed(distance);
    Expr w = kernel(call(Intrinsic::k_abs, distance));
    return d_.attrs().flag("exclude_outside") ? select(arith::eq(at, axis.clamped(at)), w, axis.number(0)) : w;
  }

  Expr kernel(Expr t) const {
    Expr zero = like(t, 0), one = like(t, 1);
    if (mode_ == "linear") return arith::max(zero, one - t);
    Expr a = like(t, d_.attrs().number("cubic_coeff_a")), two = like(t, 2), t2 = t * t, t3 = t2 * t;
    Expr near = (a + two) * t3 - (a + like(t, 3)) * t2 + one;
    Expr far = a * t3 - like(t, 5) * a * t2 + like(t, 8) * a * t - like(t, 4) * a;
    return select(arith::le(t, one), near, select(arith::lt(t, two), far, zero));
  }

  DefineContext& d_;
  tir::Builder& b_;
  BufferRef x_, y_;
  std::vector<Axis> axes_;
  std::vector<BufferRef> temporaries_;
  std::vector<Stmt> steps_;
  std::string mode_;
  bool normalize_ = false;
};

Stmt define(DefineContext& d) {
  return Resize(d).run();
}

constexpr OpDef kOps[] = {
    {.name = "resize",
     .operands = kOperands,
     .attrs = kAttrs,
     .infer = infer,
     .define = define,
     .gradient = derivatives::resize,
     .doc = "x sampled at the resolution `sizes` (a shape value of all dims); the attributes are those of ONNX Resize, "
            "scales empty and no operand: sizes / dims"},
};

}  // namespace
}  // namespace relaxc::ops::resize_family

RELAXC_OPERATORS(resize, kOps)
