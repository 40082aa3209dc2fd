// kv_cache.h: caches of keys and values from earlier calls: stored as they are, or as integers or narrow floats times a
// scale, which is one number or one for each head and channel.
#pragma once

#include "frontends/onnx/conversion_builder.h"

namespace relaxc::frontend {

class StoredCache {
 public:
  /// Reads the attribute `kind` (NONE, PER_TENSOR or PER_CHANNEL), the scale in input `scale` and the cache `past`,
  /// which may be null; `heads` of `size` channels.
  static Result<StoredCache> read(ConversionBuilder& c, const char* kind, size_t scale, const Value* past,
                                  int64_t heads, Expr size);

  /// Returns [B, heads, S, size] in the stored form.
  Value* stored(ConversionBuilder& c, Value* x) const;
  /// The inverse of stored(), in `dtype`.
  Value* loaded(ConversionBuilder& c, Value* x, DType dtype) const;

 private:
  Value* scale_ = nullptr;  ///< float32; null: without a scale
  DType dtype_ = DType::i(8);
  bool packed_ = false;  ///< two numbers of 4 bits in a byte, each plus 8, the lower one first
};

/// A cache of only the last tokens of a sequence: at least a window of them, and only the window when it is full.
///
/// Of n tokens the cache has L(n) = n while they fit its capacity C; then whole rounds of G = C - window + 1 tokens are
/// dropped: L(n) = n - G ceil((n - C) / G). They are in order from row 0. Attention sees the incoming cache followed by
/// the new tokens: C + S rows.
class SlidingWindow {
 public:
  /// `before`: the number of tokens of each sequence [B] before this call; `after`: the number after it; `fresh`: the
  /// largest number of new ones.
  SlidingWindow(ConversionBuilder& c, Value* before, Value* after, Expr capacity, int64_t window, Expr fresh);

  /// The position of each row's token in the sequence, [B, C + S]; rows without a token are far beyond all others.
  Value* positions() const { return positions_; }
  /// Returns the rows of [B, heads, C + S, size] for the next call, [B, heads, C, size].
  Value* kept(Value* rows) const;
  /// Returns the columns of a bias by token, [B or 1, N, S, tokens], as columns by row, [B, N, S, C + S].
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
