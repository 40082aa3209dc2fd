// quantized_operand.cpp: see quantized_operand.h.
#include "compiler/transform/graph/quantization/quantized_operand.h"

#include <algorithm>

#include "compiler/arith/simplify.h"
#include "compiler/relax/op_def.h"
#include "compiler/transform/graph/rewriting/rewrite.h"

namespace relaxc {

using namespace relax;

namespace {

bool is_narrow(const Value& value) {
  return value.dtype().is_integer() && value.dtype().bits <= 8;
}

/// Returns the narrow value that a cast to int32 widens; null for any other value.
Value* widened(Value* value) {
  Op* cast = producer_of(value, "astype");
  return cast != nullptr && value->dtype() == DType::i(32) && is_narrow(*cast->operand(0)) ? cast->operand(0) : nullptr;
}

/// Returns the elements of `from`, of shape `shape`, in the order of permute_dims by `axes`.
std::vector<int32_t> permuted(const std::vector<int32_t>& from, const std::vector<int64_t>& shape,
                              const std::vector<int64_t>& axes) {
  size_t rank = shape.size();
  std::vector<int64_t> stride(rank, 1), at(rank, 0);
  std::vector<int32_t> out;
  for (size_t i = rank; i-- > 1;) stride[i - 1] = stride[i] * shape[i];
  out.reserve(from.size());
  for (size_t n = 0; n < from.size(); ++n) {
    int64_t place = 0;
    for (size_t i = 0; i < rank; ++i) place += at[i] * stride[static_cast<size_t>(axes[i])];
    out.push_back(from[static_cast<size_t>(place)]);
    for (size_t i = rank; i-- > 0;) {
      if (++at[i] < shape[static_cast<size_t>(axes[i])]) break;
      at[i] = 0;
    }
  }
  return out;
}

std::optional<std::vector<int64_t>> static_shape(const Value& value) {
  std::vector<int64_t> shape;
  for (arith::Expr dim : value.shape()) {
    if (dim.constant() == nullptr) return std::nullopt;
    shape.push_back(*dim.constant());
  }
  return shape;
}

std::vector<int32_t> elements(const ConstantData& data) {
  std::vector<int32_t> values(static_cast<size_t>(data.elements()));
  data.with_bytes([&](std::span<const std::byte> bytes) {
    // There may be hundreds of millions of weights; asking for the dtype of each would take most of the time.
    const auto *raw = reinterpret_cast<const uint8_t*>(bytes.data()), *end = raw + values.size();
    if (data.dtype() == DType::u(8)) return void(std::copy(raw, end, values.begin()));
    if (data.dtype() == DType::i(8))
      return void(std::transform(raw, end, values.begin(), [](uint8_t byte) { return static_cast<int8_t>(byte); }));
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<int32_t>(
          decode_integer(data.dtype(), bytes.data() + i * static_cast<size_t>(data.dtype().bytes())));
  });
  return values;
}

}  // namespace

bool is_single(const Value& value) {
  const auto& shape = value.shape();
  return std::all_of(shape.begin(), shape.end(), [](arith::Expr dim) { return dim.is_constant(1); });
}

bool same_shape(const Value& a, const Value& b) {
  return std::equal(a.shape().begin(), a.shape().end(), b.shape().begin(), b.shape().end(),
                    [](arith::Expr x, arith::Expr y) { return arith::prove_equal(x, y); });
}

std::optional<QuantizedOperand> quantized_operand(Value* value) {
  if (Op* op = producer_of(value, "dequantize")) {
    int64_t rank = static_cast<int64_t>(value->shape().size()), axis = op->attrs.integer("axis");
    if (!is_narrow(*op->operand(0))) return std::nullopt;
    return QuantizedOperand{op->operand(0), op->operand(1), op->operand(2), axis < 0 ? axis + rank : axis};
  }
  if (value->dtype() != DType::i(32)) return std::nullopt;
  if (Value* stored = widened(value)) return QuantizedOperand{stored, nullptr, nullptr, 0};
  Op* difference = producer_of(value, "subtract");
  Value* stored = difference != nullptr ? widened(difference->operand(0)) : nullptr;
  if (stored == nullptr || stored->shape().size() != value->shape().size()) return std::nullopt;
  Value* zero = difference->operand(1);
  QuantizedOperand found{stored, nullptr, zero, 0};
  // A list of zero points is along the one axis that is not 1, counted from the end.
  size_t rank = value->shape().size(), own = zero->shape().size(), lists = 0;
  for (size_t i = 0; i < own; ++i)
    if (!zero->shape()[i].is_constant(1)) ++lists, found.axis = static_cast<int64_t>(rank - own + i);
  return lists <= 1 ? std::optional(found) : std::nullopt;
}

std::optional<std::vector<int32_t>> known_integers(const Value* value) {
  if (value->op == nullptr || value->info->as<TensorInfo>() == nullptr || !value->dtype().is_integer())
    return std::nullopt;
  const Op& op = *value->op;
  bool fits = value->dtype().bits < 32 || value->dtype() == DType::i(32);
  if (op.kind == OpKind::kConstant) return fits ? std::optional(elements(*op.constant)) : std::nullopt;
  if (op.kind != OpKind::kOperator || op.operands().empty()) return std::nullopt;
  const Value* inner = op.operand(0);
  if (op.def->role == Role::kView) return known_integers(inner);
  bool widens = op.is("astype") && inner->info->as<TensorInfo>() != nullptr && inner->dtype().is_integer() &&
                inner->dtype().bits < value->dtype().bits && (value->dtype().is_int() || inner->dtype().is_uint());
  if (widens) return known_integers(inner);
  if (!op.is("permute_dims")) return std::nullopt;
  auto values = known_integers(inner);
  auto shape = static_shape(*inner);
  if (!values || !shape) return std::nullopt;
  std::vector<int64_t> axes = op.attrs.ints("axes");
  int64_t rank = static_cast<int64_t>(shape->size());
  if (axes.empty())
    for (int64_t i = rank; i-- > 0;) axes.push_back(i);
  for (int64_t& axis : axes) axis = axis < 0 ? axis + rank : axis;
  return permuted(*values, *shape, axes);
}

std::optional<int64_t> known_integer(const Value* value) {
  if (!is_single(*value)) return std::nullopt;
  auto values = known_integers(value);
  return values ? std::optional<int64_t>(values->at(0)) : std::nullopt;
}

}  // namespace relaxc
