// Programs that hold the design to what comes later: states, values as shapes, shape functions, broadcasts, recursion.
#include <catch2/catch.hpp>

#include "tests/unit/lower/harness.h"

namespace relaxc::test {
namespace {

/// In place or apart, a state gives the same.
void check_state(const Program& program, const std::vector<HostTensor>& inputs) {
  Ended expected = program.interpreted(inputs);
  for (bool in_place : {false, true}) {
    Ended found = program.lowered(inputs, {}, in_place);
    INFO(program.text_of(program.entry().call));
    REQUIRE(found.code == 0);
    REQUIRE(expected.outputs == found.outputs);
  }
}

TEST_CASE("a state may be updated in place, whatever reads it") {
  Program program(R"(
@R.function
def main(x: R.Tensor((4,), "float32"), h: R.Tensor((4,), "float32")) -> R.Tuple(R.Tensor((4,), "float32"), R.Tensor((4,), "float32")):
    with R.dataflow():
        hn = R.add(x, h)
        d = R.subtract(hn, h)
        y = R.sum(d, axis=[0], keepdims=True)
        z = R.multiply(y, h)
        R.output(hn, z)
    return (z, hn)
)",
                  {"h:hn"});
  INFO(program.messages());
  REQUIRE(program.ok());
  REQUIRE(program.entry().inputs[1].pair == 1);
  REQUIRE(program.entry().outputs[1].pair == 1);
  check_state(program, {floats({4}, 1), floats({4}, -3)});
}

TEST_CASE("states that are exchanged are not overwritten before they are read") {
  Program program(R"(
@R.function
def main(a: R.Tensor((3,), "float32"), b: R.Tensor((3,), "float32")) -> R.Tuple(R.Tensor((3,), "float32"), R.Tensor((3,), "float32")):
    c = R.reshape(b, R.shape([3]))
    d = R.reshape(a, R.shape([3]))
    return (c, d)
)",
                  {"a:c", "b:d"});
  INFO(program.messages());
  REQUIRE(program.ok());
  check_state(program, {floats({3}, 1), floats({3}, -3)});
}

TEST_CASE("a state that names no input is reported") {
  Program program(R"(
@R.function
def main(a: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
    b = R.nn.relu(a)
    return b
)",
                  {"q:b"});
  CHECK_FALSE(program.ok());
  CHECK(program.messages().find("names no input") != std::string::npos);
}

TEST_CASE("the target of a reshape is an input") {
  Program program(R"(
@R.function
def main(x: R.Tensor(("n", 4), "float32"), target: R.Tensor((2,), "int64")):
    n = T.int64()
    s = R.tensor_to_shape(target)
    y = R.reshape(x, s)
    z = R.nn.relu(y)
    return z
)");
  INFO(program.messages());
  REQUIRE(program.ok());
  REQUIRE(program.entry().symbols.size() == 3);
  CHECK_FALSE(program.entry().values.empty());
  auto target = [](double a, double b) { return tensor(DType::i(64), {2}, {a, b}); };
  check_same(program, {floats({3, 4}, -1), target(6, 2)});
  check_same(program, {floats({3, 4}, -1), target(1, 12)});
  CHECK(program.lowered({floats({3, 4}), target(5, 2)}).code != 0);
}

TEST_CASE("two distinct symbols broadcast at run time") {
  Program program(R"(
@R.function
def main(x: R.Tensor(("a", 2), "float32"), y: R.Tensor(("b", 2), "float32")):
    z = R.add(x, y)
    w = R.nn.relu(z)
    return w
)");
  INFO(program.messages());
  REQUIRE(program.ok());
  check_same(program, {floats({3, 2}, -1), floats({3, 2}, -2)});
  check_same(program, {floats({1, 2}, -1), floats({3, 2}, -2)});
  check_same(program, {floats({3, 2}, -1), floats({1, 2}, -2)});
  CHECK(program.lowered({floats({3, 2}), floats({2, 2})}).code == 21);
}

TEST_CASE("a shape function is asked before the call, and its answer sizes the arena") {
  Program program(R"(
@R.function
def main(x: R.Tensor(("n",), "float32")):
    n = T.int64()
    m = T.int64()
    with R.dataflow():
        s = R.call_packed("half_of", R.shape([n]), sinfo_args=(R.Shape(ndim=1),))
        t = R.match_cast(s, R.Shape([m]))
        y = R.call_dps_packed("first", (x,), out_sinfo=R.Tensor((m,), "float32"))
        z = R.nn.relu(y)
        w = R.add(z, y)
        R.output(w)
    return w
)");
  program.external = [](const std::string& name, std::span<const tir::ExternalArg> args) {
    if (name == "half_of") {
      *static_cast<int64_t*>(args[1].data) = args[0].scalar / 2;
      return 0;
    }
    const auto* from = static_cast<const float*>(args[0].data);
    for (int64_t i = 0; i < args[1].shape[0]; ++i) static_cast<float*>(args[1].data)[i] = from[i] - 1;
    return 0;
  };
  INFO(program.messages());
  REQUIRE(program.ok());
  INFO(program.text_of(program.entry().call));
  Ended found = program.lowered({floats({7}, 0)});
  REQUIRE(found.code == 0);
  CHECK(found.outputs[0].shape == std::vector<int64_t>{3});
}

TEST_CASE("symbols of parameters of unknown shape come from the first match_cast") {
  Program program(R"(
from tvm.script import relax as R

@R.func
def main(x: R.Tensor[_, "f32"], y: R.Tensor[_, "f32"]):
    with R.dataflow():
        lv0: R.Tensor[(n, m)] = R.match_shape(x, (n, m))
        lv1: R.Tensor[(n, m)] = R.match_shape(y, (n, m))
        lv2: Shape = R.match_shape(R.shape_of(y), (n, m))
        R.outputs(lv1)
    return lv1
)");
  INFO(program.messages());
  REQUIRE(program.ok());
  check_same(program, {floats({2, 3}), floats({2, 3}, 5)});
  CHECK(program.lowered({floats({2, 3}), floats({2, 4}, 5)}).code != 0);
}

TEST_CASE("recursion in tail position is a loop") {
  Program program(R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n",), "float32"), limit: R.Tensor((), "float32")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        s = R.sum(x)
        c = R.less(s, limit)
        if c:
            y = R.add(x, x)
            r = Module.main(y, limit)
        else:
            r = R.negative(x)
        return r
)");
  INFO(program.messages());
  REQUIRE(program.ok());
  for (double limit : {-5.0, 10.0, 100.0}) check_same(program, {floats({4}, 0.5), tensor(DType::f(32), {}, {limit})});
}

TEST_CASE("the else branch may be the one that calls, with other shapes, up to a declared bound") {
  Program program(R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n",), "float32"), limit: R.Tensor((), "float32")) -> R.Tensor(ndim=1, dtype="float32"):
        R.func_attr({"tir_var_upper_bound": {"n": 64}})
        n = T.int64()
        s = R.sum(x)
        c = R.greater(s, limit)
        if c:
            r = R.negative(x)
        else:
            y = R.concat((x, x), axis=0)
            r = Module.main(y, limit)
        return r
)");
  INFO(program.messages());
  REQUIRE(program.ok());
  for (double limit : {-5.0, 10.0, 18.0}) check_same(program, {floats({4}, 0.5), tensor(DType::f(32), {}, {limit})});
}

}  // namespace
}  // namespace relaxc::test
