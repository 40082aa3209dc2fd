// functions_test.cpp: functions as the language has them, on the whole road: nested, captured, passed, chosen,
// returned, and calling themselves and each other.
#include <catch2/catch.hpp>

#include "tests/e2e/road.h"

using namespace relaxc;
using namespace relaxc::e2e;

namespace {

HostTensor int64(int64_t value) {
  return tensor(DType::i(64), {}, {static_cast<double>(value)});
}

}  // namespace

TEST_CASE("functions are values: nested, captured, chosen, passed, returned and in tuples") {
  Road road("tests/e2e/programs/closures.relax");
  for (int64_t n : {1, 3, 8})
    for (int64_t k : {-1, 0, 1, 2, 3, 5}) road.run({floats({n}), floats({n}, -1), int64(k)});
  CHECK(values_of(road.run({floats({2}, 1), floats({2}, 2), int64(1)})[2]) == std::vector<double>{10, 11.8125});
}

TEST_CASE("calls in tail position become one loop, wherever they stand") {
  Road road("tests/e2e/programs/tail_calls.relax");
  for (int64_t n : {1, 4})
    for (int64_t i : {0, 1, 2, 5})
      for (int64_t j : {0, 1, 4, 7}) road.run({floats({n}), int64(i), int64(j)});
}

TEST_CASE("a million calls in tail position need no more stack than one") {
  Road road("tests/e2e/programs/tail_calls.relax");
  road.run_compiled({floats({2}), int64(1000000), int64(3)});
}

TEST_CASE("functions that call each other in tail position are loops, and shapes may change from call to call") {
  Road road("tests/e2e/programs/mutual_recursion.relax");
  for (int64_t n : {1, 5, 16})
    for (int64_t k : {0, 1, 2, 3, 4, 7, 12}) road.run({floats({n}), int64(k)});
  road.run_compiled({floats({3}), int64(1000000)});
}
