// Sizes without any bound: claimed from the run's heap, and given back.
#include <catch2/catch.hpp>

#include "runtime-lite/include/rlx_internal.h"
#include "tests/unit/lower/harness.h"

namespace relaxc::test {
namespace {

constexpr int64_t kRoom = 4096;  ///< elements given to a result whose size nobody knows

void check_same_with_room(const Program& program, const std::vector<HostTensor>& inputs) {
  INFO(program.text_of(program.entry().call));
  Ended expected = program.interpreted(inputs), found = program.lowered(inputs, kRoom);
  REQUIRE(expected.code == 0);
  REQUIRE(found.code == 0);
  REQUIRE(expected.outputs.size() == found.outputs.size());
  for (size_t i = 0; i < expected.outputs.size(); ++i) {
    CHECK(expected.outputs[i].shape == found.outputs[i].shape);
    CHECK(expected.outputs[i].bytes == found.outputs[i].bytes);
  }
}

/// Doubles a vector until its sum is large.
constexpr const char* kDoubling = R"(
@R.function
def main(x: R.Tensor((3,), "float32"), limit: R.Tensor((), "float32")):
    k = T.int64()
    go = R.const(True, "bool")
    with R.loop(condition=go, carried=(x,), sinfo_args=(R.Tensor((k,), "float32"),)) as (i, a):
        b = R.concat((a, a), axis=0)
        s = R.sum(b)
        c = R.less(s, limit)
        r = R.carry(b, condition=c)
    y = R.negative(r)
    return (r, y)
)";

static_assert(RLX_HEAP_DEPTH == 58, "recursion.cpp counts calls in word kHeapDepthWord");
static_assert(RLX_HEAP_NODES == 59 && RLX_HEAP_NODE_WORDS == 61 && RLX_HEAP_NODE_COUNT == 62,
              "nodes.cpp has the nodes' block and their numbers in words of these numbers");

TEST_CASE("a loop carries a value without a bound") {
  Program program(kDoubling);
  INFO(program.messages());
  REQUIRE(program.ok());
  INFO(program.text_of(program.entry().call));
  CHECK(program.entry().needs_allocator);
  CHECK(program.entry().arena_max < 4096);
  for (double limit : {-1.0, 3.0, 40.0, 500.0})
    check_same_with_room(program, {floats({3}, 0.5), tensor(DType::f(32), {}, {limit})});
  CHECK(program.lowered({floats({3}, 0.5), tensor(DType::f(32), {}, {500.0})}, 100).code == RLX_DATA_CAPACITY);
}

TEST_CASE("scan outputs grow while the condition holds") {
  Program program(R"(
@R.function
def main(x: R.Tensor(("n",), "float32"), limit: R.Tensor((), "float32")):
    n = T.int64()
    s0 = R.sum(x)
    go = R.less(s0, limit)
    with R.loop(condition=go, carried=(x,)) as (i, a):
        b = R.add(a, R.const(1.0, "float32"))
        s = R.sum(b)
        c = R.less(s, limit)
        last, all = R.carry(b, condition=c, scan=(a,))
    return (last, all)
)");
  INFO(program.messages());
  REQUIRE(program.ok());
  for (double limit : {-1.0, 3.0, 40.0, 200.0})
    for (int64_t n : {1, 4}) check_same_with_room(program, {floats({n}, 0.5), tensor(DType::f(32), {}, {limit})});
}

TEST_CASE("memory that depends on an unbounded value is claimed too") {
  Program program(R"(
@R.function
def main(x: R.Tensor((3,), "float32"), limit: R.Tensor((), "float32")):
    k = T.int64()
    m = T.int64()
    go = R.const(True, "bool")
    with R.loop(condition=go, carried=(x,), sinfo_args=(R.Tensor((k,), "float32"),)) as (i, a):
        b = R.concat((a, a), axis=0)
        s = R.sum(b)
        c = R.less(s, limit)
        r = R.carry(b, condition=c)
    q = R.nonzero(r)
    u = R.nonzero(q)
    p = R.nonzero(r)
    w = R.expand_dims(r, axis=1)
    o = R.sum(R.multiply(w, r), axis=0)
    return (u, p, o)
)");
  INFO(program.messages());
  REQUIRE(program.ok());
  for (double limit : {-1.0, 3.0, 40.0})
    check_same_with_room(program, {floats({3}, 0.0), tensor(DType::f(32), {}, {limit})});
}

TEST_CASE("a branch claims what only it can size") {
  Program program(R"(
@R.function
def main(x: R.Tensor((3,), "float32"), limit: R.Tensor((), "float32")):
    k = T.int64()
    j = T.int64()
    go = R.const(True, "bool")
    with R.loop(condition=go, carried=(x,), sinfo_args=(R.Tensor((k,), "float32"),)) as (i, a):
        b = R.concat((a, a), axis=0)
        s = R.sum(b)
        c = R.less(s, limit)
        r = R.carry(b, condition=c)
    total = R.sum(r)
    d = R.less(total, R.const(20.0, "float32"))
    if d:
        e = R.concat((r, x), axis=0)
        f: R.Tensor((j,), "float32") = e
    else:
        f: R.Tensor((j,), "float32") = x
    y = R.exp(f)
    return y
)");
  INFO(program.messages());
  REQUIRE(program.ok());
  for (double limit : {-1.0, 3.0, 40.0, 500.0})
    check_same_with_room(program, {floats({3}, 0.5), tensor(DType::f(32), {}, {limit})});
}

TEST_CASE("a callee leaves what it claimed to its caller") {
  Program program(R"(
@I.ir_module
class Module:
    @R.function(private=True)
    def double(x: R.Tensor(("n",), "float32"), limit: R.Tensor((), "float32")) -> R.Tensor(dtype="float32", ndim=1):
        n = T.int64()
        k = T.int64()
        go = R.const(True, "bool")
        with R.loop(condition=go, carried=(x,), sinfo_args=(R.Tensor((k,), "float32"),)) as (i, a):
            b = R.concat((a, a), axis=0)
            s = R.sum(b)
            c = R.less(s, limit)
            r = R.carry(b, condition=c)
        return r

    @R.function
    def main(x: R.Tensor((3,), "float32"), limit: R.Tensor((), "float32")):
        m = T.int64()
        p = T.int64()
        a: R.Tensor((m,), "float32") = Module.double(x, limit)
        b: R.Tensor((p,), "float32") = Module.double(a, limit)
        y = R.concat((a, b), axis=0)
        return y
)");
  INFO(program.messages());
  REQUIRE(program.ok());
  for (double limit : {-1.0, 3.0, 40.0, 500.0})
    check_same_with_room(program, {floats({3}, 0.5), tensor(DType::f(32), {}, {limit})});
}

TEST_CASE("a callee of unbounded arguments gets its memory from the heap") {
  Program program(R"(
@I.ir_module
class Module:
    @R.function(private=True)
    def ranks(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        a = R.sort(x, axis=0)
        b = R.cumsum(a, axis=0)
        c = R.sort(b, axis=0, descending=True)
        return c

    @R.function
    def main(x: R.Tensor((3,), "float32"), limit: R.Tensor((), "float32")):
        k = T.int64()
        go = R.const(True, "bool")
        with R.loop(condition=go, carried=(x,), sinfo_args=(R.Tensor((k,), "float32"),)) as (i, a):
            b = R.concat((a, x), axis=0)
            s = R.sum(b)
            c = R.less(s, limit)
            r = R.carry(b, condition=c)
        y = Module.ranks(r)
        z = Module.ranks(y)
        return z
)");
  INFO(program.messages());
  REQUIRE(program.ok());
  for (double limit : {-1.0, 3.0, 40.0})
    check_same_with_room(program, {floats({3}, 0.5), tensor(DType::f(32), {}, {limit})});
}

TEST_CASE("a loop in a loop gives back what an iteration claimed") {
  Program program(R"(
@R.function
def main(x: R.Tensor((3,), "float32"), limit: R.Tensor((), "float32")):
    k = T.int64()
    go = R.const(True, "bool")
    with R.loop(4, carried=(limit,)) as (o, bar):
        with R.loop(condition=go, carried=(x,), sinfo_args=(R.Tensor((k,), "float32"),)) as (i, a):
            b = R.concat((a, a), axis=0)
            s = R.sum(b)
            c = R.less(s, bar)
            r = R.carry(b, condition=c)
        t = R.sum(r)
        last = R.carry(t)
    return last
)");
  INFO(program.messages());
  REQUIRE(program.ok());
  for (double limit : {-1.0, 3.0, 40.0})
    check_same_with_room(program, {floats({3}, 0.5), tensor(DType::f(32), {}, {limit})});
}

TEST_CASE("the heap's record is as large as the runtime says") {
  Program program(kDoubling);
  REQUIRE(program.ok());
  std::string record = "heap = T.alloc_buffer((" + std::to_string(RLX_HEAP_WORDS) + ",), \"int64\"";
  std::string planned = "heap = T.decl_buffer((" + std::to_string(RLX_HEAP_WORDS) + ",), \"int64\"";
  std::string text = program.text_of(program.entry().call);
  INFO(text);
  CHECK((text.find(record) != std::string::npos || text.find(planned) != std::string::npos));
}

TEST_CASE("bounded functions do not use the heap") {
  Program program(R"(
@R.function
def main(x: R.Tensor(("n",), "float32")):
    n = T.int64()
    u = R.nonzero(x)
    p = R.nonzero(u)
    return p
)");
  INFO(program.messages());
  REQUIRE(program.ok());
  CHECK_FALSE(program.entry().needs_allocator);
  CHECK(program.text_of(program.entry().call).find("rlx_heap") == std::string::npos);
}

}  // namespace
}  // namespace relaxc::test
