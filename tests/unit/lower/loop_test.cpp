// Loops: carried values, carried dims, conditions, scan outputs; and sizes that only data decides.
#include <catch2/catch.hpp>

#include "tests/unit/lower/harness.h"

namespace relaxc::test {
namespace {

TEST_CASE("a loop carries values of fixed shape") {
  Program program(R"(
@R.function
def main(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
    n = T.int64()
    with R.loop(5, carried=(x,)) as (i, a):
        b = R.multiply(a, x)
        c = R.add(b, a)
        r = R.carry(c)
    z = R.negative(r)
    return z
)");
  INFO(program.messages());
  REQUIRE(program.ok());
  for (int64_t n : {0, 1, 4}) check_same(program, {floats({n}, -0.5)});
}

TEST_CASE("a loop carries a dim that grows, within a bounded trip count") {
  Program program(R"(
@R.function
def main(x: R.Tensor(("n", 2), "float32")):
    n = T.int64()
    k = T.int64()
    with R.loop(3, carried=(x,), sinfo_args=(R.Tensor((k, 2), "float32"),)) as (i, a):
        b = R.concat((a, x), axis=0)
        c = R.exp(b)
        r = R.carry(c)
    return r
)");
  INFO(program.messages());
  REQUIRE(program.ok());
  INFO(program.text_of(program.entry().call));
  for (int64_t n : {0, 1, 4}) check_same(program, {floats({n, 2}, -0.5)});
  CHECK(program.lowered({floats({2, 2})}, 15).code == 33);
}

TEST_CASE("what a loop carries has one memory where the next value can be written over the last") {
  Program program(R"(
@R.function
def main(x: R.Tensor((512, 4), "float32"), w: R.Tensor((4, 4), "float32")) -> R.Tensor((512, 4), "float32"):
    h = R.exp(x)
    s = R.negative(x)
    with R.loop(5, carried=(h, s)) as (i, a, b):
        c = R.matmul(a, w)
        d = R.matmul(c, w)
        e = R.add(b, d)
        f, g = R.carry(d, e)
    y = R.subtract(f, g)
    return y
)");
  INFO(program.messages());
  REQUIRE(program.ok());
  const std::string call = program.text_of(program.entry().call);
  INFO(call);
  CHECK(call.find("copy_float32") == std::string::npos);  // first values are made where they are carried
  CHECK(program.arena_bytes({}) <= 3 * 512 * 4 * 4);      // both, and the product
  check_same(program, {floats({512, 4}, -0.5), floats({4, 4}, -0.25)});
}

TEST_CASE("what is read after the next value was made has a memory of its own") {
  Program program(R"(
@R.function
def main(x: R.Tensor((64,), "float32"), y: R.Tensor((64,), "float32")):
    with R.loop(5, carried=(x, y, y)) as (i, a, b, c):
        d = R.add(a, b)
        e = R.multiply(a, c)
        f = R.strided_slice(c, axes=[0], begin=[0], end=[32])
        g = R.add(c, d)
        p, q, r, s = R.carry(d, a, g, scan=(f,))
    return (p, q, r, s)
)");
  INFO(program.messages());
  REQUIRE(program.ok());
  INFO(program.text_of(program.entry().call));
  check_same(program, {floats({64}, -0.5), floats({64}, 0.25)});
}

TEST_CASE("a trip count that is a constant tensor bounds what the loop carries and collects") {
  Program program(R"(
@R.function
def main(x: R.Tensor(("n", 2), "float32")):
    n = T.int64()
    k = T.int64()
    with R.loop(R.const(3, "int64"), carried=(x,), sinfo_args=(R.Tensor((k, 2), "float32"),)) as (i, a):
        b = R.concat((a, x), axis=0)
        c = R.exp(b)
        d = R.sum(c)
        r, s = R.carry(c, scan=(d,))
    return (r, s)
)");
  INFO(program.messages());
  REQUIRE(program.ok());
  const std::string call = program.text_of(program.entry().call);
  INFO(call);
  CHECK(call.find("rlx_heap") == std::string::npos);
  for (int64_t n : {0, 1, 4}) check_same(program, {floats({n, 2}, -0.5)});
}

TEST_CASE("a loop ends when its condition fails, and collects scan outputs") {
  Program program(R"(
@R.function
def main(x: R.Tensor((3,), "float32"), limit: R.Tensor((), "float32")):
    with R.loop(10, carried=(x,)) as (i, a):
        b = R.add(a, x)
        s = R.sum(b)
        c = R.less(s, limit)
        r, t = R.carry(b, condition=c, scan=(b,))
    return (r, t)
)");
  INFO(program.messages());
  REQUIRE(program.ok());
  INFO(program.text_of(program.entry().call));
  for (double limit : {-1.0, 4.0, 9.0, 1000.0})
    check_same(program, {floats({3}, 0.25), tensor(DType::f(32), {}, {limit})});
}

TEST_CASE("a result whose size the data decides feeds an element-wise kernel") {
  Program program(R"(
@R.function
def main(x: R.Tensor(("n", 3), "float32")):
    n = T.int64()
    y = R.nonzero(x)
    z = R.add(y, y)
    return (z, y)
)");
  INFO(program.messages());
  REQUIRE(program.ok());
  INFO(program.text_of(program.entry().call));
  check_same(program, {tensor(DType::f(32), {2, 3}, {1, 0, 2, 0, 0, 5})});
  check_same(program, {tensor(DType::f(32), {2, 3}, {0, 0, 0, 0, 0, 0})});
  check_same(program, {tensor(DType::f(32), {1, 3}, {1, 1, 1})});
  CHECK(program.lowered({tensor(DType::f(32), {1, 3}, {1, 1, 1})}, 5).code == 33);
}

}  // namespace
}  // namespace relaxc::test
