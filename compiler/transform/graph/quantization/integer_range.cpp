// integer_range.cpp: see integer_range.h.
//
// A sum of products by constant weights is largest if data is largest at positive weights and smallest at negative
// ones; that bounds it for each channel, usually far below what the number of terms would. Sums are exact modulo 2^32,
// so only the bounds of a whole expression have to fit, not those of its parts.
#include "compiler/transform/graph/quantization/integer_range.h"

#include <algorithm>
#include <map>
#include <set>

#include "compiler/relax/op_def.h"
#include "compiler/transform/graph/quantization/quantized_operand.h"
#include "compiler/transform/graph/rewriting/rewrite.h"

namespace relaxc {

using namespace relax;

namespace {

constexpr size_t kMostTensors = 64;             // tensors that are visited
constexpr int64_t kLargest = int64_t{1} << 40;  // largest bound that is computed with

IntegerRange single(int64_t low, int64_t high) {
  return {{low}, {high}, 0};
}

IntegerRange of_dtype(DType dtype) {
  const int64_t low = dtype.is_int() ? -(int64_t{1} << (dtype.bits - 1)) : 0;
  return single(low, low + (int64_t{1} << dtype.bits) - 1);
}

/// Returns the bounds for the whole tensor.
IntegerRange hull(const IntegerRange& range) {
  return single(*std::min_element(range.low.begin(), range.low.end()),
                *std::max_element(range.high.begin(), range.high.end()));
}

/// Computes the ranges of tensors, operands before the tensors that are computed from them.
class Ranges {
 public:
  std::optional<IntegerRange> of(const Value* asked) {
    std::vector<const Value*> pending{asked};
    while (!pending.empty()) {
      const Value* value = pending.back();
      const bool again = !seen_.insert(value).second;
      if (!again && seen_.size() < kMostTensors && has_operands(value))
        for (const Value* operand : value->op->operands())
          if (is_integers(operand) && seen_.count(operand) == 0) pending.push_back(operand);
      if (pending.back() != value) continue;
      pending.pop_back();
      if (known_.count(value) == 0) known_[value] = found(value);
    }
    return known_[asked];
  }

 private:
  static bool is_integers(const Value* value) {
    return value != nullptr && value->info->as<TensorInfo>() != nullptr && value->dtype().is_integer();
  }
  static bool has_operands(const Value* value) { return value->op != nullptr && value->op->kind == OpKind::kOperator; }

  std::optional<IntegerRange> range_of(const Value* value) const {
    auto at = known_.find(value);
    return at == known_.end() ? std::nullopt : at->second;
  }

  std::optional<IntegerRange> found(const Value* value) const {
    if (!is_integers(value)) return {};
    std::optional<IntegerRange> found = value->op != nullptr ? computed(*value) : std::nullopt;
    if (value->dtype().bits > 16) return found;
    const IntegerRange all = of_dtype(value->dtype());
    if (!found) return all;
    const IntegerRange whole = hull(*found);  // values that do not fit wrap
    return whole.low[0] >= all.low[0] && whole.high[0] <= all.high[0] ? *found : all;
  }

  std::optional<IntegerRange> computed(const Value& value) const {
    const Op& op = *value.op;
    if (op.kind == OpKind::kConstant) return of_constant(value);
    if (op.kind != OpKind::kOperator) return {};
    if (op.is("requantize")) return single(op.attrs.integer("low"), op.attrs.integer("high"));
    if (op.is("matmul") || op.is("nn.conv_integer")) return of_products(op);
    if (op.is("astype")) return range_of(op.operand(0));
    if (op.is("add") || op.is("subtract") || op.is("multiply")) return of_arithmetic(op);
    if (op.is("permute_dims")) return permuted(op);
    const auto inner = range_of(op.operands().empty() ? nullptr : op.operand(0));
    if (!inner) return {};
    if (op.def->role == Role::kView || op.is("nn.max_pool")) return hull(*inner);
    if (op.is("pad")) return padded(op, hull(*inner));
    if (op.is("sum")) return summed(op, hull(*inner));
    return {};
  }

  static std::optional<IntegerRange> of_constant(const Value& value) {
    if (const auto numbers = channel_numbers(&value)) {
      IntegerRange range{{}, {}, numbers->from_end};
      for (double number : numbers->values) range.low.push_back(static_cast<int64_t>(number));
      range.high = range.low;
      return range;
    }
    const auto values = known_integers(&value);
    if (!values || values->empty()) return {};
    return single(*std::min_element(values->begin(), values->end()), *std::max_element(values->begin(), values->end()));
  }

