// kv_cache.h: how keys and values of earlier calls are in a cache: as they are, or as integers or narrow floats times a
// scale, which is one number or one for each head and channel.
#pragma once

#include "frontends/onnx/conversion_builder.h"

namespace relaxc::frontend {

class StoredCache {
 public:
  /// Of the attribute `kind` (NONE, PER_TENSOR or PER_CHANNEL), the scale in input `scale` and the cache that came in,
  /// if one did; `heads` of `size` channels.
  static Result<StoredCache> read(ConversionBuilder& c, const char* kind, size_t scale, const Value* past,
                                  int64_t heads, Expr size);

  /// [B, heads, S, size] as it is stored.
  Value* stored(ConversionBuilder& c, Value* x) const;
  /// The inverse, in `dtype`.
  Value* loaded(ConversionBuilder& c, Value* x, DType dtype) const;

 private:
  Value* scale_ = nullptr;  ///< of float32; null: nothing is scaled
  DType dtype_ = DType::i(8);
  bool packed_ = false;  ///< two numbers of 4 bits in a byte, the lower one first, from -8 on
};

/// A cache that holds the last tokens of a sequence alone: at least a window of them, and when it is full, only that.
///
/// Of n tokens the cache holds L(n) = n while they fit into its capacity C; then whole rounds of G = C - window + 1 are
/// dropped: L(n) = n - G ceil((n - C) / G). They are in order from row 0 on. What is attended to is the cache as it
/// came in with the new tokens behind it: C + S rows.
class SlidingWindow {
 public:
  /// `before`: how many tokens each sequence [B] had before this call; `after`: how many it has then; `fresh` of them
  /// are new in the longest.
  SlidingWindow(ConversionBuilder& c, Value* before, Value* after, Expr capacity, int64_t window, Expr fresh);

  /// Which token of the sequence each row is, [B, C + S]; rows that hold none are far behind all.
  Value* positions() const { return positions_; }
  /// The rows of [B, heads, C + S, size] that the next call gets, [B, heads, C, size].
  Value* kept(Value* rows) const;
  /// Columns of a bias [B or 1, N, S, tokens] by token as columns by row, [B, N, S, C + S].
  Value* by_row(Value* bias) const;

 private:
  Value* held(Value* tokens) const;
  Value* column(Value* list) const;

  ConversionBuilder& c_;
  Node& node_;
  Value *before_, *after_;
  Expr capacity_, round_, rows_;
  Value* positions_ = nullptr;
};

}  // namespace relaxc::frontend
