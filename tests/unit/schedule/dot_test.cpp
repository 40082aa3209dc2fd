// dot_test.cpp: sums of products of bytes by dot products.
#include <catch2/catch.hpp>
#include <initializer_list>
#include <random>
#include <span>

#include "compiler/arith/dot.h"
#include "compiler/schedule/kernel.h"
#include "compiler/tir/evaluator.h"
#include "compiler/tir/print.h"
#include "compiler/tir/verify.h"
#include "compiler/tir/visit.h"
#include "tests/unit/schedule/kernels.h"

namespace relaxc {
namespace {

using arith::Expr;

Target target_of(int32_t bits) {
  Target target;
  target.vector_bits = bits, target.vector_registers = bits == 512 ? 32 : 16;
  target.dots = {DotProduct::kPairs, DotProduct::kPairs, DotProduct::kMixed};
  return target;
}

std::vector<std::byte> random_bytes(const tir::Buffer& buffer, std::mt19937& random) {
  int64_t count = 1;
  for (Expr dim : buffer.shape) count *= *dim.constant();
  std::vector<std::byte> bytes(static_cast<size_t>(count * buffer.dtype.bytes()));
  // The extremes, whose products 16 bits hold only alone, as often as all others.
  for (std::byte& byte : bytes) {
    constexpr std::byte kExtremes[] = {std::byte{0}, std::byte{255}, std::byte{128}, std::byte{127}};
    byte = random() % 2 == 0 ? kExtremes[random() % 4] : static_cast<std::byte>(random());
  }
  return bytes;
}

std::vector<std::byte> result_of(const tir::PrimFunc& f, std::vector<std::vector<std::byte>> memory) {
  std::vector<void*> addresses;
  for (auto& bytes : memory) addresses.push_back(bytes.data());
  REQUIRE(tir::make_interpreter()->run(f, addresses, {}));
  return memory.back();
}

/// The kernel as it is scheduled; its sums are those of the definition.
std::string scheduled_sums(arith::Context& context, const tir::PrimFunc& f, const Target& target,
                           const schedule::ScheduleOptions& options = {}) {
  tir::PrimFunc scheduled = f;
  std::vector<schedule::PackedParam> packed;
  REQUIRE(schedule::schedule_kernel(context, scheduled, target, {f.params[1].buffer}, packed, {}, options));
  INFO(tir::to_string(scheduled));
  REQUIRE(tir::first_fault(scheduled) == "");
  std::mt19937 random(3);
  std::vector<std::vector<std::byte>> memory, own;
  for (const tir::Param& param : f.params) memory.push_back(random_bytes(*param.buffer, random));
  own = memory;
  for (const schedule::PackedParam& one : packed) own[1] = one.packing.apply(memory[1], one.param->dtype.bytes());
  CHECK(result_of(f, memory) == result_of(scheduled, own));
  return tir::to_string(scheduled);
}

/// The schedule takes the sums by dot products (or, `expected` false, does not), and they are the same.
void same_sums(arith::Context& context, const tir::PrimFunc& f, bool expected = true,
               std::initializer_list<int32_t> widths = {512, 256, 128}) {
  for (int32_t bits : widths) {
    const std::string text = scheduled_sums(context, f, target_of(bits));
    INFO(text);
    REQUIRE((text.find("tensorize_dot4") != std::string::npos) == expected);
  }
}

TEST_CASE("a dot product is found again, and nothing else is taken for one") {
  arith::Context context;
  tir::Builder b(context);
  tir::BufferRef x = b.buffer("x", DType::u(8), {context.index(4)});
  arith::Dot4 dot;
  for (size_t i = 0; i < 4; ++i) dot.a[i] = cast(DType::i(32), b.load(x, {context.index(static_cast<int64_t>(i))}));
  dot.b = context.var("word", DType::i(32));
  Expr sum = arith::dot4(dot);
  auto found = arith::as_dot4(sum);
  REQUIRE(found);
  CHECK(found->b == dot.b);
  CHECK(found->a == dot.a);
  const auto* add = sum.as<arith::Add>();
  CHECK(arith::as_dot4(add->a));  // of two products
  CHECK(!arith::as_dot4(add->b + add->a));
  CHECK(!arith::as_dot4(context.var("other", DType::i(32)) + sum));
}

TEST_CASE("a product of pairs is found again, with its numbers in memory order") {
  arith::Context context;
  tir::Builder b(context);
  tir::BufferRef x = b.buffer("x", DType::i(16), {context.index(4)});
  arith::PairDot dot;
  for (size_t i = 0; i < 4; ++i) dot.a[i] = cast(DType::i(32), b.load(x, {context.index(static_cast<int64_t>(i))}));
  dot.b = context.var("word", DType::i(32));
  const Expr sum = arith::pair_dot(dot);
  const auto found = arith::as_pair_dot(sum);
  REQUIRE(found);
  CHECK(found->a == dot.a);
  CHECK(found->b == dot.b);
  CHECK(arith::word_of_dot(sum) == dot.b);
  CHECK(!arith::as_dot4(sum));
  CHECK(!arith::as_pair_dot(sum.as<arith::Add>()->a));  // of two products
}

TEST_CASE("matrix products of bytes are summed four at a time") {
  arith::Context context;
  auto index = [&](int64_t v) { return context.index(v); };
  for (auto [m, n, k] : {std::array<int64_t, 3>{1, 16, 4}, {3, 5, 8}, {14, 33, 64}, {20, 100, 12}})
    same_sums(context, testing::matmul_of_bytes(context, index(m), index(n), index(k)));
  same_sums(context, testing::matmul_of_bytes(context, index(9), index(20), index(10)), false);
}

TEST_CASE("convolutions of bytes are summed four at a time, depthwise ones by their taps") {
  arith::Context context;
  same_sums(context, testing::conv_of_bytes(context, 4, 9, 24, 3, 2, false));
  same_sums(context, testing::conv_of_bytes(context, 12, 6, 16, 3, 1, false));
  same_sums(context, testing::conv_of_bytes(context, 20, 6, 20, 3, 1, true));
  same_sums(context, testing::conv_of_bytes(context, 16, 9, 16, 3, 2, true));
  same_sums(context, testing::conv_of_bytes(context, 33, 7, 33, 2, 1, true));
  same_sums(context, testing::conv_of_bytes(context, 16, 7, 16, 4, 1, true));
  same_sums(context, testing::conv_of_bytes(context, 16, 9, 16, 5, 1, true), false);
}

TEST_CASE("without vectors the last word of a sum overlaps the one before, and tiles leave elements over") {
  arith::Context context;
  auto index = [&](int64_t v) { return context.index(v); };
  for (auto [m, n, k] : {std::array<int64_t, 3>{1, 16, 4}, {3, 5, 9}, {5, 7, 11}, {4, 6, 13}, {7, 9, 64}, {2, 3, 6}})
    same_sums(context, testing::matmul_of_bytes(context, index(m), index(n), index(k)), true, {0});
  same_sums(context, testing::matmul_of_bytes(context, index(4), index(6), index(3)), false, {0});
  same_sums(context, testing::conv_of_bytes(context, 3, 9, 8, 3, 2, false), true, {0});
  same_sums(context, testing::conv_of_bytes(context, 1, 9, 5, 4, 1, false), true, {0});
  same_sums(context, testing::conv_of_bytes(context, 12, 6, 7, 3, 1, false), true, {0});
  for (int64_t size : {6, 7, 9, 10})
    same_sums(context, testing::conv_of_bytes(context, 16, size, 16, 3, 1, true), false, {0});
}

/// A core of Thumb's first version, or of its successor.
Target thumb(const char* triple) {
  Target target;
  target.triple = triple, target.vector_bits = 0, target.vector_registers = 8;
  return target;
}

TEST_CASE("Thumb's first version sums four runs of bytes at a time, and two columns where code is to be small") {
  arith::Context context;
  auto index = [&](int64_t v) { return context.index(v); };
  const auto has = [](const std::string& text, const char* steps) { return text.find(steps) != std::string::npos; };
  const tir::PrimFunc product = testing::matmul_of_bytes(context, index(7), index(10), index(64));
  const tir::PrimFunc one_row = testing::matmul_of_bytes(context, index(1), index(10), index(33));
  const tir::PrimFunc few_terms = testing::matmul_of_bytes(context, index(7), index(10), index(7));
  for (const char* triple : {"thumbv6m-unknown-none-eabi", "thumbv8m.base-none-eabi"}) {
    const Target target = thumb(triple);
    CHECK(has(scheduled_sums(context, product, target), "pack weight 1 1 [0]; split i0 2 peeled; split i1 2 peeled"));
    CHECK(has(scheduled_sums(context, one_row, target), "pack weight 1 1 [0]; split i1 4 peeled"));
    for (const tir::PrimFunc* f : {&product, &one_row, &few_terms})
      CHECK(has(scheduled_sums(context, *f, target, {.small = f != &few_terms}),
                "pack weight 1 2 [0]; split i1 2 peeled"));
  }
  CHECK(has(scheduled_sums(context, product, thumb("thumbv7m-unknown-none-eabi")), "pack weight 1 2 [0]"));
}

TEST_CASE("what follows sixteen sums is there once where code is to be small") {
  arith::Context context;
  auto index = [&](int64_t v) { return context.index(v); };
  Target target;
  target.vector_bits = 0, target.vector_registers = 32;
  for (auto [m, n, k] : {std::array<int64_t, 3>{8, 12, 16}, {7, 9, 5}})
    for (const bool small : {false, true}) {
      const tir::PrimFunc product = testing::matmul_of_bytes(context, index(m), index(n), index(k));
      const std::string text = scheduled_sums(context, product, target, {.small = small});
      CHECK((text.find("T.grid(4, 4)") != std::string::npos) == small);
      CHECK(text.find("unroll i1_i") != std::string::npos);
    }
}

/// The same kernel, whose consumer calls exp.
tir::PrimFunc with_exp(arith::Context& context, tir::PrimFunc f) {
  f.body = tir::rewrite(context, f.body,
                        {.on_expr =
                             [](arith::Expr e) {
                               return e->kind == arith::ExprKind::kMax ? arith::call(arith::Intrinsic::k_exp, {e}) : e;
                             },
                         .on_stmt = {},
                         .on_buffer = {}});
  return f;
}

TEST_CASE("functions of the sums of a tile are there once where code is to be small") {
  arith::Context context;
  auto index = [&](int64_t v) { return context.index(v); };
  Target target;
  target.vector_bits = 0, target.vector_registers = 16;
  for (const bool small : {false, true})
    for (const bool calls : {false, true}) {
      const tir::PrimFunc relu = testing::matmul(context, {}, index(1), index(64), index(8), false, true);
      const tir::PrimFunc product = calls ? with_exp(context, relu) : relu;
      const std::string text = scheduled_sums(context, product, target, {.small = small});
      INFO(text);
      CHECK((text.find("in range(4)") != std::string::npos) == (small && calls));
      CHECK(text.find("in T.unroll(4)") != std::string::npos);
    }
}

/// What the strategies do on a machine that multiplies pairs and has no vectors.
std::string scalar_trace(arith::Context& context, const tir::PrimFunc& f) {
  tir::PrimFunc scheduled = f;
  std::vector<schedule::PackedParam> packed;
  REQUIRE(schedule::schedule_kernel(context, scheduled, target_of(0), {f.params[1].buffer}, packed));
  return tir::to_string(scheduled);
}

TEST_CASE("bytes that many columns read are widened once for a tile of rows") {
  arith::Context context;
  auto index = [&](int64_t v) { return context.index(v); };
  auto is_widened = [&](const tir::PrimFunc& f) {
    same_sums(context, f, true, {0});
    return scalar_trace(context, f).find("widen_bytes") != std::string::npos;
  };
  auto is_interleaved = [&](const tir::PrimFunc& f) {
    same_sums(context, f, true, {0});
    return scalar_trace(context, f).find("interleave_words") != std::string::npos;
  };
  for (auto [m, n, k] : {std::array<int64_t, 3>{20, 32, 64}, {36, 24, 8}, {9, 40, 12}})
    CHECK(is_interleaved(testing::matmul_of_bytes(context, index(m), index(n), index(k))));
  for (auto [m, n, k] : {std::array<int64_t, 3>{5, 64, 13}, {8, 32, 10}})  // whole words would be longer than the rows
    CHECK(is_widened(testing::matmul_of_bytes(context, index(m), index(n), index(k))));
  CHECK(is_widened(testing::conv_of_bytes(context, 16, 10, 16, 3, 1, false)));
  CHECK(is_widened(testing::conv_of_bytes(context, 3, 9, 32, 3, 2, false)));
  CHECK(is_widened(testing::conv_of_bytes(context, 1, 11, 32, 4, 1, false)));
  CHECK(!is_interleaved(testing::matmul_of_bytes(context, index(20), index(4), index(64))));  // few columns
  CHECK(
      !is_interleaved(testing::matmul_of_bytes(context, index(11), index(32), index(64))));  // rows would be left over
}

TEST_CASE("windows are copied in the order of their sums, which become one loop, where that loop is in assembly") {
  arith::Context context;
  Target target = target_of(0);
  target.triple = "thumbv7em-none-unknown-eabihf";
  const auto has = [&](const tir::PrimFunc& f, const char* steps) {
    return scheduled_sums(context, f, target).find(steps) != std::string::npos;
  };
  // With 16 channels words are whole; with 3 and 5 the last word of a row of taps overlaps the one before.
  CHECK(has(testing::conv_of_bytes(context, 16, 8, 16, 3, 1, false), "split i2 6 peeled; interleave_words x i2_i"));
  CHECK(has(testing::conv_of_bytes(context, 16, 8, 16, 3, 1, false), "fuse k0#2 k1k2#2"));
  CHECK(has(testing::conv_of_bytes(context, 3, 9, 32, 3, 2, false), "interleave_words"));
  CHECK(has(testing::conv_of_bytes(context, 5, 9, 24, 3, 2, false), "interleave_words"));
  CHECK(has(testing::conv_of_bytes(context, 1, 11, 32, 4, 1, false), "interleave_words"));
  CHECK(
      !has(testing::conv_of_bytes(context, 16, 8, 2, 3, 1, false), "interleave_words"));  // few channels of the result
}

/// Whether the schedule for vectors of `bits` bits widens rows of data to 16 bits; its sums must equal the
/// definition's.
bool lanes_read_wide(arith::Context& context, const tir::PrimFunc& f, int32_t bits) {
  return scheduled_sums(context, f, target_of(bits)).find("widen_bytes") != std::string::npos;
}

TEST_CASE("a tile of rows is widened once for all columns where lanes multiply pairs") {
  arith::Context context;
  auto product = [&](int64_t m, int64_t n, int64_t k) {
    return testing::matmul_of_bytes(context, context.index(m), context.index(n), context.index(k));
  };
  for (const int32_t bits : {128, 256})
    for (auto [m, n, k] : {std::array<int64_t, 3>{4, 64, 4}, {13, 100, 16}, {29, 72, 8}, {6, 65, 64}})
      CHECK(lanes_read_wide(context, product(m, n, k), bits));
  CHECK(lanes_read_wide(context, testing::conv_of_bytes(context, 8, 9, 64, 3, 1, false), 256));
  CHECK(!lanes_read_wide(context, product(13, 40, 16), 256));   // few columns
  CHECK(!lanes_read_wide(context, product(2, 100, 16), 256));   // few rows
  CHECK(!lanes_read_wide(context, product(13, 100, 16), 512));  // bytes are summed by one instruction
}

}  // namespace
}  // namespace relaxc