  /// Returns the range of sums of products with constant weights, whose last axis is that of the result.
  std::optional<IntegerRange> of_products(const Op& op) const {
    const auto data = range_of(op.operand(0));
    const Value& weight = *op.operand(1);
    const auto values = known_integers(&weight);
    if (!data || !values || (op.is("matmul") && weight.shape().size() != 2)) return {};
    const IntegerRange x = hull(*data);
    const int64_t* outputs = weight.shape().back().constant();
    if (outputs == nullptr || *outputs < 1) return {};
    IntegerRange range{std::vector<int64_t>(static_cast<size_t>(*outputs), 0), {}, 0};
    range.high = range.low;
    for (size_t i = 0; i < values->size(); ++i) {
      const int64_t w = (*values)[i];
      range.low[i % range.low.size()] += w * (w > 0 ? x.low[0] : x.high[0]);
      range.high[i % range.low.size()] += w * (w > 0 ? x.high[0] : x.low[0]);
    }
    return bounded(range);
  }

  std::optional<IntegerRange> of_arithmetic(const Op& op) const {
    auto a = range_of(op.operand(0)), b = range_of(op.operand(1));
    if (!a || !b) return {};
    if (!a->is_single() && !b->is_single() && (a->from_end != b->from_end || a->low.size() != b->low.size()))
      a = hull(*a), b = hull(*b);
    IntegerRange range{{}, {}, a->is_single() ? b->from_end : a->from_end};
    for (size_t i = 0; i < std::max(a->low.size(), b->low.size()); ++i) {
      const int64_t al = a->low_at(i), ah = a->high_at(i), bl = b->low_at(i), bh = b->high_at(i);
      const auto products = std::minmax({al * bl, al * bh, ah * bl, ah * bh});
      range.low.push_back(op.is("add") ? al + bl : op.is("subtract") ? al - bh : products.first);
      range.high.push_back(op.is("add") ? ah + bh : op.is("subtract") ? ah - bl : products.second);
    }
    return bounded(range);
  }

  std::optional<IntegerRange> permuted(const Op& op) const {
    auto range = range_of(op.operand(0));
    if (!range || range->is_single()) return range;
    const std::vector<int64_t> axes = op.attrs.ints("axes");
    const auto rank = static_cast<int64_t>(op.result()->shape().size());
    if (axes.empty()) return hull(*range);
    const int64_t from = rank - 1 - static_cast<int64_t>(range->from_end);
    for (int64_t i = 0; i < rank; ++i)
      if ((axes[static_cast<size_t>(i)] + rank) % rank == from) range->from_end = static_cast<size_t>(rank - 1 - i);
    return range;
  }

  std::optional<IntegerRange> padded(const Op& op, IntegerRange inner) const {
    if (op.attrs.string("mode") != "constant" || op.operands().size() < 3 || op.operand(2) == nullptr) return {};
    const auto border = range_of(op.operand(2));
    if (!border) return {};
    return single(std::min(inner.low[0], hull(*border).low[0]), std::max(inner.high[0], hull(*border).high[0]));
  }

  static std::optional<IntegerRange> summed(const Op& op, const IntegerRange& inner) {
    const auto& shape = op.operand(0)->shape();
    std::vector<int64_t> axes = op.attrs.ints("axis");
    int64_t count = 1;
    for (size_t i = 0; i < shape.size(); ++i) {
      const auto own = static_cast<int64_t>(i), rank = static_cast<int64_t>(shape.size());
      const bool summed = axes.empty() || std::any_of(axes.begin(), axes.end(),
                                                      [&](int64_t axis) { return (axis + rank) % rank == own; });
      if (!summed) continue;
      if (shape[i].constant() == nullptr || count > kLargest / std::max<int64_t>(1, *shape[i].constant())) return {};
      count *= *shape[i].constant();
    }
    return bounded(single(inner.low[0] * count, inner.high[0] * count));
  }

  static std::optional<IntegerRange> bounded(IntegerRange range) {
    const IntegerRange whole = hull(range);
    if (whole.low[0] < -kLargest || whole.high[0] > kLargest) return {};
    return range;
  }

  std::set<const Value*> seen_;                                // asked for membership only
  std::map<const Value*, std::optional<IntegerRange>> known_;  // looked up only
};

}  // namespace

std::optional<ChannelNumbers> channel_numbers(const Value* value) {
  const ConstantRef data = constant_of(value);
  if (data == nullptr || data->elements() < 1 || (value->dtype().is_float() && value->dtype() != DType::f(32)))
    return {};
  ChannelNumbers out;
  const auto& shape = value->shape();
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i].is_constant(1)) continue;
    if (out.from_end != 0 || shape[i].constant() == nullptr || *shape[i].constant() != data->elements()) return {};
    out.from_end = shape.size() - 1 - i;
  }
  data->with_bytes([&](std::span<const std::byte> bytes) {
    for (int64_t i = 0; i < data->elements(); ++i)
      out.values.push_back(decode_scalar(value->dtype(), bytes.data() + i * value->dtype().bytes()));
  });
  return out;
}

std::optional<IntegerRange> integer_range(const Value* value) {
  return Ranges().of(value);
}

}  // namespace relaxc
