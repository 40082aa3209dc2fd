// Operators whose meaning meets lowering in an uncommon way: loops that an expansion makes, shapes that become tensors,
// data-dependent extents, several results.
#include <catch2/catch.hpp>

#include "tests/unit/lower/harness.h"

namespace relaxc::test {
namespace {

TEST_CASE("an lstm over a sequence of symbolic length") {
  for (const char* direction : {"forward", "reverse", "bidirectional"}) {
    int64_t d = direction[0] == 'b' ? 2 : 1;
    std::string dirs = std::to_string(d);
    Program program(R"(
@R.function
def main(x: R.Tensor(("seq", "batch", 3), "float32"), w: R.Tensor(()" +
                    dirs + R"(, 8, 3), "float32"), r: R.Tensor(()" + dirs + R"(, 8, 2), "float32"),
         b: R.Tensor(()" +
                    dirs + R"(, 16), "float32")):
    seq = T.int64()
    batch = T.int64()
    y, h, c = R.nn.lstm(x, w, r, b, direction=")" +
                    direction + R"(")
    return (y, h, c)
)");
    INFO(program.messages());
    REQUIRE(program.ok());
    for (int64_t seq : {0, 1, 4})
      check_same(program, {floats({seq, 2, 3}, -3), floats({d, 8, 3}, -4), floats({d, 8, 2}, -2), floats({d, 16}, -2)});
  }
}

TEST_CASE("an lstm and a gru over sequences of different lengths") {
  Program program(R"(
@R.function
def main(x: R.Tensor(("seq", 2, 3), "float32"), w: R.Tensor((1, 8, 3), "float32"), r: R.Tensor((1, 8, 2), "float32"),
         b: R.Tensor((1, 16), "float32"), lengths: R.Tensor((2,), "int32"), v: R.Tensor((1, 6, 3), "float32"),
         u: R.Tensor((1, 6, 2), "float32"), k: R.Tensor((1, 12), "float32")):
    seq = T.int64()
    y, h, c = R.nn.lstm(x, w, r, b, lengths)
    z, g = R.nn.gru(x, v, u, k, lengths)
    return (y, h, c, z, g)
)");
  INFO(program.messages());
  REQUIRE(program.ok());
  check_same(program,
             {floats({3, 2, 3}, -3), floats({1, 8, 3}, -4), floats({1, 8, 2}, -2), floats({1, 16}, -2),
              tensor(DType::i(32), {2}, {3, 1}), floats({1, 6, 3}, -2), floats({1, 6, 2}, -1), floats({1, 12}, -1)});
}

TEST_CASE("means and norms over symbolic dims") {
  Program program(R"(
@R.function
def main(x: R.Tensor(("n", "m"), "float32"), g: R.Tensor(("m",), "float32")):
    n = T.int64()
    m = T.int64()
    a = R.mean(x, axis=[0])
    l = R.nn.layer_norm(x, g)
    s = R.nn.softmax(x, axis=0)
    e = R.log_sum_exp(x, axis=[1])
    return (a, l, s, e)
)");
  INFO(program.messages());
  REQUIRE(program.ok());
  check_same(program, {floats({3, 5}, -1), floats({5}, 1)});
  check_same(program, {floats({1, 1}, -1), floats({1}, 1)});
}

TEST_CASE("joins, cuts, paddings and gathers of symbolic dims") {
  Program program(R"(
@R.function
def main(x: R.Tensor(("n", 4), "float32"), i: R.Tensor(("k",), "int64")):
    n = T.int64()
    k = T.int64()
    a, b = R.split(x, sections=2, axis=1)
    c = R.concat(b, a, axis=0)
    t = R.take(c, i, axis=0)
    p = R.pad(t, R.shape([1, 0, 0, 2]))
    s = R.strided_slice(p, R.shape([-1]), R.shape([-1000000000000]), R.shape([-2]), axes=[0])
    return (c, t, p, s)
)");
  INFO(program.messages());
  REQUIRE(program.ok());
  check_same(program, {floats({3, 4}), tensor(DType::i(64), {4}, {0, 5, -1, 2})});
  check_same(program, {floats({1, 4}), tensor(DType::i(64), {0}, {})});
  CHECK(program.lowered({floats({1, 4}), tensor(DType::i(64), {1}, {2})}).code == 32);
}

TEST_CASE("what is not zero is gathered and scattered") {
  Program program(R"(
@R.function
def main(x: R.Tensor(("n", 3), "float32")):
    n = T.int64()
    at = R.nonzero(x)
    where = R.permute_dims(at)
    values = R.gather_nd(x, where)
    doubled = R.add(values, values)
    y = R.scatter_nd(x, where, doubled)
    return (at, y)
)");
  INFO(program.messages());
  REQUIRE(program.ok());
  check_same(program, {tensor(DType::f(32), {2, 3}, {0, 5, 0, 1, 0, 2})});
  check_same(program, {tensor(DType::f(32), {1, 3}, {0, 0, 0})});
  check_same(program, {floats({0, 3})});
}

TEST_CASE("sorts and windows") {
  Program program(R"(
@R.function
def main(x: R.Tensor(("n", 2, 6), "float32"), w: R.Tensor((3, 2, 2), "float32")):
    n = T.int64()
    v, i = R.topk(x, R.shape([3]))
    m, at = R.nn.max_pool(x, pool_size=[2], strides=[2], indices=True)
    a = R.nn.avg_pool(x, pool_size=[3], padding=[1, 1], ceil_mode=True, strides=[2])
    c = R.nn.conv(x, w, padding=[1, 0], dilation=[2])
    return (v, i, m, at, a, c)
)");
  INFO(program.messages());
  REQUIRE(program.ok());
  check_same(program, {floats({2, 2, 6}, -1), floats({3, 2, 2}, -1)});
}

}  // namespace
}  // namespace relaxc::test
