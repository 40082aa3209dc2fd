// winograd_test.cpp: Winograd's algorithm gives the sums it is meant to give, and stays within its bound.
#include "compiler/schedule/winograd_transform.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <random>
#include <tuple>

#include "compiler/schedule/kernel.h"
#include "compiler/tir/evaluator.h"
#include "compiler/tir/print.h"
#include "compiler/tir/verify.h"
#include "tests/sanitized.h"
#include "tests/unit/schedule/kernels.h"

namespace relaxc {
namespace {

using testing::narrow_target, testing::wide_target;

using schedule::winograd_transform;
using schedule::WinogradTransform;

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

TEST_CASE("a minimal filter is the filter") {
  for (int64_t m : {2, 4}) {
    const WinogradTransform f = winograd_transform(m);
    std::mt19937 random(static_cast<uint32_t>(m));
    for (int trial = 0; trial < 100; ++trial) {
      std::vector<double> x(static_cast<size_t>(f.points())), w(WinogradTransform::kTaps), products;
      for (double& one : x) one = static_cast<double>(random() % 17) - 8;
      for (double& one : w) one = static_cast<double>(random() % 17) - 8;
      for (size_t p = 0; p < x.size(); ++p) products.push_back(dot(f.filter[p], w) * dot(f.data[p], x));
      for (size_t i = 0; i < static_cast<size_t>(m); ++i) {
        double direct = x[i] * w[0] + x[i + 1] * w[1] + x[i + 2] * w[2];
        CHECK(std::abs(dot(f.result[i], products) - direct) < 1e-11);
      }
    }
  }
}

TEST_CASE("data and results are multiplied by numbers that float32 holds") {
  for (int64_t m : {2, 4})
    for (const schedule::Matrix& matrix : {winograd_transform(m).data, winograd_transform(m).result})
      for (const std::vector<double>& row : matrix)
        for (double one : row) CHECK(static_cast<double>(static_cast<float>(one)) == one);
}

TEST_CASE("the growth of errors is what the documentation says") {
  CHECK(winograd_transform(2).growth() == Approx(8.0 / 3));
  CHECK(winograd_transform(4).growth() == Approx(22.0 / 3));
}

using Memory = std::vector<std::vector<float>>;

/// Open rows and columns are those of `g`.
int64_t size_of(arith::Var symbol, const testing::ConvShape& g) {
  return symbol.name() == "h" ? g.h : g.w;
}

Memory random_inputs(const tir::PrimFunc& f, const testing::ConvShape& g) {
  std::mt19937 random(static_cast<uint32_t>(g.c + g.h + g.w));
  std::uniform_real_distribution<float> number(-1, 1);
  Memory memory;
  for (const tir::Param& param : f.params) {
    int64_t count = 1;
    for (arith::Expr dim : param.buffer->shape)
      count *= *arith::evaluate(dim, [&](arith::Var symbol) { return size_of(symbol, g); });
    for (float& x : memory.emplace_back(static_cast<size_t>(count))) x = number(random);
  }
  return memory;
}

void run_on(const tir::PrimFunc& f, const testing::ConvShape& g, Memory& memory) {
  std::vector<void*> buffers;
  std::vector<int64_t> scalars;
  for (arith::Var symbol : f.symbols) scalars.push_back(size_of(symbol, g));
  for (auto& one : memory) buffers.push_back(one.data());
  REQUIRE(tir::make_interpreter()->run(f, buffers, scalars));
}

/// A kernel by Winograd's algorithm against its definition in exact sums, within the bound of both.
void stays_within(const tir::PrimFunc& direct, const tir::PrimFunc& fast, const schedule::Packing& packing,
                  const testing::ConvShape& g) {
  REQUIRE(tir::first_fault(fast) == "");
  Memory memory = random_inputs(direct, g), after = memory;
  auto bytes = packing.apply(std::as_bytes(std::span<const float>(memory[1])), sizeof(float));
  after[1].resize(bytes.size() / sizeof(float));
  std::memcpy(after[1].data(), bytes.data(), bytes.size());
  run_on(direct, g, memory), run_on(fast, g, after);
  const bool both = packing.filtered.size() == 2;
  double growth = 1, terms = static_cast<double>(g.c * g.kernel), u = 0x1p-24;
  for (const schedule::Packing::Taps& taps : packing.filtered) growth *= winograd_transform(taps.results).growth();
  double roundings = both ? static_cast<double>(g.c) + 32 : terms + 16;
  double bound = growth * 3 * terms * roundings * u + 3 * terms * 3 * terms * u;
  double worst = 0;
  for (size_t i = 0; i < memory.back().size(); ++i)
    worst = std::max(worst, std::abs(static_cast<double>(memory.back()[i]) - static_cast<double>(after.back()[i])));
  CHECK(worst <= bound);
  CHECK(worst <= (both ? 6e-6 : 2e-6) * terms);  // in practice it is far below
}

/// What the rule makes of a convolution with at most m results at once.
void within_bound(arith::Context& context, const testing::ConvShape& g, const Target& target, int64_t m,
                  bool epilogue) {
  const tir::PrimFunc direct = testing::conv(context, g, epilogue);
  tir::PrimFunc fast = direct;
  std::vector<schedule::PackedParam> packed;
  REQUIRE(schedule::schedule_kernel(context, fast, target, {direct.params[1].buffer}, packed, {}, {.winograd = m}));
  INFO(tir::to_string(fast));
  REQUIRE(packed.size() == 1);
  REQUIRE(!packed[0].packing.filtered.empty());
  stays_within(direct, fast, packed[0].packing, g);
}

TEST_CASE("convolutions by Winograd's algorithm stay within the bound") {
  arith::Context context;
  for (const Target& target : {wide_target(), narrow_target()})
    for (int64_t m : {2, 4})
      for (bool epilogue : {false, true}) {
        if (testing::kSanitized && epilogue != (m == 2)) continue;
        within_bound(context, {.c = 32, .h = 8, .w = 16, .out = 40}, target, m, epilogue);
        within_bound(context, {.n = 2, .c = 33, .h = 13, .w = 21, .out = 32}, target, m, epilogue);
        within_bound(context, {.c = 32, .h = 14, .w = 18, .out = 35, .pad = 0}, target, m, epilogue);
      }
}

struct Filtered {
  tir::PrimFunc kernel;
  schedule::Packing packing;  ///< of the filters
};

/// The convolution by the step `winograd`; `tiles` are its arguments between the block and `fma`, and vectors have
/// `lanes`.
Filtered filtered(arith::Context& context, const tir::PrimFunc& direct, const std::string& tiles, int64_t lanes) {
  const std::string steps = fmt::format(
      "focus_nests [sum, y]; reassociate sum; winograd sum {} fma 4096 {}; focus_nests [filter]; pack "
      "weight_at_points 0 4 [1, 2, 3]",
      tiles, lanes);
  Sources sources;
  Diagnostics diag;
  const SourceFile* file = sources.add_file("steps", steps);
  tir::PrimFunc fast = direct;
  std::vector<schedule::PackedParam> packed;
  INFO(steps);
  REQUIRE(schedule::replay_kernel(context, fast, {direct.params[1].buffer}, packed, {},
                                  {file, 0, static_cast<uint32_t>(steps.size())}, sources, diag));
  REQUIRE(packed.size() == 1);
  return {std::move(fast), packed[0].packing};
}

TEST_CASE("tiles in both dims may end beyond the last row and column") {
  arith::Context context;
  for (const testing::ConvShape& g : {testing::ConvShape{.c = 5, .h = 8, .w = 16, .out = 6},
                                      {.n = 2, .c = 3, .h = 13, .w = 21, .out = 4},
                                      {.c = 4, .h = 7, .w = 37, .out = 3, .pad = 0},
                                      {.c = 2, .h = 3, .w = 5, .out = 2}})
    for (int64_t rows : {2, 4})
      for (int64_t columns : {1, 2, 4}) {
        const tir::PrimFunc direct = testing::conv(context, g, true);
        const Filtered fast = filtered(context, direct, fmt::format("{} {} 1 0", rows, columns), 4 * columns);
        stays_within(direct, fast.kernel, fast.packing, g);
      }
}

TEST_CASE("images of open sizes go by in blocks that end with them, at every size") {
  arith::Context context;
  for (auto [rows, columns] : {std::pair(true, true), std::pair(true, false), std::pair(false, true)})
    for (const auto& [m, along, lanes] :
         {std::tuple(2, 1, 16), std::tuple(4, 1, 4), std::tuple(4, 2, 8), std::tuple(2, 4, 16)}) {
      testing::ConvShape g{.n = 2, .c = 3, .h = 13, .w = 21, .out = 4, .open_rows = rows, .open_columns = columns};
      const tir::PrimFunc direct = testing::conv(context, g, true);
      const Filtered fast = filtered(context, direct, fmt::format("{} {} 2 8", m, along), lanes);
      for (int64_t h : {0, 1, 2, 3, 7, 8, 9, 17})
        for (int64_t w : {0, 1, 2, 5, 8, 16, 17, 39}) {
          if ((h * 5 + w) % testing::stride() != 0) continue;
          if (rows) g.h = h;
          if (columns) g.w = w;
          stays_within(direct, fast.kernel, fast.packing, g);
        }
    }
}

TEST_CASE("convolutions over images of open sizes by Winograd's algorithm stay within the bound") {
  arith::Context context;
  for (const Target& target : {wide_target(), narrow_target()})
    for (testing::ConvShape g : {testing::ConvShape{.c = 64, .out = 64}, {.c = 24, .out = 30, .pad = 0}}) {
      if (testing::kSanitized && g.c == 64) continue;
      g.open_rows = g.open_columns = true;
      const tir::PrimFunc direct = testing::conv(context, g, true);
      tir::PrimFunc fast = direct;
      std::vector<schedule::PackedParam> packed;
      REQUIRE(schedule::schedule_kernel(context, fast, target, {direct.params[1].buffer}, packed));
      REQUIRE(packed.size() == 1);
      REQUIRE(!packed[0].packing.filtered.empty());
      for (const auto& [h, w] : {std::pair(2, 3), std::pair(7, 7), std::pair(18, 34), std::pair(5, 75)}) {
        g.h = h, g.w = w;
        stays_within(direct, fast, packed[0].packing, g);
      }
    }
}

TEST_CASE("blocks of an open width have no more tiles below each other than the known height") {
  arith::Context context;
  for (int64_t h : {2, 4, 7}) {
    testing::ConvShape g{.c = 64, .h = h, .out = 64, .open_columns = true};
    const tir::PrimFunc direct = testing::conv(context, g, true);
    tir::PrimFunc fast = direct;
    std::vector<schedule::PackedParam> packed;
    REQUIRE(schedule::schedule_kernel(context, fast, narrow_target(), {direct.params[1].buffer}, packed));
    REQUIRE(packed.size() == 1);
    CHECK(!packed[0].packing.filtered.empty());
    for (int64_t w : {1, 26, 75}) {
      if (w == 75 && testing::kSanitized) continue;
      g.w = w;
      stays_within(direct, fast, packed[0].packing, g);
    }
  }
}

TEST_CASE(
    "blocks of open images are as wide as scratch memory allows, and their rows are whole vectors of the target") {
  arith::Context context;
  const tir::PrimFunc direct =
      testing::conv(context, {.c = 128, .out = 128, .open_rows = true, .open_columns = true}, true);
  auto steps = [&](const Target& target) {
    tir::PrimFunc fast = direct;
    std::vector<schedule::PackedParam> packed;
    REQUIRE(schedule::schedule_kernel(context, fast, target, {direct.params[1].buffer}, packed));
    return fast.schedule.steps;
  };
  Target target = wide_target();
  target.vector_bits = 256;
  target.l2_bytes = 512 << 10;  // twice as much holds 28 tiles of 36 points of 256 channels and not 32
  CHECK(steps(target).find("winograd sum 4 4 1 28 fma 4096 8;") != std::string::npos);
  // Two vectors where more than one is left of a block's places, and one where no more is.
  CHECK(steps(target).find(" 16 8; split ") != std::string::npos);
  target.vector_bits = 512;
  CHECK(steps(target).find("winograd sum 4 4 1 28 fma 4096 16;") != std::string::npos);
}

TEST_CASE("small filters, strides, groups and filters of other heights are computed directly") {
  arith::Context context;
  for (const testing::ConvShape& g : {testing::ConvShape{.c = 1, .h = 16, .w = 16, .out = 4},
                                      {.c = 16, .h = 17, .w = 17, .out = 16, .stride = 2},
                                      {.c = 16, .h = 16, .w = 16, .out = 16, .groups = 16},
                                      {.c = 16, .h = 16, .w = 16, .out = 16, .kernel = 5, .pad = 2},
                                      {.c = 16, .h = 16, .w = 16, .out = 16, .kernel = 1, .pad = 0}}) {
    tir::PrimFunc f = testing::conv(context, g, true);
    std::vector<schedule::PackedParam> packed;
    schedule::schedule_kernel(context, f, wide_target(), {f.params[1].buffer}, packed);
    for (const schedule::PackedParam& one : packed) CHECK(one.packing.filtered.empty());
  }
}

TEST_CASE("the numbers of the machine decide whether Winograd's algorithm pays, and which strides its memory avoids") {
  arith::Context context;
  Target target = wide_target();
  auto scheduled = [&] {
    tir::PrimFunc f = testing::conv(context, {.c = 32, .h = 16, .w = 16, .out = 32}, true);
    std::vector<schedule::PackedParam> packed;
    schedule::schedule_kernel(context, f, target, {f.params[1].buffer}, packed);
    return f.schedule.steps;
  };
  CHECK(scheduled().find("winograd sum 4 1 ") != std::string::npos);
  CHECK(scheduled().find(" fma 4096 16;") != std::string::npos);
  target.l1_period_bytes = 16384;
  CHECK(scheduled().find(" fma 16384 16;") != std::string::npos);
  target.winograd_data_cycles = 1000;
  CHECK(scheduled().find("winograd") == std::string::npos);
}

TEST_CASE("a narrow image of many channels is not taken to keep the adders busy by channels in lanes") {
  arith::Context context;
  Target target = wide_target();
  target.vector_bits = 256, target.vector_registers = 16;  // tiles of four columns, whose sums are waited for
  auto by_winograd = [&](int64_t width) {
    tir::PrimFunc f = testing::conv(context, {.c = 512, .h = 7, .w = width, .out = 512}, true);
    std::vector<schedule::PackedParam> packed;
    schedule::schedule_kernel(context, f, target, {f.params[1].buffer}, packed);
    return f.schedule.steps.find("winograd sum ") != std::string::npos;
  };
  CHECK(by_winograd(7));
  target.fma_latency = 1, target.l2_vector_cycles = 0, target.far_vector_cycles = 0;
  CHECK_FALSE(by_winograd(7));
}

TEST_CASE("Winograd's algorithm can be turned off") {
  arith::Context context;
  tir::PrimFunc f = testing::conv(context, {.c = 32, .h = 16, .w = 16, .out = 32}, true);
  std::vector<schedule::PackedParam> packed;
  schedule::schedule_kernel(context, f, wide_target(), {f.params[1].buffer}, packed, {}, {.winograd = 0});
  REQUIRE(packed.size() == 1);
  CHECK(packed[0].packing.filtered.empty());
}

}  // namespace
}  // namespace relaxc
