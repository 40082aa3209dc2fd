// bf16_dot_test.cpp: sums of products of bfloat16, by the interpreter and by the machine's instructions, against exact
// arithmetic.
//
// Products are exact in float32, so a sum of k terms rounds k times: each time by at most half a unit of what is summed
// so far (a whole one where a machine rounds to odd), which is less than the sum of all products' magnitudes. A product
// of a subnormal, or that becomes one, may be 0: 2^-126 times the other factor is lost.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <random>
#include <span>

#include "compiler/arith/dot.h"
#include "compiler/codegen/llvm/jit.h"
#include "compiler/codegen/llvm/target.h"
#include "compiler/schedule/kernel.h"
#include "compiler/tir/evaluator.h"
#include "compiler/tir/print.h"
#include "compiler/tir/verify.h"
#include "tests/unit/schedule/kernels.h"

namespace relaxc {
namespace {

using arith::Expr;

uint16_t as_bfloat(float value) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return static_cast<uint16_t>(bits >> 16);  // towards zero: any bfloat16 will do
}
double as_number(uint16_t bfloat) {
  const uint32_t bits = uint32_t{bfloat} << 16;
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return static_cast<double>(value);
}

struct Product {
  size_t m, n, k;
  std::vector<uint16_t> x, weight;

  Product(size_t m, size_t n, size_t k, int least, int most) : m(m), n(n), k(k), x(m * k), weight(k * n) {
    std::mt19937 random(11);
    std::uniform_real_distribution<double> magnitude(least, most);
    for (auto* all : {&x, &weight})
      for (uint16_t& one : *all) {
        const double value = std::exp2(magnitude(random));
        one = as_bfloat(static_cast<float>(random() % 2 == 0 ? value : -value));
      }
  }

  /// All sums are as near to the exact ones as the comment above says.
  void check(const std::vector<float>& y) const {
    for (size_t i = 0; i < m; ++i)
      for (size_t j = 0; j < n; ++j) {
        double exact = 0, magnitudes = 0, flushed = 0;
        for (size_t t = 0; t < k; ++t) {
          const double a = as_number(x[i * k + t]), b = as_number(weight[t * n + j]);
          exact += a * b, magnitudes += std::abs(a * b), flushed += std::max({std::abs(a), std::abs(b), 1.0});
        }
        const double bound = static_cast<double>(k) * 0x1p-23 * magnitudes + flushed * 0x1p-125;
        INFO("element " << i << ", " << j << ": " << y[i * n + j] << " and " << exact);
        CHECK(std::abs(static_cast<double>(y[i * n + j]) - exact) <= bound);
      }
  }
};

tir::PrimFunc matmul_of(arith::Context& context, const Product& product) {
  auto index = [&](size_t v) { return context.index(static_cast<int64_t>(v)); };
  return testing::wide_matmul(context, index(product.m), index(product.n), index(product.k), DType::bf16(),
                              DType::bf16(), DType::f(32));
}

/// Scheduled for the target: the kernel, and the weights as it reads them.
struct Scheduled {
  tir::PrimFunc kernel;
  std::vector<std::byte> weight;

  Scheduled(arith::Context& context, const Product& product, const Target& target)
      : kernel(matmul_of(context, product)) {
    std::vector<schedule::PackedParam> packed;
    REQUIRE(schedule::schedule_kernel(context, kernel, target, {kernel.params[1].buffer}, packed));
    INFO(tir::to_string(kernel));
    REQUIRE(tir::first_fault(kernel) == "");
    REQUIRE(kernel.schedule.steps.find("tensorize_bf16_dot") != std::string::npos);
    REQUIRE(packed.size() == 1);
    weight = packed[0].packing.apply(std::as_bytes(std::span(product.weight)), sizeof(uint16_t));
  }

  std::vector<float> run(tir::Evaluator& evaluator, const Product& product) const {
    std::vector<float> y(product.m * product.n);
    std::vector<uint16_t> x = product.x;
    std::vector<std::byte> own = weight;
    const std::vector<void*> addresses{x.data(), own.data(), y.data()};
    REQUIRE(evaluator.run(kernel, addresses, {}));
    return y;
  }
};

Target target_of(int32_t bits) {
  Target target;
  target.vector_bits = bits, target.vector_registers = bits == 512 ? 32 : 16, target.has_fma = true;
  target.bfloat_dots = {true, true, true};
  return target;
}

/// Ordinary numbers, and such whose products are subnormal or are of subnormals.
std::vector<Product> products() {
  return {{1, 16, 2, -2, 2},     {3, 5, 8, -20, 20},      {14, 33, 64, -1, 1}, {20, 100, 12, -1, 1},
          {5, 40, 16, -75, -60}, {5, 40, 16, -132, -126}, {4, 32, 6, -130, 20}};
}

TEST_CASE("two products of bfloat16 are found again, and nothing else is taken for them") {
  arith::Context context;
  tir::Builder b(context);
  tir::BufferRef x = b.buffer("x", DType::bf16(), {context.index(2)});
  arith::BFloatDot dot;
  for (size_t i = 0; i < 2; ++i) dot.a[i] = cast(DType::f(32), b.load(x, {context.index(static_cast<int64_t>(i))}));
  dot.b = context.var("word", DType::i(32));
  const Expr sum = arith::bfloat_dot(dot);
  const auto found = arith::as_bfloat_dot(sum);
  REQUIRE(found);
  CHECK(found->b == dot.b);
  CHECK(found->a == dot.a);
  CHECK(!arith::as_bfloat_dot(sum.as<arith::Add>()->b + sum.as<arith::Add>()->a));
  CHECK(!arith::as_bfloat_dot(sum.as<arith::Add>()->a));
}

TEST_CASE("sums of products of bfloat16 are near to the exact ones as they are written") {
  arith::Context context;
  for (int32_t bits : {128, 256, 512})
    for (const Product& product : products()) {
      const Scheduled scheduled(context, product, target_of(bits));
      product.check(scheduled.run(*tir::make_interpreter(), product));
    }
}

TEST_CASE("sums of products of bfloat16 are near to the exact ones on this machine") {
  Diagnostics diag;
  Result<Target> native = codegen_llvm::resolve_target("", "native", "", diag);
  REQUIRE(native);
  if (!native->bfloat_dots.of(native->vector_bits)) return;  // nothing to run: the interpreter's case has the schedule
  arith::Context context;
  for (int32_t bits : {128, 256, 512}) {
    Target target = *native;
    target.vector_bits = bits;
    if (!target.bfloat_dots.of(bits)) continue;
    for (const Product& product : products()) {
      const Scheduled scheduled(context, product, target);
      product.check(scheduled.run(*codegen_llvm::make_jit(target), product));
    }
  }
}

}  // namespace
}  // namespace relaxc
