// block_weights.cpp: see block_weights.h.
//
// Language models are often quantized in their weights alone. Computed as written, all weights would become floats in
// memory on every run, four or eight times what is stored. The constants are packed when their bytes are written, not
// here: such models have gigabytes of them.
#include "compiler/transform/graph/quantization/block_weights.h"

#include <fmt/format.h>

#include "compiler/transform/graph/quantization/quantized_operand.h"
#include "compiler/transform/graph/rewriting/rewrite.h"

namespace relaxc {

using namespace relax;

namespace {

constexpr int64_t kFoldedAnyway = 16 * 1024;  ///< elements: few enough to be stored as floats

/// real[k, n] = (stored[k, n] - zero[k / block, n]) * scale[k / block, n], or all of it transposed.
struct BlockWeights {
  ConstantRef stored, zero;  ///< zero is null if it is 0
  Value* scale = nullptr;
  int64_t block = 0;
  bool outputs_first = false;  ///< stored as [n, k]
};

bool is_swap(const Op& permute) {
  const auto& axes = permute.attrs.ints("axes");
  return permute.operand(0)->shape().size() == 2 && (axes.empty() || (axes[0] % 2 != 0 && axes[1] % 2 == 0));
}

/// Returns the constant that a `repeat` repeats in blocks along `axis`; null for any other value.
ConstantRef repeated(const Value* value, int64_t axis, int64_t block) {
  Op* repeat = producer_of(value, "repeat");
  bool fits = repeat != nullptr && repeat->attrs.integer("axis") == axis && repeat->attrs.integer("repeats") == block;
  return fits ? constant_of(repeat->operand(0)) : nullptr;
}

/// Returns weights with one scale per column; nothing for any other dequantize.
std::optional<BlockWeights> by_column(const Op& dequantize, bool swapped) {
  const Value* q = dequantize.operand(0);
  BlockWeights w;
  w.outputs_first = swapped;
  if (Op* permute = producer_of(q, "permute_dims"); permute != nullptr && is_swap(*permute))
    q = permute->operand(0), w.outputs_first = !swapped;
  w.stored = constant_of(q);
  w.scale = dequantize.operand(1);
  int64_t axis = dequantize.attrs.integer("axis"), columns = swapped ? 0 : 1;
  if (w.stored == nullptr || w.stored->shape().size() != 2 || w.scale->shape().size() != 1) return std::nullopt;
  if ((axis < 0 ? axis + 2 : axis) != columns || is_single(*w.scale)) return std::nullopt;
  if (dequantize.operand(2) != nullptr) w.zero = constant_of(dequantize.operand(2));
  if (dequantize.operand(2) != nullptr && w.zero == nullptr) return std::nullopt;
  w.block = w.stored->shape()[w.outputs_first ? 1 : 0];
  return w;
}

/// Returns weights with one scale per block: a product of repeated scales and of integers, less repeated zero points.
std::optional<BlockWeights> by_block(const Op& product, bool swapped) {
  Op* scales = producer_of(product.operand(1), "repeat");
  const Op* wide = producer_of(product.operand(0), "astype");
  if (scales == nullptr || wide == nullptr) return std::nullopt;
  BlockWeights w;
  w.outputs_first = swapped;
  w.scale = scales->operand(0);
  w.block = scales->attrs.integer("repeats");
  int64_t axis = swapped ? 1 : 0;
  if (w.scale->shape().size() != 2 || scales->attrs.integer("axis") != axis) return std::nullopt;
  const Value* integers = wide->operand(0);
  if (Op* difference = producer_of(integers, "subtract")) {
    Op *left = producer_of(difference->operand(0), "astype"), *right = producer_of(difference->operand(1), "astype");
    if (left == nullptr || right == nullptr) return std::nullopt;
    w.zero = repeated(right->operand(0), axis, w.block);
    if (w.zero == nullptr) return std::nullopt;
    integers = left->operand(0);
  }
  w.stored = constant_of(integers);
  return w.stored != nullptr ? std::optional(w) : std::nullopt;
}

std::optional<BlockWeights> weights_of(const Value* value) {
  bool swapped = false;
  if (Op* permute = producer_of(value, "permute_dims"); permute != nullptr && is_swap(*permute))
    swapped = true, value = permute->operand(0);
  if (Op* dequantize = producer_of(value, "dequantize")) return by_column(*dequantize, swapped);
  Op* product = producer_of(value, "multiply");
  return product != nullptr ? by_block(*product, swapped) : std::nullopt;
}

/// Returns the elements plus `offset`, packed in `bits` bits each, lowest bits first, in a row for each output.
ConstantRef packed(const ConstantRef& source, bool outputs_first, int64_t bits, int64_t offset,
                   std::vector<int64_t> shape) {
  int64_t outputs = source->shape()[outputs_first ? 0 : 1], terms = source->shape()[outputs_first ? 1 : 0];
  auto apply = [=, dtype = source->dtype()](std::span<const std::byte> from) {
    int64_t row = (terms * bits + 7) / 8;
    std::vector<std::byte> to(static_cast<size_t>(outputs * row));
    for (int64_t n = 0; n < outputs; ++n)
      for (int64_t k = 0; k < terms; ++k) {
        int64_t at = outputs_first ? n * terms + k : k * outputs + n;
        auto value = static_cast<uint64_t>(decode_integer(dtype, from.data() + at) + offset) & 0xFF;
        to[static_cast<size_t>(n * row + k * bits / 8)] |= static_cast<std::byte>(value << (k * bits % 8));
      }
    return to;
  };
  std::string text = fmt::format("pack [{}, {}]{} plus {} in rows of {} bits", source->shape()[0], source->shape()[1],
                                 outputs_first ? "" : " transposed", offset, bits);
  return ConstantData::transformed(DType::u(8), std::move(shape), source, {std::move(text), apply});
}

}  // namespace

Result<Value*> as_product_of_block_weights(GraphBuilder& b, const Op& op) {
  DType f32 = DType::f(32);
  if (!op.is("matmul") || op.operand(0)->dtype() != f32 || op.operand(1)->shape().size() != 2) return nullptr;
  auto w = weights_of(op.operand(1));
  if (!w || w->scale->dtype() != f32 || op.operand(0)->shape().size() < 2) return nullptr;
  DType stored = w->stored->dtype();
  if (!stored.is_integer() || (stored.bits != 8 && stored.bits != 4 && stored.bits != 2)) return nullptr;
  int64_t bits = stored.bits, columns = w->outputs_first ? 0 : 1;
  int64_t outputs = w->stored->shape()[static_cast<size_t>(columns)];
  int64_t terms = w->stored->shape()[static_cast<size_t>(1 - columns)];
  if (outputs * terms <= kFoldedAnyway) return nullptr;
  if (w->block < 1 || terms % w->block != 0 || w->block * bits % 8 != 0) return nullptr;
  int64_t blocks = terms / w->block, offset = stored.is_int() ? int64_t{1} << (bits - 1) : 0;
  if (w->zero == nullptr && offset == 0) return nullptr;  // without a zero, nn.matmul_nbits takes the middle, not 0
  Value* weight = b.constant(packed(w->stored, w->outputs_first, bits, offset, {outputs, blocks, w->block * bits / 8}));
  Value* scale = w->scale;
  if (scale->shape().size() == 2 && !w->outputs_first) {
    RELAXC_TRY(scale, b.call("permute_dims", {scale}, {{"axes", std::vector<int64_t>{1, 0}}}));
  }
  RELAXC_TRY(scale, b.call("reshape", {scale, b.shape({b.context().index(outputs), b.context().index(blocks)})}));
  std::vector<Value*> operands{op.operand(0), weight, scale};
  if (w->zero != nullptr) {
    ConstantRef zero = w->zero;
    bool first = w->outputs_first;
    if (zero->shape().size() == 1) {
      if (zero->elements() != outputs) return nullptr;
      zero = zero->reshaped({outputs, 1}), first = true;
    }
    operands.push_back(b.constant(packed(zero, first, bits, offset, {outputs, (blocks * bits + 7) / 8})));
  }
  mark_rounding(b.function());
  return b.call("nn.matmul_nbits", operands, {{"bits", bits}});
}

}  // namespace relaxc
