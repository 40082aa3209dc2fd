// Straight-line functions: kernels, views, constants, results, symbols.
#include <catch2/catch.hpp>

#include "compiler/support/status_code.h"
#include "compiler/tir/visit.h"
#include "runtime-lite/include/relax_rt.h"
#include "tests/unit/lower/harness.h"

namespace relaxc::test {
namespace {

// Status numbers are those of the runtime's header.
static_assert(int{kTensorCount} == int{RLX_TENSOR_COUNT});
static_assert(int{kDtype} == int{RLX_DTYPE});
static_assert(int{kRank} == int{RLX_RANK});
static_assert(int{kStaticDim} == int{RLX_STATIC_DIM});
static_assert(int{kSymbolEquality} == int{RLX_SYMBOL_EQUALITY});
static_assert(int{kDerivedDim} == int{RLX_DERIVED_DIM});
static_assert(int{kDimBounds} == int{RLX_DIM_BOUNDS});
static_assert(int{kSizeOverflow} == int{RLX_SIZE_OVERFLOW});
static_assert(int{kBroadcast} == int{RLX_BROADCAST});
static_assert(int{kIndexRange} == int{RLX_INDEX_RANGE});
static_assert(int{kDataCapacity} == int{RLX_DATA_CAPACITY});
static_assert(int{kAssertion} == int{RLX_ASSERTION});
static_assert(int{kExternalFailed} == int{RLX_EXTERNAL_FAILED});
static_assert(int{kRecursionDepth} == int{RLX_RECURSION_DEPTH});
static_assert(int{kNodeLimit} == int{RLX_NODE_LIMIT});
static_assert(int{kOutOfMemory} == int{RLX_OUT_OF_MEMORY});
static_assert(int{kDataBound} == int{RLX_DATA_BOUND});

TEST_CASE("a chain of kernels gives the same bits as the graph") {
  Program program(R"(
@R.function
def main(x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4, 3), "float32")) -> R.Tensor(("n", 3), "float32"):
    n = T.int64()
    with R.dataflow():
        h = R.matmul(x, w)
        r = R.nn.relu(h)
        y = R.add(r, h)
        R.output(y)
    return y
)");
  INFO(program.messages());
  REQUIRE(program.ok());
  for (int64_t n : {0, 1, 5}) check_same(program, {floats({n, 4}, -2), floats({4, 3}, -1)});
}

TEST_CASE("a shape that differs from its symbol is refused before the call") {
  Program program(R"(
@R.function
def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("n * 2",), "float32")) -> R.Tensor(("n",), "float32"):
    n = T.int64()
    with R.dataflow():
        z = R.nn.relu(x)
        R.output(z)
    return z
)");
  INFO(program.messages());
  REQUIRE(program.ok());
  CHECK(program.lowered({floats({3}), floats({6})}).code == 0);
  CHECK(program.lowered({floats({3}), floats({5})}).code == 8);
}

TEST_CASE("constants, inputs and one value twice are returned by copies") {
  Program program(R"(
@R.function
def main(x: R.Tensor((2, 2), "float32")) -> R.Tuple(R.Tensor((2, 2), "float32"), R.Tensor((), "float32"), R.Tensor((2, 2), "float32"), R.Tensor((2, 2), "float32")):
    with R.dataflow():
        y = R.nn.relu(x)
        c = R.const(3.0, "float32")
        R.output(y, c)
    return (x, c, y, y)
)");
  INFO(program.messages());
  REQUIRE(program.ok());
  check_same(program, {floats({2, 2}, -0.5)});
}

TEST_CASE("a reshape on the way to a result costs no copy") {
  Program program(R"(
@R.function
def main(x: R.Tensor(("n", 4), "float32")) -> R.Tensor(("n * 4",), "float32"):
    n = T.int64()
    with R.dataflow():
        y = R.nn.relu(x)
        z = R.reshape(y, R.shape([n * 4]))
        R.output(z)
    return z
)");
  INFO(program.messages());
  REQUIRE(program.ok());
  CHECK(program.arena_bytes({7}) == 0);
  CHECK(program.text_of(program.entry().call).find("copy") == std::string::npos);
  check_same(program, {floats({3, 4}, -1)});
}

TEST_CASE("what a kernel allocates is placed in the arena by its caller") {
  Program program(R"(
@R.function
def main(x: R.Tensor(("n", 40), "float32")) -> R.Tensor(("n", 40), "float32"):
    n = T.int64()
    with R.dataflow():
        h = R.add(x, x)
        y = R.nn.softmax(h, axis=1)
        z = R.nn.softmax(y, axis=0)
        R.output(z)
    return z
)");
  INFO(program.messages());
  REQUIRE(program.ok());
  check_same(program, {floats({3, 40}, -2)});
  check_same(program, {floats({200, 40}, -2)});
  bool global = false;
  for (const tir::PrimFunc* function : program.module().prim_funcs())
    tir::for_each_stmt(function->body, [&](tir::Stmt s) {
      const auto* alloc = s.as<tir::Alloc>();
      global |= alloc != nullptr && alloc->buffer->scope == tir::Scope::kGlobal;
    });
  CHECK_FALSE(global);
}

}  // namespace
}  // namespace relaxc::test
