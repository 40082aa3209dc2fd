// Products, convolutions, pools and normalizations, against sums written out by hand.
#include <catch2/catch.hpp>
#include <cmath>

#include "runtime-lite/include/relax_rt.h"
#include "tests/unit/ops/harness.h"

using namespace relaxc;
using namespace relaxc::test;

namespace {

using Ints = std::vector<int64_t>;

}  // namespace

TEST_CASE("matrix products of all ranks") {
  HostTensor a = floats({2, 3}, count(6, 1)), b = floats({3, 2}, count(6, 1)), v = floats({3}, {1, 2, 3});
  check(run_op("matmul", {a, b}), {2, 2}, {22, 28, 49, 64});
  check(run_op("matmul", {a, v}), {2}, {14, 32});
  check(run_op("matmul", {v, b}), {2}, {22, 28});
  check(run_op("matmul", {v, v}), {}, {14});
  check(run_op("matmul", {floats({2, 1, 1, 2}, {1, 2, 3, 4}), floats({3, 2, 1}, count(6, 1))}), {2, 3, 1, 1},
        {5, 11, 17, 11, 25, 39});
  check(run_op("matmul", {floats({2, 0}, {}), floats({0, 1}, {})}), {2, 1}, {0, 0});
  check(run_op("matmul", {tensor(DType::f(16), {1, 2}, {1, 2048}), tensor(DType::f(16), {2, 1}, {1, 1})}), {1, 1},
        {2048}, 0);
  HostTensor bytes = tensor(DType::i(8), {1, 2}, {100, 100});
  check(run_op("matmul", {bytes, tensor(DType::i(8), {2, 1}, {100, 100})}, {{"out_dtype", std::string("int32")}}),
        {1, 1}, {20000});
  CHECK(error_of("matmul", {a, a}) == "matmul of [2, 3] and [2, 3]: inner dims 3 and 2 differ");
}

TEST_CASE("inner dims that are symbols are compared when the product runs") {
  Program p;
  Value* a = p.input(floats({1, 2}, {1, 2}), {p.index(1), p.symbol("n")});
  Value* b = p.input(floats({3, 1}, {1, 2, 3}), {p.symbol("m"), p.index(1)});
  CHECK(p.code({p.call("matmul", {a, b})}) == RLX_DERIVED_DIM);
}

TEST_CASE("convolutions with strides, pads, dilations and groups") {
  HostTensor x = floats({1, 1, 3, 3}, count(9, 1)), k = floats({1, 1, 2, 2}, {1, 2, 3, 4});
  check(run_op("nn.conv", {x, k}), {1, 1, 2, 2}, {37, 47, 67, 77});
  check(run_op("nn.conv", {x, k}, {{"padding", Ints{1, 0, 0, 1}}, {"strides", Ints{2, 1}}}), {1, 1, 2, 3},
        {11, 18, 9, 67, 77, 33});
  check(run_op("nn.conv", {x, k}, {{"dilation", Ints{2}}}), {1, 1, 1, 1}, {1 + 6 + 21 + 36});
  // Two groups: channel 0 by weight 2, channel 1 by weight 3.
  check(run_op("nn.conv", {floats({1, 2, 2}, {1, 2, 3, 4}), floats({2, 1, 1}, {2, 3})}, {{"groups", 2}}), {1, 2, 2},
        {2, 4, 9, 12});
  check(run_op("nn.conv", {floats({1, 1, 2, 2, 2}, count(8)), floats({1, 1, 2, 2, 2}, std::vector<double>(8, 1))}),
        {1, 1, 1, 1, 1}, {28});
  CHECK(error_of("nn.conv", {x, floats({1, 2, 2, 2}, count(8))}) ==
        "'nn.conv' of 1 channels with weights for 2 in 1 groups");
  CHECK(error_of("nn.conv", {x, floats({1, 1, 5, 1}, count(5))}) ==
        "'nn.conv': a window of 5 is larger than spatial dim 0, which is 3 with padding");
}

TEST_CASE("a convolution of a symbolic image checks that a window fits") {
  for (int64_t n : {3, 1}) {
    Program p;
    Value* x = p.input(floats({1, 1, n}, count(static_cast<size_t>(n), 1)), {p.index(1), p.index(1), p.symbol("n")});
    Value* y = p.call("nn.conv", {x, p.input(floats({1, 1, 2}, {1, 1}))});
    CHECK(p.code({y}) == (n == 3 ? 0 : RLX_DERIVED_DIM));
  }
}

