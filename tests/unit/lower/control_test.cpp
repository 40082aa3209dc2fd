// Branches, calls, externals, data-dependent sizes.
#include <catch2/catch.hpp>
#include <cstring>

#include "tests/unit/lower/harness.h"

namespace relaxc::test {
namespace {

TEST_CASE("the branch that the condition chooses gives the result") {
  Program program(R"(
@R.function
def main(x: R.Tensor(("n",), "float32"), c: R.Tensor((), "bool")) -> R.Tensor(("n",), "float32"):
    n = T.int64()
    if c:
        a = R.nn.relu(x)
        r = R.add(a, a)
    else:
        b = R.negative(x)
        r = R.multiply(b, x)
    z = R.add(r, x)
    return z
)");
  INFO(program.messages());
  REQUIRE(program.ok());
  for (double c : {0, 1}) check_same(program, {floats({7}, -1), tensor(DType::boolean(), {}, {c})});
}

TEST_CASE("branches of different shape are joined by a match_cast") {
  Program program(R"(
@R.function
def main(x: R.Tensor(("n", 4), "float32"), c: R.Tensor((), "bool")):
    n = T.int64()
    m = T.int64()
    if c:
        r = R.flatten(x)
    else:
        r = R.sum(x, axis=[0])
    z = R.match_cast(r, R.Tensor((m,), "float32"))
    y = R.exp(z)
    return y
)");
  INFO(program.messages());
  REQUIRE(program.ok());
  for (double c : {0, 1})
    for (int64_t n : {1, 3}) check_same(program, {floats({n, 4}, -1), tensor(DType::boolean(), {}, {c})});
  INFO(program.text_of(program.entry().call));
  CHECK(program.lowered({floats({3, 4}), tensor(DType::boolean(), {}, {1})}, 11).code == 33);
  CHECK(program.lowered({floats({3, 4}), tensor(DType::boolean(), {}, {0})}, 4).code == 0);
}

TEST_CASE("a function calls a function with its own symbols") {
  Program program(R"(
@I.ir_module
class Module:
    @R.function(private=True)
    def twice(a: R.Tensor(("p", "q"), "float32")) -> R.Tensor(("p * q",), "float32"):
        p = T.int64()
        q = T.int64()
        s = R.add(a, a)
        e = R.exp(s)
        f = R.multiply(e, s)
        r = R.reshape(f, R.shape([p * q]))
        return r
    @R.function
    def main(x: R.Tensor(("n", 4), "float32")) -> R.Tensor(("n * 4",), "float32"):
        n = T.int64()
        h = R.nn.relu(x)
        r = Module.twice(h)
        z = R.negative(r)
        return z
)");
  INFO(program.messages());
  REQUIRE(program.ok());
  for (int64_t n : {1, 6}) check_same(program, {floats({n, 4}, -1)});
}

TEST_CASE("one external function and one external shape function") {
  Program program(R"(
@R.function
def main(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
    n = T.int64()
    with R.dataflow():
        y = R.call_dps_packed("scale", (x,), out_sinfo=R.Tensor((n,), "float32"))
        z = R.add(y, x)
        R.output(z)
    return z
)");
  program.external = [](const std::string& name, std::span<const tir::ExternalArg> args) {
    if (name != "scale" || args.size() != 2) return 1;
    const auto* from = static_cast<const float*>(args[0].data);
    auto* to = static_cast<float*>(args[1].data);
    for (int64_t i = 0; i < args[0].shape[0]; ++i) to[i] = from[i] * 3;
    return 0;
  };
  INFO(program.messages());
  REQUIRE(program.ok());
  check_same(program, {floats({5}, -1)});
  REQUIRE(program.object().externals.size() == 1);
}

}  // namespace
}  // namespace relaxc::test
