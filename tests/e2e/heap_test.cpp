// heap_test.cpp: programs whose sizes nobody can bound, in memory that the caller's allocator gives.
#include <catch2/catch.hpp>

#include "tests/e2e/lender.h"

namespace relaxc::e2e {
namespace {

std::vector<HostTensor> inputs(int64_t n, double limit) {
  return {floats({n}, 0.5), tensor(DType::f(32), {}, {limit})};
}

TEST_CASE("sizes without a bound come out of the caller's allocator") {
  Road road("tests/e2e/programs/unbounded_loop.relax");
  Lender lender(road);
  CHECK(road.function().arena_max != UINT64_MAX);  // exact for the part that is planned
  for (int64_t n : {1, 2, 5})
    for (double limit : {-1.0, 4.0, 50.0, 2000.0}) road.run(inputs(n, limit));
  CHECK(lender.calls > 0);
  CHECK(lender.intact());
}

TEST_CASE("an allocator that is missing or fails ends the run with a code") {
  Road road("tests/e2e/programs/unbounded_loop.relax");
  CHECK_THAT(road.refusal(inputs(3, 50)), Catch::Contains("NO_ALLOCATOR"));
  for (int fail_at = 0; fail_at < 3; ++fail_at) {
    Lender lender(road);
    lender.fail_at = fail_at;
    CHECK_THAT(road.llvm().run(inputs(3, 20000)).index() == 1 ? std::get<1>(road.llvm().run(inputs(3, 20000))) : "",
               Catch::Contains("OUT_OF_MEMORY"));
    CHECK(lender.intact());
  }
}

TEST_CASE("a result that is too small for what was found says what it needs") {
  Road road("tests/e2e/programs/unbounded_loop.relax");
  Lender lender(road);
  CHECK_THAT(road.refusal(inputs(1, 60000)), Catch::Contains("DATA_CAPACITY"));
}

TEST_CASE("what is bounded asks no allocator") {
  Road road("tests/e2e/programs/nonzero.relax");
  Lender lender(road);
  lender.fail_at = 0;
  road.run({floats({4, 5}, -2)});
  CHECK(lender.calls == 0);
}

}  // namespace
}  // namespace relaxc::e2e
