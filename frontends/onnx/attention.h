// attention.h: the parts that every kind of attention is made of. Defined in ops/attention.cpp.
#pragma once

#include "frontends/onnx/node.h"

namespace relaxc::frontend {

/// [B, S, heads * size] as [B, heads, S, size]; tensors of rank 4 are that already.
Result<Value*> heads_first(Node& node, Value* x, int64_t heads);
/// The inverse of heads_first for rank 3.
Result<Value*> heads_last(Node& node, Value* x);
/// Keys or values [B, kv, T, X] for `heads` of queries, where each group in a row shares one: [B, heads, T, X].
Result<Value*> shared_heads(Node& node, Value* x, Expr heads);
/// What scores are multiplied by, if it is known when compiling: the attribute `scale`, or where it is absent or 0 the
/// inverse square root of the head's size.
std::optional<double> known_head_scale(Node& node, Expr size);
/// The same as a scalar of `dtype`, where the head's size may be a symbol. Fails on heads without elements.
Result<Value*> head_scale(Node& node, Expr size, DType dtype);
/// The first `turned` channels of x [B, heads, S, size], in pairs, turned by angles whose cosines and sines are given
/// as [B or 1, 1, S, turned / 2]; pairs are halves of those channels, or neighbours.
Result<Value*> rotated(Node& node, Value* x, Value* cosine, Value* sine, Expr turned, bool neighbours);

}  // namespace relaxc::frontend
