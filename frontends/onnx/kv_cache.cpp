// kv_cache.cpp: see kv_cache.h.
#include "frontends/onnx/kv_cache.h"

#include "frontends/onnx/blocks.h"
#include "frontends/onnx/quantized.h"

namespace relaxc::frontend {
namespace {

constexpr DType kI64 = DType::i(64), kF32 = DType::f(32), kU8 = DType::u(8);
/// Position of a row that holds no token: 2^52, which is after every token.
constexpr double kNever = 4503599627370496.0;

}  // namespace

Result<StoredCache> StoredCache::read(ConversionBuilder& c, const char* kind, size_t scale, const Value* past,
                                      int64_t heads, Expr size) {
  Node& node = c.node;
  StoredCache cache;
  std::string how = node.string_attr(kind, "NONE");
  if (how == "NONE") return cache;
  if (how != "PER_TENSOR" && how != "PER_CHANNEL")
    return node.error(Kind::invalid_attribute, "{} '{}' is not one of NONE, PER_TENSOR and PER_CHANNEL", kind, how);
  Value* given = c.optional(scale);
  if (!c.ok()) return c.failed();
  if (given == nullptr) return node.error(Kind::wrong_arity, "a cache with {} '{}' needs its scale", kind, how);
  int64_t bits = node.int_attr("kv_cache_bit_width", 8);
  cache.packed_ = bits == 4;
  cache.dtype_ = past != nullptr ? past->dtype() : cache.packed_ ? kU8 : DType::i(8);
  bool fits = cache.packed_ ? cache.dtype_ == kU8 : bits == 8 && cache.dtype_.bits == 8 && cache.dtype_ != kU8;
  if (!fits)
    return node.error(Kind::unsupported,
                      "a cache of {} with kv_cache_bit_width {}; uint8 with 4, int8 and float8 with 8",
                      to_string(cache.dtype_), bits);
  Expr one = node.index(1);
  std::vector<Expr> dims{one, node.index(heads), one, size};
  cache.scale_ = c.reshape(c.as(given, kF32), how == "PER_TENSOR" ? std::vector<Expr>{} : dims);
  return c.ok() ? Result<StoredCache>(cache) : c.failed();
}

Value* StoredCache::stored(ConversionBuilder& c, Value* x) const {
  if (scale_ == nullptr || !c.ok()) return x;
  Value* steps = c.divide(c.as(x, kF32), scale_);
  if (!packed_) return quantized(c, steps, c.number(kF32, 1), nullptr, dtype_);
  steps = c.call("maximum", {c.call("round", {steps}), c.number(kF32, -8)});
  steps = c.call("minimum", {steps, c.number(kF32, 7)});
  Value* codes = c.as(c.add(steps, 8), kU8);
  if (!c.ok()) return nullptr;
  std::vector<Expr> dims = codes->shape(), pairs = dims;
  dims[3] = pairs[3] = c.node.simplify(arith::floordiv(dims[3], 2));
  pairs.push_back(c.node.index(2));
  codes = c.reshape(codes, pairs);
  auto half = [&](int64_t i) { return c.slice(codes, 4, c.node.index(i), c.node.index(i + 1)); };
  return c.reshape(c.add(half(0), c.multiply(half(1), 16)), dims);
}

Value* StoredCache::loaded(ConversionBuilder& c, Value* x, DType dtype) const {
  if (scale_ == nullptr || !c.ok()) return x;
  Value* steps = packed_ ? c.add(c.as(unpacked_bits(c, x, 4), kF32), -8) : c.as(x, kF32);
  return c.ok() ? c.as(c.multiply(steps, scale_), dtype) : nullptr;
}

SlidingWindow::SlidingWindow(ConversionBuilder& c, Value* before, Value* after, Expr capacity, int64_t window,
                             Expr fresh)
    : c_(c), node_(c.node), before_(before), after_(after), capacity_(capacity) {
  round_ = node_.simplify(capacity - (window - 1));
  rows_ = node_.simplify(capacity + fresh);
  if (!c.ok()) return;
  Value *row = c.arange(node_.index(0), capacity), *old = held(before);
  Value* held_column = column(old);
  Value* first = c.subtract(column(before), held_column);
  Value *never = c.number(kI64, kNever), *moved = c.add(row, first);
  Value* place = c.where(c.call("less", {row, column(old)}), moved, never);
  Value* begin = column(before);
  positions_ = c.concat({place, c.add(c.arange(node_.index(0), fresh), begin)}, 1);
}

/// Returns L(n), as kv_cache.h defines it, for each number of tokens n.
Value* SlidingWindow::held(Value* tokens) const {
  auto number = [&](Expr value) { return c_.call("shape_to_tensor", {node_.shape({node_.simplify(value)})}); };
  Value* over = c_.subtract(c_.add(tokens, number(round_ - 1)), number(capacity_));
  Value* rounds = c_.call("floor_divide", {over, number(round_)});
  Value* dropped = c_.multiply(c_.call("maximum", {rounds, c_.number(kI64, 0)}), number(round_));
  return c_.subtract(tokens, dropped);
}

Value* SlidingWindow::column(Value* list) const {
  return c_.ok() ? c_.reshape(list, {list->shape()[0], node_.index(1)}) : nullptr;
}

Value* SlidingWindow::kept(Value* rows) const {
  if (!c_.ok()) return nullptr;
  std::vector<Expr> dims = rows->shape();
  dims[2] = capacity_;
  Value* first = column(c_.subtract(after_, held(after_)));
  Value* token = c_.add(c_.arange(node_.index(0), capacity_), first);
  Value* offset = c_.call("shape_to_tensor", {node_.shape({capacity_})});
  Value* fresh = c_.add(c_.subtract(token, column(before_)), offset);
  Value* old = c_.subtract(token, column(c_.subtract(before_, held(before_))));
  Value* from = c_.where(c_.call("greater_equal", {token, column(before_)}), fresh, old);
  // A row after the last token has no source; its index is clamped, so that the gather stays in bounds.
  Value* last = c_.call("shape_to_tensor", {node_.shape({node_.simplify(rows_ - 1)})});
  from = c_.call("minimum", {c_.call("maximum", {from, c_.number(kI64, 0)}), last});
  from = c_.call("broadcast_to", {c_.call("expand_dims", {from}, {{"axis", Ints{1, 3}}}), node_.shape(dims)});
  return c_.call("gather_elements", {rows, from}, {{"axis", int64_t{2}}});
}

Value* SlidingWindow::by_row(Value* bias) const {
  if (!c_.ok()) return nullptr;
  std::vector<Expr> dims = bias->shape(), wanted = dims;
  dims[0] = wanted[0] = before_->shape()[0];
  wanted[3] = rows_;
  Value* last = c_.call("shape_to_tensor", {node_.shape({node_.simplify(dims[3] - 1)})});
  Value* at = c_.call("expand_dims", {c_.call("minimum", {positions_, last})}, {{"axis", Ints{1, 2}}});
  return c_.call(
      "gather_elements",
      {c_.call("broadcast_to", {bias, node_.shape(dims)}), c_.call("broadcast_to", {at, node_.shape(wanted)})},
      {{"axis", int64_t{3}}});
}

}  // namespace relaxc::frontend
