// contrib_attend.h: what the attentions of com.microsoft share: softmax(scale * q k^T + masks) v on [B, heads, S, H].
//
// A padding mask adds a finite number, so that a row that sees nothing stays a softmax; what is later than a query is
// left out altogether. Narrow floats are computed in float32, as ONNX Runtime does.
#pragma once

#include "frontends/onnx/attention.h"
#include "frontends/onnx/conversion_builder.h"
#include "frontends/onnx/converter.h"

namespace relaxc::frontend {

inline constexpr std::string_view kMicrosoft = "com.microsoft";

/// One attention over [B, heads, length, size] and what bears on its scores [B, heads, S, T].
struct Attend {
  Value *q = nullptr, *k = nullptr, *v = nullptr;
  Value* scale = nullptr;  ///< float32
  double softcap = 0;
  std::vector<Value*> addends;  ///< added to the scores; nulls are passed over
  Value* hidden = nullptr;      ///< bool: keys that take no part
  Value* sink = nullptr;        ///< [heads]: a score that takes part in the sum and has no value

  /// [B, S, heads * size].
  Value* run(ConversionBuilder& c) const;
};

/// The attribute, or 1 / sqrt(size) where it is not given; by the run where the size is a symbol.
Value* scale_of(ConversionBuilder& c, Expr head);
/// begin, begin + 1, … under the given dims.
Value* positions(ConversionBuilder& c, Expr begin, Expr count, std::vector<Expr> dims);
/// Whether a key is later than the query: [S, T].
Value* later(ConversionBuilder& c, Expr past, Expr queries, Expr keys);
/// The padding mask as an addend: lengths [B], ends and begins [2B], lengths and sums [3B + 2], or what is seen as 1,
/// [B, T] or [B, S, T].
Value* padding(ConversionBuilder& c, Value* mask, Expr batch, Expr keys);
/// x [B, heads, S, size] turned by the angles of its positions [S] or [B, S], rows of tables [most, half].
Value* turned(ConversionBuilder& c, Value* x, Value* cosines, Value* sines, Value* positions, bool neighbours);

}  // namespace relaxc::frontend