TEST_CASE("transposed convolutions scatter each input over a window") {
  HostTensor x = floats({1, 1, 3}, {1, 2, 3}), k = floats({1, 1, 2}, {10, 1});
  check(run_op("nn.conv_transpose", {x, k}), {1, 1, 4}, {10, 21, 32, 3});
  check(run_op("nn.conv_transpose", {x, k}, {{"strides", Ints{2}}}), {1, 1, 6}, {10, 1, 20, 2, 30, 3});
  check(run_op("nn.conv_transpose", {x, k}, {{"strides", Ints{3}}, {"output_padding", Ints{1}}}), {1, 1, 9},
        {10, 1, 0, 20, 2, 0, 30, 3, 0});
  check(run_op("nn.conv_transpose", {x, k}, {{"strides", Ints{2}}, {"padding", Ints{1, 0}}}), {1, 1, 5},
        {1, 20, 2, 30, 3});
  check(run_op("nn.conv_transpose", {x, k}, {{"dilation", Ints{2}}}), {1, 1, 5}, {10, 20, 31, 2, 3});
  // Two groups of one input channel with two outputs each.
  check(run_op("nn.conv_transpose", {floats({1, 2, 1}, {1, 2}), floats({2, 2, 1}, {1, 2, 3, 4})}, {{"groups", 2}}),
        {1, 4, 1}, {1, 2, 6, 8});
  // [[1 2] [3 4]] over a 2 x 2 window of ones: each element sums what covers it.
  check(run_op("nn.conv_transpose", {floats({1, 1, 2, 2}, {1, 2, 3, 4}), floats({1, 1, 2, 2}, {1, 1, 1, 1})}),
        {1, 1, 3, 3}, {1, 3, 2, 4, 10, 6, 3, 7, 4});
}

TEST_CASE("pools") {
  HostTensor x = floats({1, 1, 5}, {1, 5, 2, 4, 3});
  check(run_op("nn.max_pool", {x}, {{"pool_size", Ints{2}}, {"strides", Ints{2}}}), {1, 1, 2}, {5, 4});
  check(run_op("nn.max_pool", {x}, {{"pool_size", Ints{2}}, {"strides", Ints{2}}, {"ceil_mode", true}}), {1, 1, 3},
        {5, 4, 3});
  check(run_op("nn.max_pool", {x}, {{"pool_size", Ints{3}}, {"padding", Ints{1, 1}}}), {1, 1, 5}, {5, 5, 5, 4, 4});
  check(run_op("nn.max_pool", {x}, {{"pool_size", Ints{2}}, {"dilation", Ints{3}}}), {1, 1, 2}, {4, 5});
  auto both = run_op_all("nn.max_pool", {x}, {{"pool_size", Ints{3}}, {"strides", Ints{2}}, {"indices", true}});
  check(both.at(0), {1, 1, 2}, {5, 4});
  check(both.at(1), {1, 1, 2}, {1, 3});
  HostTensor y = floats({1, 1, 2, 3}, {1, 9, 2, 8, 3, 4});
  Attrs column{{"pool_size", Ints{2, 2}}, {"indices", true}, {"storage_order", 1}};
  check(run_op_all("nn.max_pool", {y}, column).at(1), {1, 1, 1, 2}, {2, 2});
  check(run_op("nn.avg_pool", {x}, {{"pool_size", Ints{3}}, {"padding", Ints{1, 1}}}), {1, 1, 5},
        {3, 8.0 / 3, 11.0 / 3, 3, 3.5});
  check(run_op("nn.avg_pool", {x}, {{"pool_size", Ints{3}}, {"padding", Ints{1, 1}}, {"count_include_pad", true}}),
        {1, 1, 5}, {2, 8.0 / 3, 11.0 / 3, 3, 7.0 / 3});
  check(run_op("nn.avg_pool", {x}, {{"pool_size", Ints{2}}, {"strides", Ints{2}}, {"ceil_mode", true}}), {1, 1, 3},
        {3, 3, 3});
  check(run_op("nn.lp_pool", {floats({1, 1, 2}, {3, -4})}, {{"pool_size", Ints{2}}}), {1, 1, 1}, {5});
}

