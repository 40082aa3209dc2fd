// pool.cpp: maximum, average and L2 pooling.
//
// Stored integers are pooled directly, since operand and result have one scale. A quantized average is an int32 sum
// over the window, by a convolution with ones, divided by the number of elements that are not padding, rounded to
// nearest with ties away from zero. Where one window covers the image, as at the end of most classifiers, the sum is a
// reduction: its ones would be as many as the image has elements, 4 KB for 64 channels of 8 by 8.
#include "frontends/tflite/operators.h"
#include "frontends/tflite/windows.h"

namespace relaxc::tflite::pool_family {
namespace {

constexpr int64_t kMostListed = 1 << 22;  ///< most elements of a list made at compile time: ones of a window, or counts

struct Pool {
  Ints data;
  WindowAxis rows, columns;
  WindowPads row_pads, column_pads;
  Node::Activation activation{};

  Ints pads() const { return {row_pads.begin, column_pads.begin, row_pads.end, column_pads.end}; }
  Ints pads_of_all() const { return {0, row_pads.begin, column_pads.begin, 0, 0, row_pads.end, column_pads.end, 0}; }
  Ints strides() const { return {rows.stride, columns.stride}; }
  Ints size() const { return {rows.extent, columns.extent}; }
};

std::optional<Pool> read_pool(Node& node, Value* x) {
  const auto& o = node.options<tflite_schema::Pool2DOptions>();
  if (!node.expect_rank(x, 4, "the data")) return std::nullopt;
  Pool pool;
  pool.data = node.dims(x);
  if (!node.ok()) return std::nullopt;
  pool.rows = {o.filter_height(), o.stride_h(), 1};
  pool.columns = {o.filter_width(), o.stride_w(), 1};
  pool.activation = o.fused_activation_function();
  pool.row_pads = window_pads(node, pool.data[1], pool.rows, o.padding());
  pool.column_pads = window_pads(node, pool.data[2], pool.columns, o.padding());
  auto many = [](int64_t a, int64_t b) { return a > kMostListed / std::max<int64_t>(b, 1); };
  bool large = node.ok() && (pool.data[3] < 1 || many(pool.rows.extent, pool.columns.extent) ||
                             many(pool.rows.extent * pool.columns.extent, pool.data[3]) ||
                             many(pool.row_pads.results, pool.column_pads.results));
  if (large)
    node.error(Kind::invalid_value, "a window of {} by {} over {} channels", pool.rows.extent, pool.columns.extent,
               pool.data[3]);
  return node.ok() ? std::optional(pool) : std::nullopt;
}

Value* activated(Node& node, Value* x, const Pool& pool) {
  if (node.type() == TensorType::FLOAT32) return node.activate(x, pool.activation);
  if (!node.quantized() || pool.activation == Node::Activation::NONE) return x;
  Limits limits = node.activation_limits(pool.activation, node.out());
  return node.clamp(x, static_cast<double>(limits.low), static_cast<double>(limits.high));
}

Status max_pool(Node& node) {
  Value* x = node.input(0);
  std::optional<Pool> pool = read_pool(node, x);
  if (!pool) return node.status();
  Value* y = node.call("nn.max_pool", {node.channels_first(x)},
                       {{"pool_size", pool->size()}, {"strides", pool->strides()}, {"padding", pool->pads()}});
  return node.set(activated(node, node.channels_last(y), *pool));
}

/// Returns, for each result along a dim, how many elements of its window are not padding.
Ints counts_along(int64_t size, const WindowAxis& axis, const WindowPads& pads) {
  Ints counts;
  for (int64_t k = 0; k < pads.results; ++k) {
    int64_t begin = k * axis.stride - pads.begin, end = begin + axis.extent;
    counts.push_back(std::min(end, size) - std::max<int64_t>(begin, 0));
  }
  return counts;
}

/// Returns the number of elements in each window, [1, rows, columns, 1]; a scalar if all are equal.
Value* counts_of(Node& node, const Pool& pool) {
  Ints counts;
  for (int64_t rows : counts_along(pool.data[1], pool.rows, pool.row_pads))
    for (int64_t columns : counts_along(pool.data[2], pool.columns, pool.column_pads)) counts.push_back(rows * columns);
  bool one = std::all_of(counts.begin(), counts.end(), [&](int64_t count) { return count == counts[0]; });
  if (one) return node.number(DType::i(32), static_cast<double>(counts[0]));
  return node.list(DType::i(32), counts, {1, pool.row_pads.results, pool.column_pads.results, 1});
}

/// Whether there is one window, with all elements of a channel in it.
bool covers_image(const Pool& pool) {
  return counts_along(pool.data[1], pool.rows, pool.row_pads) == Ints{pool.data[1]} &&
         counts_along(pool.data[2], pool.columns, pool.column_pads) == Ints{pool.data[2]};
}

/// Returns the sum of each window as int32, [batch, rows, columns, channels] of the result.
Value* window_sums(Node& node, Value* x, const Pool& pool) {
  if (covers_image(pool)) return node.reduce("sum", node.i32(x), {1, 2});
  Ints ones(static_cast<size_t>(pool.rows.extent * pool.columns.extent * pool.data[3]), 1);
  Value* filter = node.list(DType::i(8), ones, {pool.rows.extent, pool.columns.extent, 1, pool.data[3]});
  return node.call("nn.conv_integer", {node.pad(x, pool.pads_of_all()), filter},
                   {{"strides", pool.strides()}, {"groups", pool.data[3]}});
}

Status average_pool(Node& node) {
  Value* x = node.input(0);
  std::optional<Pool> pool = read_pool(node, x);
  if (!pool) return node.status();
  if (node.type() == TensorType::FLOAT32) {
    Value* y = node.call("nn.avg_pool", {node.channels_first(x)},
                         {{"pool_size", pool->size()}, {"strides", pool->strides()}, {"padding", pool->pads()}});
    return node.set(activated(node, node.channels_last(y), *pool));
  }
  Value *sum = window_sums(node, x, *pool), *count = counts_of(node, *pool);
  Value* half = node.call("right_shift", {count, node.like(count, 1)});
  Value *below = node.subtract(sum, half), *above = node.add(sum, half);
  Value* away = node.where(node.call("greater", {sum, node.like(sum, 0)}), above, below);
  Value* mean = node.divide(away, count);
  if (!node.ok()) return node.status();
  Limits limits = node.activation_limits(pool->activation, node.out());
  mean = node.clamp(mean, static_cast<double>(limits.low), static_cast<double>(limits.high));
  return node.set(node.as(mean, x->dtype()));
}

/// Computes the root of the mean of squares.
Status l2_pool(Node& node) {
  Value* x = node.input(0);
  std::optional<Pool> pool = read_pool(node, x);
  if (!pool) return node.status();
  Value* y = node.call("nn.avg_pool", {node.channels_first(node.call("square", {x}))},
                       {{"pool_size", pool->size()}, {"strides", pool->strides()}, {"padding", pool->pads()}});
  return node.set(activated(node, node.call("sqrt", {node.channels_last(y)}), *pool));
}

constexpr Row kRows[] = {
    {.code = BuiltinOperator::AVERAGE_POOL_2D,
     .convert = average_pool,
     .types = kF32 | kQuantized,
     .rounding = "integer quotient, ties away from zero"},
    {.code = BuiltinOperator::MAX_POOL_2D, .convert = max_pool, .types = kF32 | kQuantized},
    {.code = BuiltinOperator::L2_POOL_2D, .convert = l2_pool, .types = kF32},
};

}  // namespace
}  // namespace relaxc::tflite::pool_family

RELAXC_TFLITE_OPERATORS(pool, kRows)
