// window.h: the geometry of sliding windows, shared by convolutions and pools.
#pragma once

#include "compiler/ops/common/shape.h"

namespace relaxc::ops {

inline constexpr AttrDef kStrides{"strides", AttrType::kInts};
inline constexpr AttrDef kDilations{"dilation", AttrType::kInts};
/// For each spatial dim: all begins, then all ends; with one number for each dim, both sides are alike; empty: none.
inline constexpr AttrDef kPadding{"padding", AttrType::kInts};

/// Returns dims or subscripts of data or of a result in the order [N, C, spatial…], or in that of the op from that
/// order: the same, or [N, H, C, W] (OpDef::rows_first).
std::vector<Expr> channels_second(const Op& op, std::vector<Expr> list);

/// The windows of one op over `spatial` dims. Lists have one number for each spatial dim.
struct Windows {
  std::vector<int64_t> kernel;  ///< -1 if symbolic
  std::vector<int64_t> strides, dilations, pad_begin, pad_end;
};

/// Reads strides, dilations and padding; replaces empty lists by defaults and repeats single numbers.
Result<Windows> read_windows(InferContext& c, size_t spatial, std::vector<int64_t> kernel);
/// The same in a definition, after deduction has checked the attributes.
Windows windows_of(const Op& op, size_t spatial, std::vector<int64_t> kernel);

/// Returns floor((dim + pads - dilation * (kernel - 1) - 1) / stride) + 1, or with ceil, where a window that would
/// begin in the padding at the end does not count.
Expr window_count(Expr dim, Expr kernel, const Windows& w, size_t axis, bool ceil_mode);
/// Requires that a padded dim is not empty and has at least one window.
relaxc::Status require_window(InferContext& c, Expr dim, Expr kernel, const Windows& w, size_t axis);

/// The element `k` of window `o`, which may be in the padding. `inside` is null if it cannot be.
struct Tap {
  Expr position;  ///< o * stride + k * dilation - pad
  Expr inside;    ///< 0 <= position < dim
  Expr clamped;   ///< position clamped to [0, dim), safe to read
};
Tap tap(Expr o, Expr k, Expr dim, const Windows& w, size_t axis);
/// Returns the conjunction of the taps' conditions; null if all are always true.
Expr all_inside(const std::vector<Tap>& taps);

}  // namespace relaxc::ops
