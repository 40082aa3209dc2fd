#include <catch2/catch.hpp>

#include "runtime-lite/include/relax_rt.h"
#include "tests/unit/ops/harness.h"

using namespace relaxc;
using namespace relaxc::test;

namespace {

using Ints = std::vector<int64_t>;

HostTensor sliced(HostTensor x, Ints begin, Ints end, Ints strides, Ints axes) {
  Program p;
  Value* y = p.call("strided_slice", {p.input(std::move(x)), p.shape(begin), p.shape(end), p.shape(strides)},
                    {{"axes", axes}});
  return p.run({y}).at(0);
}

HostTensor padded(HostTensor x, Ints pads, std::string mode) {
  Program p;
  return p.run({p.call("pad", {p.input(std::move(x)), p.shape(pads), p.constant(floats({}, {9}))}, {{"mode", mode}})})
      .at(0);
}

}  // namespace

TEST_CASE("reshapes keep the elements in order") {
  Program p;
  Value* x = p.input(floats({2, 6}, count(12)));
  Value* y = p.call("reshape", {x, p.shape({3, -1, 2})});
  auto out = p.run({y, p.call("flatten", {y}, {{"start", 1}}), p.call("expand_dims", {x}, {{"axis", Ints{0, -1}}})});
  check(out[0], {3, 2, 2}, count(12));
  check(out[1], {3, 4}, count(12));
  check(out[2], {1, 2, 6, 1}, count(12));
  check(run_op("squeeze", {floats({1, 3, 1}, count(3))}), {3}, count(3));
  check(run_op("squeeze", {floats({1, 3, 1}, count(3))}, {{"axis", Ints{-1}}}), {1, 3}, count(3));
  CHECK(error_of("squeeze", {floats({3}, count(3))}, {{"axis", Ints{0}}}) ==
        "'squeeze' of axis 0 of [3], which is not 1");
}

TEST_CASE("a reshape to symbols is checked when it runs") {
  for (int64_t n : {12, 13}) {
    Program p;
    arith::Var var = p.symbol("n");
    Value* x = p.input(floats({n}, count(static_cast<size_t>(n))), {var});
    Value* y = p.call("reshape", {x, p.builder.shape({arith::floordiv(var, 4), p.index(4)})});
    CHECK(p.code({y}) == (n == 12 ? 0 : RLX_DERIVED_DIM));
  }
}

TEST_CASE("permutations, flips, tiles and repeats") {
  HostTensor x = floats({2, 3}, count(6));
  check(run_op("permute_dims", {x}), {3, 2}, {0, 3, 1, 4, 2, 5});
  check(run_op("permute_dims", {floats({1, 2, 3}, count(6))}, {{"axes", Ints{1, 2, 0}}}), {2, 3, 1}, count(6));
  check(run_op("flip", {x}, {{"axis", Ints{-1}}}), {2, 3}, {2, 1, 0, 5, 4, 3});
  check(run_op("repeat", {x}, {{"repeats", 2}, {"axis", 0}}), {4, 3}, {0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5});
  Program p;
  auto out = p.run({p.call("tile", {p.input(x), p.shape({2, 1, 2})}),
                    p.call("broadcast_to", {p.input(floats({2, 1}, {1, 2})), p.shape({2, 2, 3})}),
                    p.call("broadcast_to", {p.input(floats({2, 1}, {1, 2})), p.shape({1, 3})}, {{"mutual", true}})});
  check(out[0], {2, 2, 6}, {0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5, 0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5});
  check(out[1], {2, 2, 3}, {1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2});
  check(out[2], {2, 3}, {1, 1, 1, 2, 2, 2});
}

TEST_CASE("tensors are concatenated and split") {
  HostTensor a = floats({2, 1}, {1, 2}), b = floats({2, 2}, {3, 4, 5, 6}), none = floats({2, 0}, {});
  check(run_op("concat", {a, none, b}, {{"axis", -1}}), {2, 3}, {1, 3, 4, 2, 5, 6});
  check(run_op("stack", {a, a}, {{"axis", 1}}), {2, 2, 1}, {1, 1, 2, 2});
  auto parts = run_op_all("split", {floats({5}, count(5))}, {{"sections", 2}});
  check(parts.at(0), {3}, {0, 1, 2});
  check(parts.at(1), {2}, {3, 4});
  parts = run_op_all("split", {floats({2, 3}, count(6))}, {{"axis", 1}, {"indices", Ints{1}}});
  check(parts.at(0), {2, 1}, {0, 3});
  check(parts.at(1), {2, 2}, {1, 2, 4, 5});
  Program p;
  auto sized = p.run(p.call_many("split", {p.input(floats({4}, count(4))), p.shape({3, 0, 1})}));
  check(sized.at(0), {3}, {0, 1, 2});
  check(sized.at(1), {0}, {});
  check(sized.at(2), {1}, {3});
}

TEST_CASE("sizes of a split that are symbols must make up the axis") {
  for (double last : {1, 2, 3}) {
    Program p;
    Value* sizes = p.call("tensor_to_shape", {p.input(longs({2}, {2, last}))});
    auto parts = p.call_many("split", {p.input(floats({4}, count(4))), sizes});
    CHECK(p.code(parts) == (last == 2 ? 0 : RLX_DERIVED_DIM));
  }
}

