// kernel_test.cpp: scheduled kernels compute what they computed before.
//
// The data are small integers, so that sums are exact in any order and with any rounding: results must be the same to
// the bit although reductions change their order and products are fused.
#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <span>

#include "compiler/schedule/analysis/access.h"
#include "compiler/schedule/kernel.h"
#include "compiler/tir/evaluator.h"
#include "compiler/tir/print.h"
#include "compiler/tir/verify.h"
#include "compiler/tir/visit.h"
#include "tests/sanitized.h"
#include "tests/unit/schedule/kernels.h"

namespace relaxc {
namespace {

using testing::narrow_target, testing::wide_target;

using arith::Expr;

using Symbols = std::map<std::string, int64_t>;

std::vector<std::vector<float>> inputs(const tir::PrimFunc& f, const Symbols& symbols) {
  std::mt19937 random(5);
  std::vector<std::vector<float>> memory;
  for (const tir::Param& param : f.params) {
    int64_t count = 1;
    for (Expr dim : param.buffer->shape)
      count *= *arith::evaluate(dim, [&](arith::Var v) { return symbols.at(v.name()); });
    std::vector<float>& one = memory.emplace_back(static_cast<size_t>(count));
    for (float& x : one) x = static_cast<float>(random() % 9) - 4;
  }
  return memory;
}

void run_on(const tir::PrimFunc& f, const Symbols& symbols, std::vector<std::vector<float>>& memory) {
  std::vector<int64_t> scalars;
  for (arith::Var symbol : f.symbols) scalars.push_back(symbols.at(symbol.name()));
  std::vector<void*> buffers;
  for (auto& one : memory) buffers.push_back(one.data());
  REQUIRE(tir::make_interpreter()->run(f, buffers, scalars));
}

std::vector<std::vector<float>> run(const tir::PrimFunc& f, const std::map<std::string, int64_t>& symbols) {
  auto memory = inputs(f, symbols);
  run_on(f, symbols, memory);
  return memory;
}

/// Schedules for both targets and compares at all values of the symbols.
void same_numbers(arith::Context& context, const tir::PrimFunc& f,
                  const std::vector<std::map<std::string, int64_t>>& cases = {{}}, bool must_fit = true) {
  for (const Target& target : {wide_target(), narrow_target()}) {
    if (testing::kSanitized && target.vector_bits != wide_target().vector_bits) continue;
    tir::PrimFunc scheduled = f;
    bool fits = schedule::schedule_kernel(context, scheduled, target);
    REQUIRE((fits || !must_fit));
    INFO(tir::to_string(scheduled));
    REQUIRE(tir::first_fault(scheduled) == "");
    for (size_t i = 0; i < cases.size(); i += testing::stride()) CHECK(run(f, cases[i]) == run(scheduled, cases[i]));
  }
}

/// The same with the weight packed, as the pass hands it over when it is a constant.
void same_with_packed_weight(arith::Context& context, const tir::PrimFunc& f,
                             const std::vector<std::map<std::string, int64_t>>& cases = {{}}) {
  for (const Target& target : {wide_target(), narrow_target()}) {
    tir::PrimFunc scheduled = f;
    std::vector<schedule::PackedParam> packed;
    REQUIRE(schedule::schedule_kernel(context, scheduled, target, {f.params[1].buffer}, packed));
    INFO(tir::to_string(scheduled));
    REQUIRE(tir::first_fault(scheduled) == "");
    REQUIRE(packed.size() == 1);
    CHECK(scheduled.params[1].buffer == packed[0].packed);
    bool divides = false;  // panels must end as plain subscripts
    tir::for_each_stmt(scheduled.body, [&](tir::Stmt s) {
      for (Expr e : tir::expressions(s))
        arith::for_each_node(e, [&](Expr node) {
          if (const auto* load = node.as<arith::Load>(); load != nullptr && load->buffer == packed[0].packed)
            for (Expr index : load->indices)
              arith::for_each_node(index, [&](Expr part) { divides |= part.as<arith::FloorMod>() != nullptr; });
        });
    });
    CHECK_FALSE(divides);
    for (const std::map<std::string, int64_t>& dims : cases) {
      auto memory = inputs(f, dims), after = memory;
      auto& weight = after[1];
      auto bytes = packed[0].packing.apply(std::as_bytes(std::span<const float>(weight)), sizeof(float));
      weight.resize(bytes.size() / sizeof(float));
      std::memcpy(weight.data(), bytes.data(), bytes.size());
      run_on(f, dims, memory), run_on(scheduled, dims, after);
      CHECK(memory.back() == after.back());
    }
  }
}

TEST_CASE("packed weights give the same numbers") {
  arith::Context context;
  auto index = [&](int64_t v) { return context.index(v); };
  for (int64_t n : {17, 64, 70})
    for (bool transposed : {false, true})
      for (int64_t m : {1, 9})
        same_with_packed_weight(context, testing::matmul(context, {}, index(m), index(n), index(5), transposed, true));
  for (int64_t out : {4, 16, 31}) {
    same_with_packed_weight(context, testing::conv(context, {.c = 3, .h = 5, .w = 21, .out = out}, true));
    same_with_packed_weight(context, testing::conv(context, {.c = 3, .out = out, .kernel = 1, .pad = 0}, true));
  }
}

TEST_CASE("matrix products of any size keep their numbers") {
  arith::Context context;
  auto index = [&](int64_t v) { return context.index(v); };
  for (int64_t m : {1, 3, 14, 17})
    for (int64_t n : {1, 7, 16, 70})
      for (int64_t k : {0, 1, 9}) {
        same_numbers(context, testing::matmul(context, {}, index(m), index(n), index(k), false, true), {{}}, n > 1);
        same_numbers(context, testing::matmul(context, {index(2)}, index(m), index(n), index(k), false, false), {{}},
                     n > 1);
      }
}

TEST_CASE("symbolic matrix products keep their numbers at every size") {
  arith::Context context;
  Expr m = context.var("m"), n = context.var("n"), k = context.var("k"), batch = context.var("b");
  std::vector<std::map<std::string, int64_t>> cases;
  for (int64_t size : {0, 1, 5, 15, 33})
    for (int64_t other : {0, 1, 4, 40}) cases.push_back({{"b", 2}, {"m", size}, {"n", other}, {"k", 3}});
  cases.push_back({{"b", 2}, {"m", 3}, {"n", 20}, {"k", 0}});
  for (bool transposed : {false, true})
    for (bool epilogue : {false, true})
      same_numbers(context, testing::matmul(context, {batch}, m, n, k, transposed, epilogue), cases);
}

TEST_CASE("products with a transposed matrix keep their numbers") {
  arith::Context context;
  auto index = [&](int64_t v) { return context.index(v); };
  for (int64_t m : {1, 5, 8})
    for (int64_t k : {1, 16, 33, 150})
      same_numbers(context, testing::matmul(context, {}, index(m), index(6), index(k), true, true), {{}}, k > 1);
}

TEST_CASE("convolutions keep their numbers") {
  arith::Context context;
  for (bool epilogue : {false, true}) {
    same_numbers(context, testing::conv(context, {}, epilogue));
    same_numbers(context, testing::conv(context, {.c = 4, .h = 5, .w = 21, .out = 16}, epilogue));
    same_numbers(context, testing::conv(context, {.n = 2, .c = 5, .kernel = 1, .pad = 0}, epilogue));
    same_numbers(context, testing::conv(context, {.w = 37, .out = 5, .stride = 2}, epilogue));
    same_numbers(context, testing::conv(context, {.w = 20, .dilation = 2}, epilogue));
    same_numbers(context, testing::conv(context, {.c = 4, .w = 18, .out = 4, .groups = 4}, epilogue));
    same_numbers(context, testing::conv(context, {.c = 4, .w = 18, .out = 6, .kernel = 5, .groups = 2}, epilogue));
  }
}

TEST_CASE("lanes are along output channels where columns are few or strided and sums are long") {
  arith::Context context;
  auto along_channels = [&](const testing::ConvShape& shape) {
    tir::PrimFunc f = testing::conv(context, shape, true);
    same_numbers(context, f);
    std::vector<schedule::PackedParam> packed;
    REQUIRE(schedule::schedule_kernel(context, f, wide_target(), {f.params[1].buffer}, packed));
    return f.schedule.steps.find("vectorize i1_") != std::string::npos;
  };
  CHECK(along_channels({.c = 300, .h = 14, .w = 14, .out = 48, .kernel = 1, .stride = 2, .pad = 0}));
  CHECK(along_channels({.c = 1024, .h = 7, .w = 7, .out = 48, .kernel = 1, .pad = 0}));
  same_with_packed_weight(
      context, testing::conv(context, {.c = 300, .h = 6, .w = 6, .out = 20, .kernel = 1, .stride = 2, .pad = 0}, true));
  CHECK(along_channels({.c = 1024, .h = 14, .w = 14, .out = 48, .kernel = 1, .pad = 0}));  // across lines of cache
  CHECK_FALSE(along_channels({.c = 1024, .h = 16, .w = 16, .out = 48, .kernel = 1, .pad = 0}));
  CHECK_FALSE(along_channels({.c = 64, .h = 14, .w = 14, .out = 48, .kernel = 1, .pad = 0}));
  CHECK_FALSE(along_channels({.c = 64, .h = 7, .w = 7, .out = 48, .kernel = 1, .pad = 0}));
}

TEST_CASE("tiles along output channels read scalars of a copy, taps outermost") {
  arith::Context context;
  auto reads_copy = [&](const testing::ConvShape& shape, bool constant = true) {
    tir::PrimFunc f = testing::conv(context, shape, true);
    std::vector<tir::BufferRef> constants;
    if (constant) constants.push_back(f.params[1].buffer);
    std::vector<schedule::PackedParam> packed;
    REQUIRE(schedule::schedule_kernel(context, f, wide_target(), constants, packed));
    const std::string& trace = f.schedule.steps;
    const bool copies = trace.find("cache_window") != std::string::npos;
    CHECK(copies == (trace.find("reorder [k2, k0, k1]") != std::string::npos));
    return copies;
  };
  const testing::ConvShape by_two{.c = 3, .h = 9, .w = 13, .out = 96, .stride = 2};
  const testing::ConvShape narrow{.c = 2, .h = 3, .w = 9, .out = 96, .kernel = 5, .pad = 2};
  for (const testing::ConvShape& shape : {by_two, narrow}) {
    CHECK(reads_copy(shape));
    CHECK_FALSE(reads_copy(shape, false));
    same_with_packed_weight(context, testing::conv(context, shape, true));
  }
  CHECK_FALSE(reads_copy({.c = 3, .h = 9, .w = 13, .out = 32, .stride = 2}));  // channels are few
}

TEST_CASE("columns of a copy start on a cache line, and taps that read its phases in turn are unrolled") {
  arith::Context context;
  auto unrolls = [&](const testing::ConvShape& shape) {
    tir::PrimFunc f = testing::conv(context, shape, true);
    same_numbers(context, f);
    REQUIRE(schedule::schedule_kernel(context, f, wide_target()));
    CHECK(tir::to_string(f).find("along_i + 16] = operand") != std::string::npos);
    return f.schedule.steps.find("unroll k1; unroll k2;") != std::string::npos;
  };
  CHECK(unrolls({.c = 4, .h = 9, .w = 40, .out = 4, .stride = 2, .groups = 4}));
  CHECK(unrolls({.c = 4, .h = 40, .w = 32, .out = 4, .kernel = 5, .stride = 2, .pad = 2, .groups = 4}));
  CHECK_FALSE(unrolls({.c = 4, .h = 14, .w = 32, .out = 4, .stride = 2, .groups = 4}));  // one tile a channel
  CHECK_FALSE(unrolls({.c = 4, .h = 9, .w = 30, .out = 4, .groups = 4}));                // without a step
}

TEST_CASE(
    "first and depthwise layers over images of open sizes are copied in blocks, and keep their numbers at every size") {
  arith::Context context;
  std::vector<std::map<std::string, int64_t>> cases;
  for (int64_t h : {0, 1, 2, 7, 16, 19})
    for (int64_t w : {0, 1, 5, 31, 66, 140}) cases.push_back({{"h", h}, {"w", w}});
  // In several blocks of columns, or of rows, where channels have filters of their own.
  for (auto [h, w] : {std::pair(3, 1100), std::pair(67, 3), std::pair(35, 270)}) cases.push_back({{"h", h}, {"w", w}});
  for (auto [rows, columns] : {std::pair(true, true), std::pair(true, false), std::pair(false, true)})
    for (testing::ConvShape shape : {testing::ConvShape{.c = 3, .out = 17, .stride = 2},
                                     {.c = 3, .out = 16, .kernel = 5, .stride = 3, .pad = 0},
                                     {.c = 3, .out = 5, .stride = 2},
                                     {.c = 2, .out = 2, .groups = 2},
                                     {.c = 2, .out = 2, .kernel = 5, .stride = 2, .pad = 2, .groups = 2},
                                     {.c = 2, .out = 2, .pad = 2, .groups = 2, .dilation = 2}}) {
      shape.h = 21, shape.w = 43, shape.open_rows = rows, shape.open_columns = columns;
      tir::PrimFunc f = testing::conv(context, shape, true);
      same_numbers(context, f, cases);
      REQUIRE(schedule::schedule_kernel(context, f, wide_target()));
      // Open columns may be few: they are copied only where channels would be in lanes otherwise, or are alone.
      const bool copies = !columns || shape.out >= 16 || shape.groups > 1;
      CHECK((f.schedule.steps.find("cache_window") != std::string::npos) == copies);
    }
}

TEST_CASE("tiles leave registers for the taps of a copy and for the broadcasts that they load ahead") {
  arith::Context context;
  Target target;
  target.vector_bits = 256, target.vector_registers = 16, target.has_fma = true;
  auto rows_of = [&](const testing::ConvShape& shape) {
    tir::PrimFunc f = testing::conv(context, shape, true);
    std::vector<schedule::PackedParam> packed;
    REQUIRE(schedule::schedule_kernel(context, f, target, {f.params[1].buffer}, packed));
    const std::string begin = "pack weight 0 ";
    const size_t at = f.schedule.steps.find(begin);
    REQUIRE(at != std::string::npos);
    return std::stoi(f.schedule.steps.substr(at + begin.size()));
  };
  CHECK(rows_of({.c = 3, .out = 32, .stride = 2, .open_rows = true, .open_columns = true}) == 4);  // and not 11 by 1
}

TEST_CASE(
    "long sums over images of open sizes read scalars of a copy in blocks, and keep their numbers at every size") {
  arith::Context context;
  std::vector<std::map<std::string, int64_t>> cases;
  for (int64_t h : {0, 1, 7})
    for (int64_t w : {0, 1, 5, 37}) cases.push_back({{"h", h}, {"w", w}});
  for (auto [h, w] : {std::pair(3, 140), std::pair(37, 3)}) cases.push_back({{"h", h}, {"w", w}});
  for (auto [rows, columns] : {std::pair(true, true), std::pair(true, false), std::pair(false, true)})
    for (testing::ConvShape shape : {testing::ConvShape{.c = 19, .out = 96, .stride = 2},
                                     {.c = 7, .out = 97, .kernel = 5, .pad = 2},
                                     {.c = 3, .out = 96, .stride = 2}}) {
      shape.h = 5, shape.w = 13, shape.open_rows = rows, shape.open_columns = columns;
      same_with_packed_weight(context, testing::conv(context, shape, true), cases);
      if (!columns || shape.kernel == 5) continue;
      tir::PrimFunc f = testing::conv(context, shape, true);
      std::vector<schedule::PackedParam> packed;
      REQUIRE(schedule::schedule_kernel(context, f, wide_target(), {f.params[1].buffer}, packed));
      CHECK(f.schedule.steps.find("cache_window") != std::string::npos);
      // Rows of the first layer of a network are long.
      CHECK((f.schedule.steps.find("vectorize i1_i_i") != std::string::npos) == (shape.c > 3));
    }
}

/// Whether a store to the copy of a window happens in some lanes of a vector alone.
bool stores_in_some_lanes(const tir::PrimFunc& f) {
  bool found = false;
  tir::for_each_stmt(f.body, [&](tir::Stmt s) {
    const auto* loop = s.as<tir::For>();
    if (loop == nullptr || loop->loop_kind != tir::LoopKind::kVectorized) return;
    tir::for_each_stmt(loop->body, [&](tir::Stmt inner) {
      const auto* branch = inner.as<tir::If>();
      if (branch == nullptr || !schedule::depends_on(branch->condition, loop->var)) return;
      tir::for_each_stmt(branch->then_body, [&](tir::Stmt stored) {
        const auto* store = stored.as<tir::Store>();
        found |= store != nullptr && store->buffer->name == "window";
      });
    });
  });
  return found;
}

TEST_CASE("rows of open images are copied with their borders in whole vectors, at every size") {
  arith::Context context;
  std::vector<std::map<std::string, int64_t>> cases;
  for (int64_t h : {1, 2, 3, 5, 33})
    for (int64_t w = 0; w < 20; ++w) cases.push_back({{"h", h}, {"w", w}});
  for (testing::ConvShape shape : {testing::ConvShape{.c = 2, .out = 2, .groups = 2},
                                   {.n = 2, .c = 2, .out = 2, .kernel = 5, .pad = 2, .groups = 2},
                                   {.c = 2, .out = 2, .kernel = 2, .pad = 1, .groups = 2},
                                   {.c = 2, .out = 2, .pad = 3, .groups = 2, .dilation = 3}}) {
    shape.h = 21, shape.w = 43, shape.open_rows = shape.open_columns = true;
    tir::PrimFunc f = testing::conv(context, shape, true);
    same_numbers(context, f, cases);
    REQUIRE(schedule::schedule_kernel(context, f, wide_target()));
    CHECK(f.schedule.steps.find("cache_window") != std::string::npos);
    CHECK(f.schedule.steps.find("split_overlapped") != std::string::npos);
    CHECK_FALSE(stores_in_some_lanes(f));
  }
}

TEST_CASE("filters slide over a copy where that is less work, and keep their numbers") {
  arith::Context context;
  auto copies = [&](const testing::ConvShape& shape) {
    tir::PrimFunc f = testing::conv(context, shape, true);
    same_numbers(context, f);
    REQUIRE(schedule::schedule_kernel(context, f, wide_target()));
    return f.schedule.steps.find("cache_window") != std::string::npos;
  };
  for (int64_t wide : {15, 16, 30}) {
    CHECK(copies({.c = 4, .h = 9, .w = wide, .out = 4, .groups = 4}));
    CHECK(copies({.n = 2, .c = 3, .h = 14, .w = wide, .out = 3, .kernel = 5, .pad = 2, .groups = 3}));
    CHECK(copies({.c = 2, .h = 9, .w = wide, .out = 2, .pad = 2, .groups = 2, .dilation = 2}));
    CHECK(copies({.c = 3, .h = 19, .w = 2 * wide, .out = 24, .stride = 2}));
    CHECK(copies({.c = 3, .h = 40, .w = 2 * wide - 1, .out = 8, .kernel = 7, .stride = 2, .pad = 3}));
    CHECK(copies({.c = 3, .h = 19, .w = 3 * wide, .out = 24, .kernel = 5, .stride = 3, .pad = 0}));
    CHECK_FALSE(copies({.c = 4, .h = 9, .w = wide, .out = 4, .pad = 0, .groups = 4}));
    CHECK_FALSE(copies({.c = 4, .h = 9, .w = wide, .out = 16}));
  }
  CHECK(copies({.c = 24, .h = 35, .w = 30, .out = 2}));  // each channel on a page of its own
  CHECK(copies({.c = 4, .h = 14, .w = 14, .out = 4, .stride = 2, .groups = 4}));
  CHECK(copies({.n = 2, .c = 3, .h = 13, .w = 12, .out = 3, .kernel = 5, .stride = 2, .pad = 2, .groups = 3}));
  CHECK_FALSE(copies({.c = 4, .h = 9, .w = 7, .out = 4, .groups = 4}));
}

TEST_CASE("rows and columns of a small image are one axis where that saves vectors, and numbers stay") {
  arith::Context context;
  auto folds = [&](const testing::ConvShape& shape) {
    tir::PrimFunc f = testing::conv(context, shape, true);
    same_numbers(context, f);
    REQUIRE(schedule::schedule_kernel(context, f, wide_target()));
    return f.schedule.steps.find("fuse i2 i3") != std::string::npos;
  };
  for (int64_t channels : {1, 4, 7}) {
    CHECK(folds({.c = channels, .h = 25, .w = 5, .out = channels, .groups = channels}));
    CHECK(folds({.n = 2, .c = channels, .h = 3, .w = 3, .out = channels, .groups = channels}));
    CHECK(folds({.c = channels, .h = 12, .w = 4, .out = channels, .kernel = 5, .pad = 2, .groups = channels}));
    CHECK(folds({.c = channels, .h = 24, .w = 5, .out = channels, .pad = 2, .groups = channels, .dilation = 2}));
  }
  CHECK_FALSE(folds({.c = 4, .h = 25, .w = 5, .out = 4, .pad = 0, .groups = 4}));  // columns are fewer than those read
  CHECK_FALSE(folds({.c = 4, .h = 24, .w = 10, .out = 4, .groups = 4}));           // more vectors than registers
  CHECK_FALSE(folds({.c = 4, .h = 7, .w = 7, .out = 4, .groups = 4}));
}

TEST_CASE("pools go by rows first, and keep their numbers") {
  arith::Context context;
  Expr n = context.var("n");
  auto by_rows = [&](const testing::PoolShape& shape) {
    bool all = true;
    for (bool sums : {false, true})
      for (bool epilogue : {false, true}) {
        tir::PrimFunc f = testing::pool(context, n, shape, sums, epilogue);
        same_numbers(context, f, {{{"n", 0}}, {{"n", 2}}});
        REQUIRE(schedule::schedule_kernel(context, f, wide_target()));
        all &= f.schedule.steps.find("pool_rows") != std::string::npos;
      }
    return all;
  };
  for (int64_t wide : {16, 33, 70}) {
    CHECK(by_rows({.h = 9, .w = wide}));
    CHECK(by_rows({.h = 10, .w = wide, .kernel = 3, .pad = 1}));
    CHECK(by_rows({.h = 7, .w = wide, .kernel = 3, .stride = 1, .pad = 1}));
    CHECK(by_rows({.h = 11, .w = wide, .kernel = 2, .stride = 1, .pad = 1, .dilation = 2}));
    CHECK(by_rows({.c = 1, .h = 11, .w = wide, .kernel = 5, .stride = 2, .pad = 2}));
  }
  CHECK(by_rows({.c = 1, .h = 200, .w = 80, .kernel = 3, .stride = 1}));  // in several blocks of rows
  CHECK_FALSE(by_rows({.w = 14}));                                        // most of a vector would be empty
}

TEST_CASE("pools over images of open sizes go by rows as well, and keep their numbers at every size") {
  arith::Context context;
  Expr n = context.var("n");
  std::vector<std::map<std::string, int64_t>> cases;
  for (auto [h, w] : {std::pair(5, 5), {7, 66}, {16, 6}, {19, 31}, {9, 140}})
    cases.push_back({{"n", 1}, {"h", h}, {"w", w}});
  cases.push_back({{"n", 1}, {"h", 5}, {"w", 1100}});  // in several parts of the columns
  cases.push_back({{"n", 0}, {"h", 9}, {"w", 9}});
  for (auto [rows, columns] : {std::pair(true, true), std::pair(true, false), std::pair(false, true)})
    for (testing::PoolShape shape : {testing::PoolShape{},
                                     {.kernel = 3, .pad = 1},
                                     {.kernel = 3, .stride = 1, .pad = 1},
                                     {.kernel = 2, .stride = 1, .pad = 1, .dilation = 2},
                                     {.kernel = 5, .stride = 3, .pad = 2}})
      for (bool sums : {false, true}) {
        shape.c = 1, shape.h = 21, shape.w = 43, shape.open_rows = rows, shape.open_columns = columns;
        tir::PrimFunc f = testing::pool(context, n, shape, sums, true);
        same_numbers(context, f, cases);
        REQUIRE(schedule::schedule_kernel(context, f, wide_target()));
        CHECK(f.schedule.steps.find("pool_rows") != std::string::npos);
      }
}

TEST_CASE("rows are reduced and shifted") {
  arith::Context context;
  Expr n = context.var("n"), k = context.var("k");
  std::vector<std::map<std::string, int64_t>> cases;
  for (int64_t size : {1, 3, 16, 64, 131}) cases.push_back({{"n", 3}, {"k", size}});
  cases.push_back({{"n", 0}, {"k", 5}});
  same_numbers(context, testing::rows(context, n, k), cases);
  same_numbers(context, testing::rows(context, context.index(4), context.index(10)));
}

TEST_CASE("short rows take each step together where sums make the machine wait") {
  arith::Context context;
  Target target = wide_target();
  auto together = [&](double wait, double latency) {
    target.row_wait_nanoseconds = wait, target.fma_latency = latency;
    tir::PrimFunc f = testing::rows(context, context.index(60), context.index(64));
    REQUIRE(schedule::schedule_kernel(context, f, target));
    const std::string& steps = f.schedule.steps;
    const size_t at = steps.find("strip_mine_nests");
    return at == std::string::npos ? "" : steps.substr(at, steps.find(';', at) - at);
  };
  CHECK(together(40, 4).find(" 4") != std::string::npos);
  CHECK(together(40, 5).find(" 5") != std::string::npos);
  CHECK(together(0, 4) == "");
}

TEST_CASE("a feature map that a pool reads has as many rows as stay in the cache, and numbers stay") {
  arith::Context context;
  Target target = wide_target();
  target.l2_bytes = 4096;
  auto in_blocks = [&](const testing::PoolShape& g, bool sums, bool blocks) {
    tir::PrimFunc f = testing::pool_of_map(context, context.var("n"), g, sums), scheduled = f;
    REQUIRE(schedule::schedule_kernel(context, scheduled, target));
    INFO(tir::to_string(scheduled));
    REQUIRE(tir::first_fault(scheduled) == "");
    CHECK((scheduled.schedule.steps.find("fused_conv_pool_tiling") != std::string::npos) == blocks);
    for (int64_t batch : {0, 1, 3}) CHECK(run(f, {{"n", batch}}) == run(scheduled, {{"n", batch}}));
  };
  for (bool sums : {false, true}) {
    in_blocks({.c = 2, .h = 40, .w = 33}, sums, true);
    in_blocks({.c = 2, .h = 41, .w = 33, .pad = 1}, sums, true);  // windows before and behind the map
    in_blocks({.c = 2, .h = 40, .w = 33, .stride = 3}, sums, true);
    in_blocks({.c = 2, .h = 40, .w = 33, .kernel = 3, .stride = 1, .pad = 2, .dilation = 2}, sums, false);  // overlap
    in_blocks({.c = 2, .h = 8, .w = 9}, sums, false);  // small enough as it is
  }
}

TEST_CASE("intermediate results of two products are kept for a block of rows, and numbers stay") {
  arith::Context context;
  auto index = [&](int64_t v) { return context.index(v); };
  auto in_blocks = [&](const tir::PrimFunc& f, const std::vector<Symbols>& cases) {
    same_numbers(context, f, cases);
    tir::PrimFunc scheduled = f;
    REQUIRE(schedule::schedule_kernel(context, scheduled, wide_target()));
    CHECK(scheduled.schedule.steps.find("strip_mine_rows") != std::string::npos);
    tir::for_each_stmt(scheduled.body, [&](tir::Stmt s) {
      const auto* alloc = s.as<tir::Alloc>();
      if (alloc == nullptr || alloc->buffer->scope == tir::Scope::kLocal) return;
      CHECK(alloc->buffer->shape.size() == 2);
      CHECK(arith::bounds(alloc->buffer->shape[0]).upper <= 32);
    });
  };
  for (bool epilogue : {false, true}) {
    for (int64_t rows : {1, 7, 37})
      in_blocks(testing::rows_between_products(context, {index(2), index(3)}, index(rows), index(19), 3, epilogue),
                {{}});
    in_blocks(testing::rows_between_products(context, {}, index(64), index(70), 4, epilogue), {{}});
    Expr h = context.var("h"), s = context.var("s"), t = context.var("t");
    std::vector<Symbols> cases;
    for (int64_t queries : {0, 1, 37, 64})
      for (int64_t heads : {1, 2}) cases.push_back({{"h", heads}, {"s", queries}, {"t", 18}});
    cases.push_back({{"h", 0}, {"s", 3}, {"t", 2}});
    in_blocks(testing::rows_between_products(context, {h}, s, t, 3, epilogue), cases);
  }
}

TEST_CASE("element-wise, broadcast and transposed nests keep their numbers") {
  arith::Context context;
  Expr n = context.var("n"), c = context.var("c"), h = context.var("h"), w = context.var("w");
  std::vector<std::map<std::string, int64_t>> cases;
  for (int64_t size : {0, 1, 3, 17}) cases.push_back({{"n", 2}, {"c", 3}, {"h", 5}, {"w", size}});
  cases.push_back({{"n", 1}, {"c", 37}, {"h", 2}, {"w", 18}});  // more than a line of what is transposed
  same_numbers(context, testing::spatial(context, n, c, h, w), cases);
}

}  // namespace
}  // namespace relaxc
