#include <catch2/catch.hpp>
#include <limits>

#include "tests/unit/ops/harness.h"

using namespace relaxc;
using namespace relaxc::test;

namespace {
constexpr DType kU8 = DType::u(8), kI8 = DType::i(8);
}

TEST_CASE("quantizing rounds ties to even and clamps") {
  double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  HostTensor x = floats({8}, {0, 1, 3, 5, 1000, -1000, inf, nan}), half = floats({}, {2});
  // x / 2 = 0, 0.5, 1.5, 2.5, 500, -500 …; plus 128.
  check(run_op("quantize", {x, half, tensor(kU8, {}, {128})}), {8}, {128, 128, 130, 130, 255, 0, 255, 128});
  check(run_op("quantize", {x, half}, {{"out_dtype", kI8}}), {8}, {0, 0, 2, 2, 127, -128, 127, 0});
}

TEST_CASE("quantizing along an axis and back") {
  HostTensor x = floats({2, 2}, {1, 2, 3, 4}), scale = floats({2}, {1, 0.5}), zero = tensor(kI8, {2}, {1, -1});
  HostTensor rows = run_op("quantize", {x, scale, zero}, {{"axis", 0}, {"out_dtype", kI8}});
  check(rows, {2, 2}, {2, 3, 5, 7});
  check(run_op("dequantize", {rows, scale, zero}, {{"axis", 0}}), {2, 2}, {1, 2, 3, 4});
  check(run_op("dequantize", {tensor(DType::i(32), {1}, {-2147483648.0}), floats({1}, {2})}), {1}, {-4294967296.0});
  CHECK(error_of("dequantize", {rows, scale, tensor(kU8, {2}, {1, 1})}) ==
        "operand 'zero_point' of 'dequantize' is uint8, expected int8");
  CHECK(error_of("quantize", {x, floats({3}, {1, 1, 1})}) == "'quantize': places of 'scale' 2 and 3 differ");
}

TEST_CASE("words hold four rows of signed bytes, and products read them") {
  // Rows beyond the end are 0; unsigned bytes are less 128.
  HostTensor words = run_op("vnni_pack", {tensor(kI8, {3, 2}, {1, 2, -1, 3, -128, 127})});
  check(words, {1, 2}, {1 + 255 * 256 + 128 * 65536, 2 + 3 * 256 + 127 * 65536});
  check(run_op("vnni_pack", {tensor(kU8, {1, 2}, {128, 0})}), {1, 2}, {0, 128});
  HostTensor most = tensor(kU8, {1, 4}, {255, 255, 255, 255});
  check(run_op("nn.matmul_packed_i8", {most, words}), {1, 2}, {255 * -128, 255 * 132});
  HostTensor batch = tensor(kU8, {2, 1, 4}, {1, 0, 0, 9, 0, 0, 1, 200});
  check(run_op("nn.matmul_packed_i8", {batch, words}), {2, 1, 2}, {1, 2, -128, 127});
  CHECK(error_of("vnni_pack", {tensor(kU8, {2}, {1, 2})}) == "'vnni_pack' takes matrices, found 1 dims");
  CHECK(error_of("nn.matmul_packed_i8", {tensor(kU8, {1, 8}, {1, 2, 3, 4, 5, 6, 7, 8}), words}) ==
        "'nn.matmul_packed_i8': bytes of the words 8 and 4 differ");
}
