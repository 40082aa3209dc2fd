// lists.cpp: operators that make or use lists of indices: ranges, one-hot rows, top-k, scattered updates.
#include <cmath>

#include "frontends/tflite/operators.h"

namespace relaxc::tflite::lists_family {
namespace {

constexpr int64_t kMostListed = 1 << 22;  ///< most elements of a list that is made at compile time

Status log_softmax(Node& node) {
  return node.set(node.call("nn.log_softmax", {node.input(0)}));
}

Status top_k(Node& node) {
  Value* x = node.input(0);
  Ints k = node.constant_ints(1, "k");
  Ints dims = node.dims(x);
  if (!node.ok()) return node.status();
  if (k.size() != 1 || dims.empty() || k[0] < 0 || k[0] > dims.back())
    return node.error(Kind::invalid_value, "the largest [{}] of [{}]", fmt::join(k, ", "), fmt::join(dims, ", "));
  std::vector<Value*> found = node.call_many("topk", {x, node.shape(k)}, {{"axis", int64_t{-1}}});
  if (!node.ok() || found.size() != 2) return node.status();
  RELAXC_DO(node.set(0, found[0]));
  return node.set(1, node.as(found[1], node.result_type({TensorType::INT32, TensorType::INT16}, 1)));
}

/// Gives `on` where the place along `axis` equals the index, else `off`.
Status one_hot(Node& node) {
  Value *indices = node.input(0), *on = node.input(2), *off = node.input(3);
  Ints depth = node.constant_ints(1, "the depth");
  Ints dims = node.dims(indices);
  if (!node.ok()) return node.status();
  int64_t axis = node.options<tflite_schema::OneHotOptions>().axis();
  axis = axis == -1 ? static_cast<int64_t>(dims.size()) : axis;
  if (depth.size() != 1 || depth[0] < 0 || depth[0] > kMostListed || axis < 0 ||
      axis > static_cast<int64_t>(dims.size()))
    return node.error(Kind::invalid_value, "a depth of [{}] along axis {} of {} dims", fmt::join(depth, ", "), axis,
                      dims.size());
  Ints places, shape(dims.size() + 1, 1);
  for (int64_t i = 0; i < depth[0]; ++i) places.push_back(i);
  shape[static_cast<size_t>(axis)] = depth[0];
  dims.insert(dims.begin() + axis, 1);
  Value* hit = node.call("equal", {node.reshape(indices, dims), node.list(indices->dtype(), places, shape)});
  Value* elsewhere = node.reshape(off, {});
  return node.set(node.where(hit, node.reshape(on, {}), elsewhere));
}

Status range(Node& node) {
  std::vector<double> bounds;
  for (size_t i : {0, 1, 2}) {
    std::vector<double> one = node.constant_numbers(i, "a bound");
    if (node.ok() && one.size() != 1) return node.error(Kind::invalid_value, "a bound of {} numbers", one.size());
    if (node.ok()) bounds.push_back(one[0]);
  }
  if (!node.ok()) return node.status();
  double count = bounds[2] == 0 ? -1 : std::ceil((bounds[1] - bounds[0]) / bounds[2]);
  if (!(count <= kMostListed) || bounds[2] == 0)
    return node.error(Kind::invalid_value, "a range from {} to {} by {}", bounds[0], bounds[1], bounds[2]);
  std::vector<float> reals;
  Ints integers;
  for (int64_t i = 0; i < static_cast<int64_t>(count); ++i) {
    reals.push_back(static_cast<float>(bounds[0]) + static_cast<float>(i) * static_cast<float>(bounds[2]));
    integers.push_back(static_cast<int64_t>(bounds[0]) + i * static_cast<int64_t>(bounds[2]));
  }
  DType dtype = node.stored_type();
  return node.set(dtype.is_float() ? node.reals(reals) : node.list(dtype, integers));
}

/// Updates at the same index add up.
Status scatter_nd(Node& node) {
  Value *indices = node.input(0), *updates = node.input(1);
  Ints shape = node.constant_ints(2, "the shape");
  if (!node.ok()) return node.status();
  for (int64_t extent : shape)
    if (extent < 0) return node.error(Kind::invalid_value, "a shape of [{}]", fmt::join(shape, ", "));
  Value* zeros = node.call("broadcast_to", {node.like(updates, 0), node.shape(shape)});
  return node.set(node.call("scatter_nd", {zeros, indices, updates}, {{"reduction", std::string("add")}}));
}

constexpr Row kRows[] = {
    {.code = BuiltinOperator::LOG_SOFTMAX, .convert = log_softmax, .types = kF32},
    {.code = BuiltinOperator::TOPK_V2,
     .convert = top_k,
     .min_inputs = 2,
     .max_inputs = 2,
     .outputs = 2,
     .types = kF32 | kI32 | kI64 | kI8 | kU8 | kI16,
     .note = "k must be constant"},
    {.code = BuiltinOperator::ONE_HOT,
     .convert = one_hot,
     .min_inputs = 4,
     .max_inputs = 4,
     .types = kI32 | kI64,
     .note = "depth must be constant"},
    {.code = BuiltinOperator::RANGE,
     .convert = range,
     .min_inputs = 3,
     .max_inputs = 3,
     .types = kF32 | kI32 | kI64,
     .note = "bounds must be constants"},
    {.code = BuiltinOperator::SCATTER_ND,
     .convert = scatter_nd,
     .min_inputs = 3,
     .max_inputs = 3,
     .types = kI32,
     .note = "the shape must be constant"},
};

}  // namespace
}  // namespace relaxc::tflite::lists_family

RELAXC_TFLITE_OPERATORS(lists, kRows)
