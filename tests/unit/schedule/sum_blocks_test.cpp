// sum_blocks_test.cpp: where the terms of sums are added in blocks, and that this changes no number.
#include <catch2/catch.hpp>

#include "compiler/tir/print.h"
#include "tests/unit/schedule/scheduled_conv.h"

namespace relaxc {
namespace {

/// \param bytes  what a block may read
Target with_blocks_of(int64_t bytes) {
  Target target;
  target.vector_bits = 256, target.vector_registers = 16, target.has_fma = true;
  target.sum_block_bytes = bytes;
  return target;
}

using testing::scheduled;

/// The arguments of the step `block_sum`; empty if there is none.
std::string blocks_of(const Target& target, const testing::ConvShape& shape) {
  arith::Context context;
  const std::string steps = scheduled(context, target, shape).after.schedule.steps;
  const size_t at = steps.find("block_sum ");
  return at == std::string::npos ? "" : steps.substr(at + 10, steps.find(';', at) - at - 10);
}

testing::ConvShape pointwise(int64_t channels, int64_t side, int64_t out) {
  return {.c = channels, .h = side, .w = side, .out = out, .kernel = 1, .pad = 0};
}

TEST_CASE("long sums over small images go by blocks that stay in the first level, where a target says how large") {
  const Target target = with_blocks_of(34816);
  CHECK(blocks_of(with_blocks_of(0), pointwise(512, 7, 256)) == "");
  // 49 pixels and 16 channels of 4 bytes: 260 bytes a term, so 133 of them fit.
  CHECK(blocks_of(target, pointwise(512, 7, 256)) == "i1_i k0 128");
  CHECK(blocks_of(target, pointwise(960, 7, 160)) == "i1_i k0 120");
  CHECK(blocks_of(target, pointwise(160, 7, 960)) == "");   // more than stays, but not twice as much
  CHECK(blocks_of(target, pointwise(512, 28, 256)) == "");  // a block would have ten terms
  CHECK(blocks_of(target, pointwise(512, 7, 250)) == "");   // the last panel is narrower
  // Of 3x3 taps, channels are divided: 9 * 64 bytes of weights, and what the copy of the image has of a channel.
  CHECK(blocks_of(target, {.c = 512, .h = 14, .w = 14, .out = 512, .stride = 2}).substr(0, 8) == "i1_i k0 ");
  testing::ConvShape open = pointwise(512, 7, 256);
  open.open_rows = open.open_columns = true;
  CHECK(blocks_of(target, open) == "");  // nothing says how many pixels a block reads
}

TEST_CASE("sums in blocks keep their numbers, with a smaller last block as well") {
  arith::Context context;
  const auto shape = GENERATE(testing::ConvShape{.c = 160, .h = 5, .w = 5, .out = 32, .kernel = 1, .pad = 0},
                              testing::ConvShape{.c = 199, .h = 5, .w = 5, .out = 32, .kernel = 1, .pad = 0},
                              testing::ConvShape{.c = 23, .h = 9, .w = 9, .out = 96, .stride = 2});
  const testing::Scheduled made = scheduled(context, with_blocks_of(12000), shape);
  INFO(tir::to_string(made.after));
  REQUIRE(made.after.schedule.steps.find("block_sum") != std::string::npos);
  testing::check_same_numbers(made, {});
}

}  // namespace
}  // namespace relaxc
