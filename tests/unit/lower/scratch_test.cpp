// hoist_scratch: whose memory the temporaries of kernels are.
#include <catch2/catch.hpp>

#include "compiler/tir/visit.h"
#include "tests/unit/lower/harness.h"

namespace relaxc::test {
namespace {

TEST_CASE("iterations of a parallel loop have scratch of their own") {
  Program program(R"(
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def rows(a: T.handle, b: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n, 100), "float32")
        B = T.match_buffer(b, (n, 100), "float32")
        for i in T.parallel(n):
            row = T.decl_buffer((100,), "float32")
            for j in range(100):
                row[j] = A[i, j] * T.float32(2)
            for j in range(100):
                B[i, j] = row[99 - j]

    @R.function
    def main(x: R.Tensor(("n", 100), "float32")) -> R.Tensor(("n", 100), "float32"):
        n = T.int64()
        y = R.call_tir(Module.rows, (x,), out_sinfo=R.Tensor((n, 100), "float32"))
        return y
)");
  INFO(program.messages());
  REQUIRE(program.ok());
  INFO(program.text_of("rows"));
  CHECK(program.arena_bytes({5}) >= 5 * 400);
  check_same(program, {floats({5, 100}, -3)});
}

}  // namespace
}  // namespace relaxc::test
