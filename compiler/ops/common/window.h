// window.h: the geometry of sliding windows, which convolutions and pools share.
#pragma once

#include "compiler/ops/common/shape.h"

namespace relaxc::ops {

inline constexpr AttrDef kStrides{"strides", AttrType::kInts};
inline constexpr AttrDef kDilations{"dilation", AttrType::kInts};
/// Spatial dims: begins, then ends; one number a dim: both sides alike; empty: none.
inline constexpr AttrDef kPadding{"padding", AttrType::kInts};

/// The windows of one op over `spatial` dims. Lists have one number a spatial dim.
struct Windows {
  std::vector<int64_t> kernel;  ///< -1: symbolic
  std::vector<int64_t> strides, dilations, pad_begin, pad_end;
};

/// Reads strides, dilations and padding; fills up what is empty and repeats single numbers.
Result<Windows> read_windows(InferContext& c, size_t spatial, std::vector<int64_t> kernel);
/// The same in a definition, after deduction has checked it.
Windows windows_of(const Op& op, size_t spatial, std::vector<int64_t> kernel);

/// floor((dim + pads - dilation * (kernel - 1) - 1) / stride) + 1, or ceil, where a window that would begin in the
/// padding behind the end does not count.
Expr window_count(Expr dim, Expr kernel, const Windows& w, size_t axis, bool ceil_mode);
/// Requires that a padded dim is not empty and holds at least one window.
relaxc::Status require_window(InferContext& c, Expr dim, Expr kernel, const Windows& w, size_t axis);

/// Where window `o` reads its element `k`: the position may be in the padding. `inside` is null where it cannot.
struct Tap {
  Expr position;  ///< o * stride + k * dilation - pad
  Expr inside;    ///< 0 <= position < dim
  Expr clamped;   ///< position cut to 0..dim - 1, safe to read
};
Tap tap(Expr o, Expr k, Expr dim, const Windows& w, size_t axis);
/// The conjunction of the taps' conditions; null if all hold always.
Expr all_inside(const std::vector<Tap>& taps);

}  // namespace relaxc::ops
