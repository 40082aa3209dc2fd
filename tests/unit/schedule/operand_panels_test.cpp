// operand_panels_test.cpp: where panels of a 1x1 convolution's maps are copied, and that this changes no number.
#include <catch2/catch.hpp>

#include "compiler/tir/print.h"
#include "tests/unit/schedule/scheduled_conv.h"

namespace relaxc {
namespace {

Target with_eight_ways() {
  Target target;
  target.vector_bits = 256, target.vector_registers = 16, target.has_fma = true;
  target.l1_ways = 8;
  return target;
}

testing::ConvShape maps(int64_t channels, int64_t height, int64_t width, int64_t out = 16) {
  return {.c = channels, .h = height, .w = width, .out = out, .kernel = 1, .pad = 0};
}

testing::ConvShape open_maps(int64_t channels, int64_t out = 16) {
  testing::ConvShape shape = maps(channels, 0, 0, out);
  shape.open_rows = shape.open_columns = true;
  return shape;
}

/// The columns of a panel; 0 if there is no copy.
int64_t panel_of(const Target& target, const testing::ConvShape& shape) {
  arith::Context context;
  const std::string steps = testing::scheduled(context, target, shape).after.schedule.steps;
  if (steps.find("cache_read x ") == std::string::npos) return 0;
  const size_t at = steps.find("prefetch ");
  REQUIRE(at != std::string::npos);
  return std::stol(steps.substr(steps.find(' ', at + 9))) / 4;
}

TEST_CASE("panels of maps are copied where channels share sets of the first level of cache") {
  const Target target = with_eight_ways();
  CHECK(panel_of(target, maps(16, 320, 320)) == 256);  // 100 pages apart; half of 32 KB by 16 channels of 4 bytes
  CHECK(panel_of(target, maps(64, 80, 80)) == 64);     // a quarter of a page: 16 channels to a set
  CHECK(panel_of(target, maps(16, 300, 304)) == 0);    // a line: one to each
  CHECK(panel_of(target, maps(64, 40, 40)) == 0);      // 4 to a set
  CHECK(panel_of(target, maps(8, 320, 320)) == 512);
  CHECK(panel_of(target, maps(16, 320, 320, 4)) == 0);  // too few rows read a panel
  CHECK(panel_of(target, maps(256, 64, 64)) == 0);      // rows of a panel would be shorter than 4 vectors
  CHECK(panel_of(target, maps(64, 16, 16)) == 0);       // four panels are a small image
  CHECK(panel_of(target, open_maps(16)) == 256);
  CHECK(panel_of(target, {.c = 16, .h = 320, .w = 320}) == 0);  // a filter slides over it
}

TEST_CASE("a machine without a second level of cache copies no panels") {
  Target target = with_eight_ways();
  target.l2_bytes = target.l1_bytes;
  CHECK(panel_of(target, maps(16, 320, 320)) == 0);
}

TEST_CASE("what reads copied panels keeps its numbers, at all sizes of an open image") {
  arith::Context context;
  Target target = with_eight_ways();
  target.l1_bytes = 4096, target.l2_bytes = 8192;
  SECTION("fixed") {
    const auto shape = GENERATE(maps(16, 32, 32, 12), maps(16, 48, 32, 9), maps(12, 32, 64, 8));
    const testing::Scheduled made = testing::scheduled(context, target, shape);
    INFO(tir::to_string(made.after));
    REQUIRE(made.after.schedule.steps.find("cache_read x ") != std::string::npos);
    testing::check_same_numbers(made, {});
  }
  SECTION("open") {
    const testing::Scheduled made = testing::scheduled(context, target, open_maps(16, 12));
    INFO(tir::to_string(made.after));
    REQUIRE(made.after.schedule.steps.find("cache_read x ") != std::string::npos);
    const auto [height, width] = GENERATE(table<int64_t, int64_t>({{1, 1}, {2, 3}, {31, 33}, {8, 4}, {5, 13}, {0, 7}}));
    testing::check_same_numbers(made, {height, width});
  }
}

}  // namespace
}  // namespace relaxc
