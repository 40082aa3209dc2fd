// signed_product.cpp: products of signed data by constant bytes, as products of unsigned data.
//
// The problem: models of TFLite multiply int8 by int8. The dot products of many targets, and the byte tiles of those
// without, take unsigned data; sdot, smmla and Helium's vmladava take signed data, and need no change.
//
// The method: x + 128 is an unsigned byte, and 128 times the sum of an output's weights is a constant, so that sum x w
// = sum (x + 128) w - 128 sum w, exact modulo 2^32. The op that computes x adds the 128 before it stores a byte, and
// the value that pads x is moved by as much.
#include <cstring>

#include "compiler/relax/op_def.h"
#include "compiler/transform/graph/quantization/integer_product.h"
#include "compiler/transform/graph/rewriting/rewrite.h"

namespace relaxc {

using namespace relax;

namespace {

constexpr int64_t kShift = 128;

/// Returns x + 128 as uint8; if x is padded, the border is shifted as well.
Result<Value*> without_sign(GraphBuilder& b, Value* x) {
  const Op* pad = producer_of(x, "pad");
  const bool constant = pad != nullptr && pad->attrs.string("mode") == "constant" && pad->operands().size() == 3;
  const auto border = constant && pad->operand(2) != nullptr ? known_integer(pad->operand(2)) : std::nullopt;
  // By 16 bits: other ops that widen x, as a residual sum does, take 32, and would share a tensor of those with this.
  RELAXC_TRY(Value * wide, b.call("astype", {border ? pad->operand(0) : x}, {{"dtype", DType::i(16)}}));
  RELAXC_TRY(wide, b.call("add", {wide, b.scalar(DType::i(16), static_cast<double>(kShift))}));
  RELAXC_TRY(Value * moved, b.call("astype", {wide}, {{"dtype", DType::u(8)}}));
  if (!border) return moved;
  Value* zero = b.scalar(DType::u(8), static_cast<double>(*border + kShift));
  return b.call("pad", {moved, pad->operand(1), zero}, pad->attrs);
}

/// Returns -128 times the sum of each output's weights; outputs are the last axis.
Value* correction(GraphBuilder& b, const std::vector<int32_t>& weights, size_t outputs) {
  std::vector<int32_t> sums(outputs, 0);
  for (size_t i = 0; i < weights.size(); ++i) sums[i % outputs] -= static_cast<int32_t>(kShift) * weights[i];
  std::vector<std::byte> bytes(outputs * sizeof(int32_t));
  std::memcpy(bytes.data(), sums.data(), bytes.size());
  return b.constant(ConstantData::inline_bytes(DType::i(32), {static_cast<int64_t>(outputs)}, std::move(bytes)));
}

}  // namespace

Result<Value*> as_unsigned_product(GraphBuilder& b, const Op& op) {
  const bool window = op.is("nn.conv_integer");
  if ((!window && !op.is("matmul")) || op.result()->dtype() != DType::i(32)) return nullptr;
  if (window && op.attrs.integer("groups") != 1) return nullptr;
  const Value& weight = *op.operand(1);
  if (op.operand(0)->dtype() != DType::i(8) || weight.dtype() != DType::i(8)) return nullptr;
  if (!window && (weight.shape().size() != 2 || op.operand(0)->shape().size() < 2)) return nullptr;
  const auto weights = known_integers(&weight);
  const int64_t* outputs = weight.shape().back().constant();
  constexpr size_t kMostTerms = 1 << 16;  // terms for which no sum of products of bytes wraps
  if (!weights || outputs == nullptr || *outputs < 1 || weights->size() / static_cast<size_t>(*outputs) > kMostTerms)
    return nullptr;
  RELAXC_TRY(Value * data, without_sign(b, op.operand(0)));
  RELAXC_TRY(Value * sum, b.call(op.def->name, {data, op.operand(1)}, op.attrs));
  return b.call("add", {sum, correction(b, *weights, static_cast<size_t>(*outputs))});
}

}  // namespace relaxc
