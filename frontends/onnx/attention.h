// attention.h: the steps that all kinds of attention share. Defined in ops/attention.cpp.
#pragma once

#include "frontends/onnx/node.h"

namespace relaxc::frontend {

/// Returns [B, S, heads * size] as [B, heads, S, size], and tensors of rank 4 as they are.
Result<Value*> heads_first(Node& node, Value* x, int64_t heads);
/// The inverse of heads_first for rank 3.
Result<Value*> heads_last(Node& node, Value* x);
/// Repeats keys or values [B, kv, T, X] for `heads` of queries, of which consecutive ones share one: [B, heads, T, X].
Result<Value*> shared_heads(Node& node, Value* x, Expr heads);
/// Returns the factor of the scores, if it is known at compile time: the attribute `scale`, or if that is absent or 0
/// the inverse square root of the head's size.
std::optional<double> known_head_scale(Node& node, Expr size);
/// Returns the same as a scalar of `dtype`; the head's size may be a symbol. Fails on heads without elements.
Result<Value*> head_scale(Node& node, Expr size, DType dtype);
/// Rotates the first `turned` channels of x [B, heads, S, size], in pairs, by angles whose cosines and sines are [B or
/// 1, 1, S, turned / 2]; pairs are the halves of those channels, or neighbours.
Result<Value*> rotated(Node& node, Value* x, Value* cosine, Value* sine, Expr turned, bool neighbours);

}  // namespace relaxc::frontend
