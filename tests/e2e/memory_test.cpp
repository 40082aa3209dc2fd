// Arenas of emitted objects, at every size that the program admits: the largest is enough for all, and a run stays in
// the one that it asked for (loaded models run between canaries), whichever plan its sizes choose.
#include <catch2/catch.hpp>

#include "tests/e2e/compile_and_run.h"

namespace relaxc::e2e {
namespace {

/// What both objects ask for at these values of the symbols; requires that it is within the largest.
uint64_t arena_at(const CompiledProgram& program, const std::vector<int64_t>& symbols) {
  uint64_t bytes = 0, same = 0;
  REQUIRE(program.function().arena_bytes(symbols.data(), &bytes) == RLX_OK);
  REQUIRE(program.c().function().arena_bytes(symbols.data(), &same) == RLX_OK);
  REQUIRE(bytes == same);
  REQUIRE(bytes <= program.function().arena_max);
  return bytes;
}

/// -1, 0 and 1, whose sums of products are exact in float32 here.
HostTensor signs(std::vector<int64_t> shape, int64_t seed) {
  HostTensor made{DType::f(32), shape, {}};
  std::vector<double> values;
  for (int64_t k = 0; k < made.elements(); ++k) values.push_back(static_cast<double>((k * 7 + k / 5 + seed) % 3 - 1));
  return tensor(made.dtype, made.shape, values);
}

TEST_CASE("the largest arena is enough for all lengths, and the plan follows the length") {
  constexpr int64_t kMost = 192;
  api::CompileOptions options;
  options.dims = {{"n", 1, kMost}};
  CompiledProgram program("tests/e2e/programs/attention.relax", options);
  std::vector<int64_t> bytes{0};
  for (int64_t n = 1; n <= kMost; ++n) bytes.push_back(static_cast<int64_t>(arena_at(program, {n})));
  CHECK(static_cast<uint64_t>(bytes.back()) == program.function().arena_max);
  // One plan would be one polynomial of degree two, in steps of 16 rows, which fill whole lines.
  bool several = false;
  for (size_t n = 16; n + 48 <= kMost; n += 16)
    several |= bytes[n + 48] - 3 * bytes[n + 32] + 3 * bytes[n + 16] != bytes[n];
  CHECK(several);
  for (int64_t n : {1, 2, 5, 16, 17, 33, 64, 100, 192})
    program.run({signs({n, 64}, 1), signs({64, 192}, 2), signs({64, 256}, 3), signs({256, 64}, 4)});
}

TEST_CASE("only some rows of a feature map that a pool reads are in the arena") {
  api::CompileOptions options;
  options.dims = {{"n", 1, 3}};
  CompiledProgram program("tests/e2e/programs/pooled_map.relax", options);
  CHECK(arena_at(program, {1}) <= 16 * 70 * 140 * sizeof(float));
  for (int64_t n : {1, 3}) program.run({signs({n, 2, 70, 140}, 1), signs({16, 2, 3, 3}, 2)});
}

TEST_CASE("the largest arena is enough for all images") {
  api::CompileOptions options;
  options.dims = {{"n", 1, 3}, {"h", 1, 21}, {"w", 1, 34}};
  CompiledProgram program("tests/e2e/programs/pyramid.relax", options);
  for (int64_t n = 1; n <= 3; ++n)
    for (int64_t h = 1; h <= 21; ++h)
      for (int64_t w = 1; w <= 34; ++w) arena_at(program, {n, h, w});
  for (auto [n, h, w] : {std::array<int64_t, 3>{1, 1, 1}, {3, 21, 34}, {1, 2, 33}, {2, 21, 1}, {1, 16, 16}, {3, 7, 8}})
    program.run({signs({n, 2, h, w}, 1), signs({4, 2, 3, 3}, 2), signs({8, 4, 3, 3}, 3), signs({24, 8, 3, 3}, 4)});
}

TEST_CASE("scratch memory aligned to cache lines can be in an output, at any address of it") {
  api::CompileOptions options;
  options.dims = {{"n", 1, 96}};
  CompiledProgram program("tests/e2e/programs/enlarged.relax", options);
  CHECK(arena_at(program, {96}) <= 3 * 2 * 96 * 16 * sizeof(float));  // the result of attention, and sums of it
  for (int64_t n : {1, 2, 15, 64, 96}) program.run({signs({2, n, 16}, 1), signs({2, n, 16}, 2), signs({2, n, 16}, 3)});
}

TEST_CASE("the stacked results of a loop and the results of branches need no memory of their own") {
  CompiledProgram program("tests/e2e/programs/stacked.relax");
  CHECK(program.function().arena_max == 2 * 64 * sizeof(float));  // the carried value, now and next
  for (double flag : {0.0, 1.0}) program.run({signs({64}, 1), tensor(DType::boolean(), {}, {flag})});
}

TEST_CASE("each of many parts with open dims is at its place in the whole") {
  constexpr int64_t kParts = 30;
  CompiledProgram program("tests/e2e/programs/many_parts.relax");
  for (int64_t step : {0, 1, 7}) {
    std::vector<HostTensor> parts;
    for (int64_t k = 0; k < kParts; ++k) parts.push_back(signs({(k * step) % 5}, k));
    program.run(parts);
  }
}

}  // namespace
}  // namespace relaxc::e2e
