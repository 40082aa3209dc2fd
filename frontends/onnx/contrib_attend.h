// contrib_attend.h: the core of com.microsoft's attentions: softmax(scale * q k^T + masks) v on [B, heads, S, H].
//
// A padding mask adds a finite number, so that the softmax of a row without any key is defined; keys later than the
// query are excluded. Narrow floats are computed in float32, as in ONNX Runtime.
#pragma once

#include "frontends/onnx/attention.h"
#include "frontends/onnx/conversion_builder.h"
#include "frontends/onnx/converter.h"

namespace relaxc::frontend {

inline constexpr std::string_view kMicrosoft = "com.microsoft";

/// One attention over [B, heads, length, size], with the masks of its scores [B, heads, S, T].
struct Attend {
  Value *q = nullptr, *k = nullptr, *v = nullptr;
  Value* scale = nullptr;  ///< float32
  double softcap = 0;
  std::vector<Value*> addends;  ///< added to the scores; nulls are skipped
  Value* hidden = nullptr;      ///< bool: keys that are excluded
  Value* sink = nullptr;        ///< [heads]: a score that is in the softmax's sum and has no value

  /// Returns [B, S, heads * size].
  Value* run(ConversionBuilder& c) const;
};

/// Returns the attribute, or 1 / sqrt(size) if it is not given, computed at run time if the size is a symbol.
Value* scale_of(ConversionBuilder& c, Expr head);
/// Returns begin, begin + 1, … with the given dims.
Value* positions(ConversionBuilder& c, Expr begin, Expr count, std::vector<Expr> dims);
/// Returns whether a key is later than the query: [S, T].
Value* later(ConversionBuilder& c, Expr past, Expr queries, Expr keys);
/// Returns the padding mask as an addend. `mask` is lengths [B], ends and begins [2B], lengths and sums [3B + 2], or 1
/// for keys that are seen, [B, T] or [B, S, T].
Value* padding(ConversionBuilder& c, Value* mask, Expr batch, Expr keys);
/// Rotates x [B, heads, S, size] by the angles at `positions` [S] or [B, S], rows of tables [most, half].
Value* turned(ConversionBuilder& c, Value* x, Value* cosines, Value* sines, Value* positions, bool neighbours);

}  // namespace relaxc::frontend
