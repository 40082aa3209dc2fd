// matrix_dot_test.cpp: products of bytes in blocks of two rows by two columns.
#include <catch2/catch.hpp>
#include <random>

#include "compiler/arith/dot.h"
#include "compiler/schedule/kernel.h"
#include "compiler/tir/evaluator.h"
#include "compiler/tir/print.h"
#include "compiler/tir/verify.h"
#include "tests/unit/schedule/kernels.h"

namespace relaxc {
namespace {

using arith::Expr;

Target matrix_target() {
  Target target;
  target.vector_bits = 128, target.vector_registers = 32, target.has_fma = true;
  target.dots.bits128 = DotProduct::kMixed;
  target.byte_matrices = true;
  return target;
}

using OperandBytes = std::vector<std::vector<std::byte>>;

OperandBytes random_operands(const tir::PrimFunc& f, int64_t open) {
  std::mt19937 random(7);
  OperandBytes memory;
  for (const tir::Param& param : f.params) {
    int64_t bytes = param.buffer->dtype.bytes();
    for (Expr dim : param.buffer->shape) bytes *= dim.constant() != nullptr ? *dim.constant() : open;
    std::vector<std::byte>& one = memory.emplace_back(static_cast<size_t>(bytes));
    constexpr std::byte kExtremes[] = {std::byte{0}, std::byte{255}, std::byte{128}, std::byte{127}};
    for (std::byte& byte : one) byte = random() % 2 == 0 ? kExtremes[random() % 4] : static_cast<std::byte>(random());
  }
  return memory;
}

std::vector<std::byte> sums_of(const tir::PrimFunc& f, OperandBytes memory, int64_t open) {
  std::vector<void*> addresses;
  for (auto& bytes : memory) addresses.push_back(bytes.data());
  const std::vector<int64_t> symbols(f.symbols.size(), open);
  REQUIRE(tir::make_interpreter()->run(f, addresses, symbols));
  return memory.back();
}

/// Scheduled in blocks (or, `expected` false, otherwise), the kernel gives the same.
void same_in_blocks(arith::Context& context, const tir::PrimFunc& f, bool expected = true, int64_t open = 0) {
  tir::PrimFunc scheduled = f;
  std::vector<schedule::PackedParam> packed;
  REQUIRE(schedule::schedule_kernel(context, scheduled, matrix_target(), {f.params[1].buffer}, packed));
  INFO(tir::to_string(scheduled));
  REQUIRE(tir::first_fault(scheduled) == "");
  const bool in_blocks = scheduled.schedule.steps.find("tile_matrix_dots") != std::string::npos;
  REQUIRE(in_blocks == expected);
  const OperandBytes memory = random_operands(f, open);
  OperandBytes own = memory;
  for (const schedule::PackedParam& one : packed) own[1] = one.packing.apply(memory[1], one.param->dtype.bytes());
  CHECK(sums_of(f, memory, open) == sums_of(scheduled, own, open));
}

TEST_CASE("eight products of bytes are found again, and nothing else is taken for them") {
  arith::Context context;
  tir::Builder b(context);
  for (DType dtype : {DType::u(8), DType::i(8)})
    for (bool is_signed : {false, true}) {
      tir::BufferRef x = b.buffer("x", dtype, {context.index(8)});
      arith::Dot8 dot{.a = {}, .b = context.var("word", DType::i(64)), .signed_b = is_signed};
      for (size_t i = 0; i < 8; ++i) dot.a[i] = cast(DType::i(32), b.load(x, {context.index(static_cast<int64_t>(i))}));
      const Expr sum = arith::dot8(dot);
      const auto found = arith::as_dot8(sum);
      REQUIRE(found);
      CHECK(found->b == dot.b);
      CHECK(found->a == dot.a);
      CHECK(found->signed_b == is_signed);
      CHECK(!arith::as_dot8(sum.as<arith::Add>()->b + sum.as<arith::Add>()->a));
      CHECK(!arith::as_dot8(sum.as<arith::Add>()->a));
      CHECK(!arith::as_dot4(sum));
    }
}

TEST_CASE("products of bytes of any signs are summed in blocks of 2x2, rows and columns left over too") {
  arith::Context context;
  auto index = [&](int64_t v) { return context.index(v); };
  for (DType x : {DType::u(8), DType::i(8)})
    for (DType weight : {DType::u(8), DType::i(8)})
      for (auto [m, n, k] : {std::array<int64_t, 3>{2, 2, 8}, {3, 5, 16}, {9, 13, 8}, {17, 24, 40}})
        same_in_blocks(context, testing::wide_matmul(context, index(m), index(n), index(k), x, weight, DType::i(32)));
  const auto by_bytes = [&](Expr m, int64_t n, int64_t k) {
    return testing::wide_matmul(context, m, index(n), index(k), DType::u(8), DType::i(8), DType::i(32));
  };
  for (int64_t open : {0, 1, 2, 7, 8, 15}) same_in_blocks(context, by_bytes(context.var("m"), 11, 16), true, open);
  same_in_blocks(context, by_bytes(index(1), 16, 16), false);  // one row
  same_in_blocks(context, by_bytes(index(9), 16, 12), false);  // words of eight would not be whole
}

TEST_CASE("convolutions of bytes are summed in blocks of 2x2, and grouped ones by group") {
  arith::Context context;
  same_in_blocks(context, testing::conv_of_bytes(context, 8, 9, 24, 3, 2, false));
  same_in_blocks(context, testing::conv_of_bytes(context, 16, 6, 7, 3, 1, false));
  same_in_blocks(context, testing::conv_of_bytes(context, 24, 5, 9, 1, 1, false));
  same_in_blocks(context, testing::conv_of_bytes(context, 16, 9, 16, 3, 2, true), false);
}

TEST_CASE("what follows the sums is done on a tile") {
  arith::Context context;
  testing::KernelWriter w(context);
  tir::Builder& b = w.b;
  const DType i32 = DType::i(32);
  auto index = [&](int64_t v) { return context.index(v); };
  tir::BufferRef x = w.param("x", {index(11), index(16)}, DType::i(8));
  tir::BufferRef weight = w.param("weight", {index(16), index(13)}, DType::i(8));
  tir::BufferRef bias = w.param("bias", {index(13)}, i32), y = w.param("y", {index(11), index(13)}, DType::u(8));
  tir::BufferRef sum = w.temporary("sum", {index(11), index(13)}, i32);
  w.add(b.reduce(sum, {index(16)}, context.zero(i32), [&](Expr own, const tir::Indices& i, const tir::Indices& r) {
    return own + arith::cast(i32, b.load(x, {i[0], r[0]})) * arith::cast(i32, b.load(weight, {r[0], i[1]}));
  }));
  w.add(b.compute(y, [&](const tir::Indices& i) {
    const Expr whole = b.load(sum, i) + b.load(bias, {i[1]});
    return arith::cast(DType::u(8), arith::min(arith::max(whole, context.imm(i32, 0)), context.imm(i32, 255)));
  }));
  same_in_blocks(context, w.finish("quantized"));
}

}  // namespace
}  // namespace relaxc