TEST_CASE("inverses are found whichever row has the pivot, and for every matrix of a batch") {
  HostTensor x = floats({2, 2, 2}, {0, 2, 4, 0, 1, 2, 3, 4});
  check(run_op("inverse", {x}), {2, 2, 2}, {0, 0.25, 0.5, 0, -2, 1, 1.5, -0.5});
  CHECK_THROWS_WITH(run_op("inverse", {floats({2}, {1, 2})}), Catch::Contains("square matrices"));
  CHECK_THROWS(run_op("inverse", {floats({2, 3}, {1, 2, 3, 4, 5, 6})}));
}

TEST_CASE("rotary embeddings turn pairs of halves or of neighbours, by an angle a pair or a channel") {
  auto x = floats({1, 4}, {1, 2, 3, 4}), cosine = floats({2}, {0, 1}), sine = floats({2}, {1, 0});
  check(run_op("nn.rotary_embedding", {x, cosine, sine}), {1, 4}, {-3, 2, 1, 4});
  check(run_op("nn.rotary_embedding", {x, cosine, sine}, {{"interleaved", true}}), {1, 4}, {-2, 1, 3, 4});
  auto cosines = floats({4}, {0, 1, 0, 1}), sines = floats({4}, {1, 0, 1, 0});
  check(run_op("nn.rotary_embedding", {x, cosines, sines}), {1, 4}, {-3, 2, 1, 4});
}

TEST_CASE("normalizations") {
  HostTensor x = floats({1, 2, 2}, {1, 3, 2, 6});
  HostTensor gamma = floats({2}, {2, 3}), beta = floats({2}, {1, -1});
  // Channel 0: (x - 1) / 2 * 2 + 1; channel 1: (x - 2) / 3 * 3 - 1.
  check(run_op("nn.batch_norm", {x, gamma, beta, floats({2}, {1, 2}), floats({2}, {4, 9})}, {{"epsilon", 0.0}}),
        {1, 2, 2}, {1, 3, -1, 3});
  // Rows (1, 3) and (2, 6) have mean 2 and 4, variance 1 and 4.
  check(run_op("nn.layer_norm", {x, gamma, beta}, {{"epsilon", 0.0}}), {1, 2, 2}, {-1, 2, -1, 2});
  check(run_op("nn.layer_norm", {x}, {{"epsilon", 3.0}}), {1, 2, 2},
        {-0.5, 0.5, -2 / std::sqrt(7.0), 2 / std::sqrt(7.0)});
  check(run_op("nn.instance_norm", {x, gamma, beta}, {{"epsilon", 0.0}}), {1, 2, 2}, {-1, 3, -4, 2});
  check(run_op("nn.group_norm", {x, gamma, beta}, {{"num_groups", 2}, {"epsilon", 0.0}}), {1, 2, 2}, {-1, 3, -4, 2});
  // All four: mean 3, variance 3.5.
  double s = std::sqrt(3.5);
  check(run_op("nn.group_norm", {x}, {{"num_groups", 1}, {"epsilon", 0.0}}), {1, 2, 2}, {-2 / s, 0, -1 / s, 3 / s});
  check(run_op("nn.rms_norm", {floats({1, 2}, {3, 4})}, {{"epsilon", 0.0}}), {1, 2},
        {3 / std::sqrt(12.5), 4 / std::sqrt(12.5)});
  // Size 3, alpha 3, bias 1, beta 1: x / (1 + sum of squares around).
  check(run_op("nn.lrn", {floats({1, 3, 1}, {1, 2, 3})}, {{"size", 3}, {"alpha", 3.0}, {"beta", 1.0}}), {1, 3, 1},
        {1.0 / 6, 2.0 / 15, 3.0 / 14});
}

TEST_CASE("sums of products of 16-bit data are exact in int64") {
  HostTensor x = tensor(DType::i(16), {1, 2, 2}, {32767, -32768, 1, 2});
  HostTensor weight = tensor(DType::i(8), {1, 2, 1}, {127, -128});
  check(run_op("nn.conv_integer", {x, weight}, {{"out_dtype", DType::i(64)}}), {1, 2, 1},
        {32767.0 * 127 + 32768.0 * 128, 127 - 256});
  check(run_op("nn.conv_integer", {x, weight}), {1, 2, 1}, {32767.0 * 127 + 32768.0 * 128, 127 - 256});
  CHECK(error_of("nn.conv_integer", {x, weight}, {{"out_dtype", DType::i(16)}}) ==
        "'nn.conv_integer' to int16; it sums in int32 or int64");
}
