// prefetching_test.cpp: what tiles ask for ahead of time, and the tiles that caches suggest.
#include <catch2/catch.hpp>

#include "compiler/schedule/kernel.h"
#include "compiler/schedule/strategies/parts/tile_shape.h"
#include "tests/unit/schedule/kernels.h"

namespace relaxc {
namespace {

Target eight_lanes() {
  Target target;
  target.vector_bits = 256, target.vector_registers = 16, target.has_fma = true;
  return target;
}

/// The schedule of a 1x1 convolution with constant weights.
std::string pointwise(const Target& target, testing::ConvShape shape) {
  arith::Context context;
  shape.kernel = 1, shape.pad = 0;
  tir::PrimFunc f = testing::conv(context, shape, true);
  f.is_private = true;
  std::vector<schedule::PackedParam> packed;
  REQUIRE(schedule::schedule_kernel(context, f, target, {f.params[1].buffer}, packed));
  return f.schedule.steps;
}

bool has(const std::string& steps, std::string_view step) {
  return steps.find(step) != std::string::npos;
}

TEST_CASE("a long sum asks for the lines of later terms, where a target says how many") {
  Target target = eight_lanes();
  const testing::ConvShape small{.c = 960, .h = 7, .w = 7, .out = 160}, large{.c = 576, .h = 14, .w = 14, .out = 96};
  for (const testing::ConvShape& shape : {small, large}) CHECK_FALSE(has(pointwise(target, shape), "prefetch"));
  target.prefetch_terms = 12;
  for (const testing::ConvShape& shape : {small, large})
    CHECK(has(pointwise(target, shape), "prefetch_iterations k0 12"));
  // All that a tile reads of few terms stays in the first level.
  CHECK_FALSE(has(pointwise(target, {.c = 24, .h = 28, .w = 28, .out = 8}), "prefetch"));
  // A map of open size is taken to have channels apart.
  CHECK(has(pointwise(target, {.c = 960, .out = 160, .open_rows = true, .open_columns = true}), "prefetch_iterations"));
}

TEST_CASE("the more maps are read side by side, the fewer bytes ahead") {
  const Target target = eight_lanes();
  const auto ahead = [&](int64_t maps, int64_t side) {
    const std::string steps = pointwise(target, {.c = maps, .h = side, .w = side, .out = 16});
    const size_t at = steps.find("prefetch ");
    REQUIRE(at != std::string::npos);
    return std::stol(steps.substr(steps.find(' ', at + 9)));
  };
  CHECK(ahead(8, 250) == target.prefetch_bytes);
  CHECK(ahead(32, 250) == 384);  // 3/8 of 32 KB / 32
  CHECK(ahead(96, 126) == 128);
  CHECK(ahead(512, 62) == target.line_bytes);  // never less than the next line
}

TEST_CASE("a tile is not wide where its vectors leave the first level before the next rows read them") {
  arith::Context context;
  const Target target = eight_lanes();
  const auto best = [&](bool inside) {  // of 96 to 576 channels of 14x14
    return schedule::good_tiles(target, context.index(576), context.index(196), 8, {.vectors = 8, .rows = 16},
                                {.terms = 96, .vectors_inside = inside}, 1)[0];
  };
  CHECK(best(false).vectors == 5);
  CHECK(best(true).vectors == 2);
  CHECK(best(true).unrolled == 6);
}

TEST_CASE("pixels of an image of open size are many where sums have few terms") {
  arith::Context context;
  Target target = eight_lanes();
  target.vector_registers = 32;
  const arith::Expr height = context.var("h"), width = context.var("w");
  const auto vectors = [&](arith::Expr columns, double terms) {
    return schedule::good_tiles(target, context.index(32), columns, 8,
                                {.registers = 32, .vectors = 8, .rows = 16, .rows_of_vector = 16}, {.terms = terms},
                                1)[0]
        .vectors;
  };
  CHECK(vectors(height * width, 16) > vectors(height * width, 256));  // later layers, of few pixels
  CHECK(vectors(height * width, 16) > vectors(width, 16));            // a row
}

}  // namespace
}  // namespace relaxc
