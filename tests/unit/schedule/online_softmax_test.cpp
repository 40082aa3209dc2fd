// online_softmax_test.cpp: a softmax by blocks of keys gives what it gives by whole rows, within its bound.
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <random>

#include "compiler/schedule/kernel.h"
#include "compiler/tir/evaluator.h"
#include "compiler/tir/print.h"
#include "compiler/tir/verify.h"
#include "compiler/tir/visit.h"
#include "tests/unit/schedule/kernels.h"

namespace relaxc {
namespace {

using arith::Expr;
using testing::attention, testing::narrow_target, testing::wide_target;

using Symbols = std::map<std::string, int64_t>;
using Memory = std::vector<std::vector<float>>;

constexpr int64_t kWidth = testing::kHeadWidth;
constexpr float kNothing = -std::numeric_limits<float>::infinity();

tir::PrimFunc in_blocks(arith::Context& context, const tir::PrimFunc& f, const Target& target, int64_t fewest = 1) {
  tir::PrimFunc made = f;
  std::vector<schedule::PackedParam> packed;
  REQUIRE(schedule::schedule_kernel(context, made, target, {}, packed, {}, {.online_softmax = fewest}));
  INFO(tir::to_string(made));
  REQUIRE(tir::first_fault(made) == "");
  return made;
}

bool is_online(const tir::PrimFunc& f) {
  return f.schedule.steps.find("online_softmax") != std::string::npos;
}

struct Sizes {
  int64_t heads, queries, keys;
};

/// Query i of the last ones sees the keys up to its own place; from `hidden` on queries see nothing, and no query sees
/// the keys before `first`.
Memory inputs(const Sizes& n, int64_t first, int64_t hidden, float scale) {
  std::mt19937 random(static_cast<uint32_t>(n.keys));
  std::normal_distribution<float> number(0, scale);
  Memory memory;
  for (int64_t count : {n.heads * n.queries * kWidth, n.heads * kWidth * n.keys, n.heads * n.keys * kWidth,
                        n.queries * n.keys, n.heads * n.queries * kWidth})
    for (float& x : memory.emplace_back(static_cast<size_t>(count))) x = number(random);
  for (int64_t i = 0; i < n.queries; ++i)
    for (int64_t j = 0; j < n.keys; ++j)
      if (j > i + n.keys - n.queries || j < first || i >= hidden)
        memory[3][static_cast<size_t>(i * n.keys + j)] = kNothing;
  return memory;
}

/// Compares with sums in double precision, within the bound that online_softmax.cpp states and an exact share of what
/// the scores themselves are off; rows without a key are NaN, or 0 if `zeros`.
void check_rows(const Sizes& n, const Memory& m, bool zeros = false) {
  const double u = 0x1p-24, blocks = std::ceil(static_cast<double>(n.keys) / 256);
  auto at = [&](size_t tensor, int64_t i) { return static_cast<double>(m[tensor][static_cast<size_t>(i)]); };
  for (int64_t h = 0; h < n.heads; ++h)
    for (int64_t i = 0; i < n.queries; ++i) {
      std::vector<double> score;
      double top = kNothing, sum = 0, off = 0;
      for (int64_t j = 0; j < n.keys; ++j) {
        double s = at(3, i * n.keys + j), size = std::isinf(s) ? 0 : std::abs(s);
        for (int64_t e = 0; e < kWidth; ++e) {
          const double term = at(0, (h * n.queries + i) * kWidth + e) * at(1, (h * kWidth + e) * n.keys + j);
          s += term, size += std::abs(term);
        }
        score.push_back(s), top = std::max(top, s), off = std::max(off, size * (kWidth + 2) * u);
      }
      for (double& s : score) s = std::exp(s - top), sum += s;
      for (int64_t c = 0; c < kWidth; ++c) {
        double y = 0, size = 0;
        for (int64_t j = 0; j < n.keys; ++j) {
          const double term = score[static_cast<size_t>(j)] / sum * at(2, (h * n.keys + j) * kWidth + c);
          y += term, size += std::abs(term);
        }
        const double got = at(4, (h * n.queries + i) * kWidth + c);
        if (std::isinf(top)) {
          CHECK((zeros ? got == 0 : std::isnan(got)));
          continue;
        }
        const double bound = 2 * (static_cast<double>(n.keys) + 3 * blocks + 16) * u * size + 4 * off * size;
        CHECK(std::abs(got - y) <= bound + 1e-30);
      }
    }
}

void run(const tir::PrimFunc& f, const Symbols& symbols, Memory& memory) {
  std::vector<int64_t> scalars;
  for (arith::Var symbol : f.symbols) scalars.push_back(symbols.at(symbol.name()));
  std::vector<void*> buffers;
  for (auto& one : memory) buffers.push_back(one.data());
  REQUIRE(tir::make_interpreter()->run(f, buffers, scalars));
}

TEST_CASE("a softmax by blocks of keys is within its bound") {
  arith::Context context;
  auto index = [&](int64_t v) { return context.index(v); };
  for (const Target& target : {wide_target(), narrow_target()})
    for (bool zeros : {false, true})
      for (const Sizes& n : {Sizes{2, 3, 512}, {1, 70, 300}, {2, 1, 700}, {1, 5, 20}}) {
        const tir::PrimFunc f =
            in_blocks(context, attention(context, index(n.heads), index(n.queries), index(n.keys), zeros), target);
        CHECK(is_online(f));
        for (int64_t first : {int64_t{0}, n.keys - 10})  // the blocks before it bring nothing but -inf
          for (float scale : {0.5F, 4.0F}) {
            Memory memory = inputs(n, first, std::max<int64_t>(n.queries - 1, 1), scale);
            run(f, {}, memory);
            check_rows(n, memory, zeros);
          }
      }
}

TEST_CASE("the same with lengths that are not known") {
  arith::Context context;
  const Expr h = context.var("h"), s = context.var("s"), t = context.var("t");
  for (const Target& target : {wide_target(), narrow_target()}) {
    const tir::PrimFunc f = in_blocks(context, attention(context, h, s, t), target, 1024);
    CHECK(is_online(f));
    for (const Sizes& n : {Sizes{1, 1, 1}, {2, 3, 17}, {1, 66, 256}, {1, 2, 257}, {1, 3, 600}, {0, 3, 4}, {2, 0, 4}}) {
      Memory memory = inputs(n, 0, n.queries, 2);
      run(f, {{"h", n.heads}, {"s", n.queries}, {"t", n.keys}}, memory);
      check_rows(n, memory);
    }
  }
}

TEST_CASE("memory between the products does not grow with the keys") {
  arith::Context context;
  auto elements = [&](Expr keys) {
    int64_t most = 0;
    const tir::PrimFunc f =
        in_blocks(context, attention(context, context.index(2), context.var("s"), keys), wide_target(), 1024);
    tir::for_each_stmt(f.body, [&](tir::Stmt s) {
      const auto* alloc = s.as<tir::Alloc>();
      if (alloc == nullptr || alloc->buffer->scope == tir::Scope::kLocal) return;
      int64_t all = 1;
      for (Expr dim : alloc->buffer->shape) all *= arith::bounds(dim).upper;
      most = std::max(most, all);
    });
    return most;
  };
  CHECK(elements(context.index(1024)) == 64 * 256);
  CHECK(elements(context.index(100000)) == 64 * 256);
  CHECK(elements(context.var("t")) == 64 * 256);
}

TEST_CASE("short rows stay whole") {
  arith::Context context;
  auto of = [&](int64_t keys) { return attention(context, context.index(2), context.index(64), context.index(keys)); };
  CHECK_FALSE(is_online(in_blocks(context, of(512), wide_target(), 1024)));
  CHECK(is_online(in_blocks(context, of(1024), wide_target(), 1024)));
  CHECK_FALSE(is_online(in_blocks(context, of(1024), wide_target(), 0)));
}

}  // namespace
}  // namespace relaxc
