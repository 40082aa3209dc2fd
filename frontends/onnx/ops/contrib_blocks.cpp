// contrib_blocks.cpp: products and lookups with weights of 2, 4 or 8 bits and a scale for each block.
//
// A product reads its weights in their stored form. If the last block is short, and for float codes, weights are
// unpacked to one number an element, scaled, and multiplied as any other matrix; a lookup selects its rows first, so
// that the table keeps its stored form.
#include <array>
#include <cstring>

#include "frontends/onnx/blocks.h"
#include "frontends/onnx/converter.h"
#include "frontends/onnx/quantized.h"

namespace relaxc::frontend::contrib_blocks_family {
namespace {

constexpr std::string_view kMicrosoft = "com.microsoft";
constexpr DType kU8 = DType::u(8);

struct Blocks {
  int64_t rows, columns, size, bits, count;
};

Result<Blocks> blocks_of(Node& node) {
  Blocks b{node.int_attr("N", 0), node.int_attr("K", 0), node.int_attr("block_size", 0), node.int_attr("bits", 4), 0};
  if (b.rows < 1 || b.columns < 1 || b.size < 1 || b.rows > INT32_MAX || b.columns > INT32_MAX || b.size > INT32_MAX)
    return node.error(Kind::invalid_attribute, "N, K and block_size must be positive 32-bit numbers");
  if (b.bits != 2 && b.bits != 4 && b.bits != 8)
    return node.error(Kind::unsupported, "weights of {} bits are not supported; 2, 4 and 8 are", b.bits);
  if (b.size * b.bits % 8 != 0)
    return node.error(Kind::invalid_attribute, "a block of {} weights does not end with a byte", b.size);
  b.count = (b.columns + b.size - 1) / b.size;
  return b;
}

/// Returns zero points of the scale's dtype as [rows, count, 1]; without any, the middle of the range as a scalar.
Value* zero_points(ConversionBuilder& c, Value* zero, const Blocks& b, DType dtype) {
  Node& node = c.node;
  if (zero == nullptr) return c.number(dtype, static_cast<double>(1 << (b.bits - 1)));
  if (!c.ok()) return nullptr;
  if (zero->dtype() == kU8) {
    int64_t bytes = (b.count * b.bits + 7) / 8;
    zero = unpacked_bits(c, c.reshape(zero, {node.index(b.rows), node.index(bytes)}), b.bits);
    zero = c.slice(zero, 1, node.index(0), node.index(b.count));
  }
  return c.as(c.reshape(zero, {node.index(b.rows), node.index(b.count), node.index(1)}), dtype);
}

/// Multiplies A by the transpose of the weight [N, K].
Status matmul_n_bits(Node& node) {
  ConversionBuilder c(node);
  RELAXC_TRY(Blocks b, blocks_of(node));
  Value *a = c.input(0), *packed = c.input(1), *scales = c.input(2), *zero = c.optional(3), *bias = c.optional(5);
  if (!c.ok()) return c.failed();
  if (node.has(4)) return node.error(Kind::unsupported, "g_idx, which is deprecated, is not supported");
  if (node.int_attr("weight_prepacked", 0) != 0)
    return node.error(Kind::unsupported, "weights in the layout of a device (weight_prepacked) are not supported");
  DType dtype = a->dtype();
  auto dims = [&](int64_t last) { return node.indices({b.rows, b.count, last}); };
  if (b.count * b.size == b.columns && dtype != DType::f(64)) {
    int64_t bytes = (b.count * b.bits + 7) / 8;
    if (zero != nullptr) zero = c.reshape(zero, node.indices({b.rows, zero->dtype() == kU8 ? bytes : b.count}));
    Value* scale = c.reshape(scales, node.indices({b.rows, b.count}));
    std::vector<Value*> operands{a, c.reshape(packed, dims(b.size * b.bits / 8)), scale};
    if (zero != nullptr) operands.push_back(zero);
    return c.set(0, c.plus(c.call("nn.matmul_nbits", operands, {{"bits", b.bits}}), bias));
  }
  Value* weight = unpacked_bits(c, c.reshape(packed, dims(b.size * b.bits / 8)), b.bits);
  Value* points = zero_points(c, zero, b, dtype);
  weight = c.subtract(c.as(weight, dtype), points);
  weight = c.multiply(weight, c.as(c.reshape(scales, dims(1)), dtype));
  weight = c.reshape(weight, node.indices({b.rows, b.count * b.size}));
  if (b.count * b.size != b.columns) weight = c.slice(weight, 1, node.index(0), node.index(b.columns));
  return c.set(0, c.plus(c.matmul(a, c.permute(weight, {1, 0})), bias));
}

// The values of the 16 codes of bitsandbytes: FP4, and NF4, which are quantiles of the normal distribution.
constexpr std::array<float, 16> kFloat4 = {
    0.F,  5.208333333e-03F,  0.66666667F,  1.F,  0.33333333F,  0.5F,  0.16666667F,  0.25F,
    -0.F, -5.208333333e-03F, -0.66666667F, -1.F, -0.33333333F, -0.5F, -0.16666667F, -0.25F};
constexpr std::array<float, 16> kNormal4 = {-1.F,
                                            -0.6961928009986877F,
                                            -0.5250730514526367F,
                                            -0.39491748809814453F,
                                            -0.28444138169288635F,
                                            -0.18477343022823334F,
                                            -0.09105003625154495F,
                                            0.F,
                                            0.07958029955625534F,
                                            0.16093020141124725F,
                                            0.24611230194568634F,
                                            0.33791524171829224F,
                                            0.44070982933044434F,
                                            0.5626170039176941F,
                                            0.7229568362236023F,
                                            1.F};

/// Multiplies by 4-bit codes, the upper half of a byte first, with one scale per block of the flattened weight [N, K].
Status matmul_bnb4(Node& node) {
  ConversionBuilder c(node);
  RELAXC_TRY(Blocks b, blocks_of(node));
  int64_t kind = node.int_attr("quant_type", 1);
  if (kind != 0 && kind != 1)
    return node.error(Kind::invalid_attribute, "quant_type must be 0 (FP4) or 1 (NF4), found {}", kind);
  if (node.int_attr("transB", 1) == 0) return node.error(Kind::unsupported, "transB must be 1");
  Value *a = c.input(0), *packed = c.input(1), *largest = c.input(2);
  if (!c.ok()) return c.failed();
  int64_t elements = b.rows * b.columns, blocks = (elements + b.size - 1) / b.size;
  Value* flat = c.reshape(packed, {node.index((elements + 1) / 2)});
  Value* codes = c.call(
      "stack", {c.call("right_shift", {flat, c.number(kU8, 4)}), c.call("bitwise_and", {flat, c.number(kU8, 15)})},
      {{"axis", int64_t{1}}});
  codes = c.slice(c.reshape(codes, {node.index((elements + 1) / 2 * 2)}), 0, node.index(0), node.index(elements));
  const auto& table = kind == 0 ? kFloat4 : kNormal4;
  std::vector<std::byte> bytes(sizeof table);
  std::memcpy(bytes.data(), table.data(), sizeof table);
  Value* values = node.builder().constant(relax::ConstantData::inline_bytes(DType::f(32), {16}, std::move(bytes)));
  Value* weight = c.call("take", {values, c.as(codes, DType::i(32))}, {{"axis", int64_t{0}}});
  Value* scale =
      c.call("repeat", {c.reshape(largest, {node.index(blocks)})}, {{"repeats", b.size}, {"axis", int64_t{0}}});
  weight = c.multiply(weight, c.slice(c.as(scale, DType::f(32)), 0, node.index(0), node.index(elements)));
  weight = c.reshape(c.as(weight, a->dtype()), node.indices({b.rows, b.columns}));
  return c.set(0, c.matmul(a, c.permute(weight, {1, 0})));
}

/// Gathers from a table quantized in blocks; dequantizes all of it first if the gathered axis is that axis or the last.
Status gather_blocks(Node& node) {
  ConversionBuilder c(node);
  Value *data = c.input(0), *indices = c.input(1), *scales = c.input(2), *zero = c.optional(3);
  if (!c.ok()) return c.failed();
  int64_t bits = data->dtype() == kU8 ? node.int_attr("bits", 4) : 8, rank = rank_of(data);
  if (bits != 2 && bits != 4 && bits != 8)
    return node.error(Kind::unsupported, "elements of {} bits are not supported; 2, 4 and 8 are", bits);
  RELAXC_DO(expect_rank(node, scales, rank, "scales"));
  if (zero != nullptr) RELAXC_DO(expect_rank(node, zero, rank, "zero_points"));
  RELAXC_TRY(int64_t gather, normal_axis(node, node.int_attr("gather_axis", 0), rank));
  RELAXC_TRY(int64_t axis, normal_axis(node, node.int_attr("quantize_axis", 1), rank));
  int64_t block = node.int_attr("block_size", 128);
  if (block < 1) return node.error(Kind::unsupported, "block_size must be positive, found {}", block);
  DType dtype = scales->dtype();
  auto taken = [&](Value* x) { return c.call("take", {x, indices}, {{"axis", gather}}); };
  bool first = gather != axis && gather != rank - 1;
  if (first) {
    data = taken(data);
    scales = taken(scales);
    if (zero != nullptr) zero = taken(zero);
    if (axis > gather) axis += rank_of(indices) - 1;
  }
  bool bytes = c.ok() && data->dtype() == kU8;
  if (bytes) data = unpacked_bits(c, data, bits);
  if (bytes && zero != nullptr) zero = unpacked_bits(c, zero, bits);
  if (!c.ok()) return c.failed();
  // Packed zero points fill whole bytes, so there may be more of them than scales; drop the rest.
  size_t last = scales->shape().size() - 1;
  if (zero != nullptr && !arith::prove_equal(zero->shape().at(last), scales->shape().at(last), node.facts()))
    zero = c.slice(zero, static_cast<int64_t>(last), node.index(0), scales->shape().at(last));
  if (zero == nullptr && bytes) {
    Value* middle = c.number(DType::i(32), static_cast<double>(1 << (bits - 1)));
    data = c.subtract(c.as(data, DType::i(32)), middle);
  }
  Value* y = c.as(dequantized(c, data, scales, zero, axis, block), dtype);
  return c.set(0, first ? y : taken(y));
}

constexpr Converter kRows[] = {
    {.name = "MatMulNBits", .convert = matmul_n_bits, .note = "2, 4 and 8 bits, without g_idx", .domain = kMicrosoft},
    {.name = "MatMulBnb4",
     .convert = matmul_bnb4,
     .note = "weights must be transposed (transB=1)",
     .domain = kMicrosoft},
    {.name = "GatherBlockQuantized", .convert = gather_blocks, .note = "integers", .domain = kMicrosoft},
};

}  // namespace
}  // namespace relaxc::frontend::contrib_blocks_family

namespace relaxc::frontend {

Value* unpacked_bits(ConversionBuilder& c, Value* packed, int64_t bits) {
  if (bits == 8 || !c.ok()) return packed;
  std::vector<Value*> parts;
  for (int64_t shift = 0; shift < 8; shift += bits) {
    Value* part =
        shift == 0 ? packed
                   : c.call("right_shift", {packed, c.number(contrib_blocks_family::kU8, static_cast<double>(shift))});
    parts.push_back(
        c.call("bitwise_and", {part, c.number(contrib_blocks_family::kU8, static_cast<double>((1 << bits) - 1))}));
  }
  std::vector<Expr> dims = packed->shape();
  dims.back() = c.node.simplify(dims.back() * (8 / bits));
  Value* all = c.call("stack", parts, {{"axis", rank_of(packed)}});
  return c.reshape(all, std::move(dims));
}

}  // namespace relaxc::frontend

RELAXC_CONVERTERS(contrib_blocks, kRows)
