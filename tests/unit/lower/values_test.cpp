// values_test.cpp: guards that follow from others are not there, and those that stay say what they are about.
#include <catch2/catch.hpp>

#include "tests/unit/lower/harness.h"

namespace relaxc::test {
namespace {

size_t count_of(const std::string& words, const std::string& text) {
  size_t count = 0;
  for (size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) ++count;
  return count;
}

/// But those of sizes that must fit the address space.
size_t guards_in(const std::string& text) {
  return count_of("T.guard(", text) - count_of("code=20,", text);
}

TEST_CASE("sizes of inputs and outputs are guarded, except where bounds exclude that they overflow") {
  auto guards = [](const std::string& bounds) {
    Program program(R"(
@R.function
def main(x: R.Tensor(("n", "m"), "float32"), y: R.Tensor(("k",), "float32")):
    R.func_attr({)" +
                    bounds + R"(})
    z = R.multiply(R.expand_dims(y, axis=[1, 2]), x)
    return z
)");
    INFO(program.messages());
    REQUIRE(program.ok());
    return count_of("code=20,", program.text_of(program.entry().shapes));
  };
  CHECK(guards("") == 3);
  CHECK(guards(R"("tir_var_upper_bound": {"n": 4096, "m": 4096})") == 2);
  CHECK(guards(R"("tir_var_upper_bound": {"n": 4096, "m": 4096, "k": 4096})") == 0);
}

TEST_CASE("an equality that was checked is not checked again, nor what follows from it") {
  Program program(R"(
@R.function
def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("m",), "float32"), z: R.Tensor(("k",), "float32")):
    n, m = T.int64(), T.int64()
    y1 = R.match_cast(y, R.Tensor((n,), "float32"))
    y2 = R.match_cast(y, R.Tensor((n,), "float32"))
    a = R.reshape(x, (m,))
    z1 = R.match_cast(z, R.Tensor((m * 2,), "float32"))
    c = R.reshape(z1, (2, n))
    return (R.add(y1, y2), a, c)
)");
  INFO(program.messages());
  REQUIRE(program.ok());
  CHECK(guards_in(program.text_of(program.entry().shapes)) == 2);
  CHECK(guards_in(program.text_of(program.entry().call)) == 0);
}

TEST_CASE("declared bounds prove guards") {
  auto guards = [](const std::string& bounds) {
    Program program(R"(
@R.function
def main(x: R.Tensor(("n",), "float32"), k: R.Prim("int64")):
    R.func_attr({)" +
                    bounds + R"(})
    n = T.int64()
    y = R.zeros(R.shape([k - 1]), "float32")
    return y
)");
    INFO(program.messages());
    REQUIRE(program.ok());
    return guards_in(program.text_of(program.entry().shapes));
  };
  CHECK(guards("") == 1);  // that k - 1 is not negative
  CHECK(guards(R"("tir_var_lower_bound": {"k": 1})") == 0);
}

TEST_CASE("what an if asks is known in its branches, and only there") {
  Program program(R"(
@R.function
def main(x: R.Tensor(("n",), "float32"), k: R.Prim("int64")):
    n = T.int64()
    if k > 0:
        y = R.sum(R.zeros(R.shape([k]), "float32"))
    else:
        y = R.sum(x)
    return y
)");
  INFO(program.messages());
  REQUIRE(program.ok());
  CHECK(guards_in(program.text_of(program.entry().call)) == 0);
}

}  // namespace
}  // namespace relaxc::test