TEST_CASE("slices count and cut like NumPy") {
  HostTensor x = floats({6}, count(6));
  constexpr int64_t kEnd = INT64_MAX;
  check(sliced(x, {1}, {4}, {1}, {0}), {3}, {1, 2, 3});
  check(sliced(x, {-3}, {kEnd}, {2}, {0}), {2}, {3, 5});
  check(sliced(x, {kEnd}, {-kEnd}, {-2}, {0}), {3}, {5, 3, 1});
  check(sliced(x, {-1}, {-4}, {-1}, {0}), {3}, {5, 4, 3});
  check(sliced(x, {4}, {2}, {1}, {0}), {0}, {});
  check(sliced(x, {-100}, {100}, {4}, {0}), {2}, {0, 4});
  check(sliced(floats({0}, {}), {0}, {3}, {1}, {0}), {0}, {});
  check(sliced(floats({2, 3}, count(6)), {1}, {3}, {1}, {-1}), {2, 2}, {1, 2, 4, 5});
}

TEST_CASE("starts, ends and strides of a slice may be symbols") {
  // x[a:b:s] for all small a, b, s, against the definition of Python's range.
  HostTensor x = floats({4}, count(4));
  for (int64_t a = -6; a <= 6; ++a)
    for (int64_t b = -6; b <= 6; b += 3)
      for (int64_t s : {-2, -1, 1, 3}) {
        Program p;
        arith::Var var = p.symbol("n");
        Value* t = p.input(x, {var});
        Value* bounds = p.call("tensor_to_shape", {p.input(longs({3}, {double(a), double(b), double(s)}))});
        const auto& dims = *bounds->info->as<relax::ShapeInfo>()->dims;
        Value* y = p.call("strided_slice",
                          {t, p.builder.shape({dims[0]}), p.builder.shape({dims[1]}), p.builder.shape({dims[2]})},
                          {{"axes", std::vector<int64_t>{0}}});
        std::vector<double> expected;
        auto clamp = [&](int64_t v, int64_t low, int64_t high) {
          return std::max(low, std::min(v < 0 ? v + 4 : v, high));
        };
        if (s > 0)
          for (int64_t i = clamp(a, 0, 4); i < clamp(b, 0, 4); i += s) expected.push_back(double(i));
        else
          for (int64_t i = clamp(a, -1, 3); i > clamp(b, -1, 3); i += s) expected.push_back(double(i));
        INFO(a << ":" << b << ":" << s);
        check(p.run({y}).at(0), {static_cast<int64_t>(expected.size())}, expected);
      }
}

TEST_CASE("pads in all modes") {
  HostTensor x = floats({3}, {1, 2, 3});
  check(padded(x, {2, 1}, "constant"), {6}, {9, 9, 1, 2, 3, 9});
  check(padded(x, {-1, 2}, "constant"), {4}, {2, 3, 9, 9});
  check(padded(x, {2, 1}, "edge"), {6}, {1, 1, 1, 2, 3, 3});
  check(padded(x, {5, 4}, "reflect"), {12}, {2, 1, 2, 3, 2, 1, 2, 3, 2, 1, 2, 3});
  check(padded(x, {2, 4}, "wrap"), {9}, {2, 3, 1, 2, 3, 1, 2, 3, 1});
  check(padded(floats({1}, {7}), {2, 1}, "reflect"), {4}, {7, 7, 7, 7});
  check(padded(x, {-1, 2}, "edge"), {4}, {2, 3, 3, 3});
  check(padded(x, {2, -1}, "reflect"), {4}, {3, 2, 1, 2});
  check(padded(x, {-4, 3}, "wrap"), {2}, {2, 3});  // nothing of the row is left
  check(padded(x, {4, -5}, "edge"), {2}, {1, 1});
  check(padded(floats({2, 2}, {1, 2, 3, 4}), {1, 1, 0, 2}, "edge"), {3, 5},
        {1, 1, 2, 2, 2, 1, 1, 2, 2, 2, 3, 3, 4, 4, 4});
  check(padded(floats({0, 2}, {}), {1, 0, 0, 1}, "constant"), {1, 3}, {9, 9, 9});
  check(padded(floats({2, 2}, {1, 2, 3, 4}), {0, 1, 1, 0}, "constant"), {3, 3}, {9, 1, 2, 9, 3, 4, 9, 9, 9});
}

TEST_CASE("space and depth change places") {
  HostTensor x = floats({1, 8, 1, 1}, count(8));
  // DCR: y[2h + i][2w + j] of channel c is x[(2i + j) * 2 + c]; CRD: x[c * 4 + 2i + j].
  check(run_op("depth_to_space", {x}, {{"block_size", 2}}), {1, 2, 2, 2}, {0, 2, 4, 6, 1, 3, 5, 7});
  check(run_op("depth_to_space", {x}, {{"block_size", 2}, {"mode", std::string("CRD")}}), {1, 2, 2, 2}, count(8));
  check(run_op("nn.pixel_shuffle", {x}, {{"upscale_factor", 2}}), {1, 2, 2, 2}, count(8));
  check(run_op("space_to_depth", {floats({1, 1, 2, 4}, count(8))}, {{"block_size", 2}}), {1, 4, 1, 2},
        {0, 2, 1, 3, 4, 6, 5, 7});
}
