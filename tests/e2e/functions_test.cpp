// functions_test.cpp: functions as the language has them, from text to objects of both backends: nested, captured,
// passed, chosen, returned, and calling themselves and each other.
#include <sys/resource.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/e2e/counting_allocator.h"

using namespace relaxc;
using namespace relaxc::e2e;

namespace {

HostTensor int64(int64_t value) {
  return tensor(DType::i(64), {}, {static_cast<double>(value)});
}

/// The interpreter recurses natively, and sanitizers make its frames several times larger: more than the usual 8 MB.
void allow_a_deep_stack() {
  rlimit limit{};
  REQUIRE(getrlimit(RLIMIT_STACK, &limit) == 0);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, rlim_t{64} << 20);
  REQUIRE(setrlimit(RLIMIT_STACK, &limit) == 0);
}

}  // namespace

TEST_CASE("functions are values: nested, captured, chosen, passed, returned and in tuples") {
  CompiledProgram program("tests/e2e/programs/closures.relax");
  for (int64_t n : {1, 3, 8})
    for (int64_t k : {-1, 0, 1, 2, 3, 5}) program.run({floats({n}), floats({n}, -1), int64(k)});
  CHECK(values_of(program.run({floats({2}, 1), floats({2}, 2), int64(1)})[2]) == std::vector<double>{10, 11.8125});
}

TEST_CASE("calls in tail position become one loop, wherever they are") {
  CompiledProgram program("tests/e2e/programs/tail_calls.relax");
  for (int64_t n : {1, 4})
    for (int64_t i : {0, 1, 2, 5})
      for (int64_t j : {0, 1, 4, 7}) program.run({floats({n}), int64(i), int64(j)});
}

TEST_CASE("a million calls in tail position need no more stack than one") {
  CompiledProgram program("tests/e2e/programs/tail_calls.relax");
  program.run_compiled({floats({2}), int64(1000000), int64(3)});
}

TEST_CASE("functions that call each other in tail position are loops, and shapes may change from call to call") {
  CompiledProgram program("tests/e2e/programs/mutual_recursion.relax");
  CountingAllocator allocator(program);
  for (int64_t n : {1, 5, 16})
    for (int64_t k : {0, 1, 2, 3, 4, 7, 12}) program.run({floats({n}), int64(k)});
  program.run_compiled({floats({3}), int64(1000000)});
}

TEST_CASE(
    "a circle of calls with parameters of other kinds is one loop, also where members are called in other places") {
  CompiledProgram program("tests/e2e/programs/dispatch.relax");
  CountingAllocator allocator(program);
  for (int64_t n : {1, 3})
    for (int64_t k : {0, 1, 2, 3, 4, 6, 9, 25, 120}) program.run({floats({n}), int64(k)});
  program.run_compiled({floats({2}), int64(100000)});
}

TEST_CASE("a call in tail position is a jump, whatever precedes the branch that it is in") {
  CompiledProgram program("tests/e2e/programs/tail_results.relax");
  CountingAllocator allocator(program);
  for (int64_t n : {1, 3, 8})
    for (int64_t k : {0, 1, 2, 3, 4, 5, 6, 9, 25}) program.run({floats({n}), int64(k)});
  program.run_compiled({floats({2}), int64(100000)});
  CHECK_THAT(program.refusal({floats({2}), int64(2000000)}), Catch::Contains("ASSERTION"));
}

TEST_CASE("a result of which the rank alone is declared has the dims that the call brings") {
  CompiledProgram program("tests/e2e/programs/declared_rank.relax");
  CountingAllocator allocator(program);
  for (int64_t n : {0, 1, 3})
    for (int64_t k : {0, 1, 2, 4}) CHECK(program.run({floats({n}), int64(k)})[0].shape == std::vector<int64_t>{n << k});
}

TEST_CASE("an external function writes in place, and no other value changes") {
  CompiledProgram program("tests/e2e/programs/inplace_packed.relax");
  for (int64_t n : {0, 1, 5}) {
    auto found = program.run({floats({n}, 0.5)});
    CHECK(values_of(found[1]) == std::vector<double>(static_cast<size_t>(n), 1));
  }
}

TEST_CASE("recursion of any form takes its frames from the allocator, and gives what the interpreter gives") {
  CompiledProgram program("tests/e2e/programs/recursion.relax");
  CountingAllocator allocator(program);
  for (int64_t n : {0, 1, 2, 5, 13})
    for (int64_t k : {0, 1, 2, 6, 11}) program.run({floats({n}, 0.25), int64(k)});
  CHECK(values_of(program.run({floats({3}), int64(10)})[0]) == std::vector<double>{55});
  CHECK(allocator.calls > 0);
  CHECK(allocator.intact());
}

TEST_CASE("a recursion that goes deeper than its limit ends with a code that names the limit") {
  allow_a_deep_stack();
  CompiledProgram program("tests/e2e/programs/deep_recursion.relax");
  CountingAllocator allocator(program);
  CHECK(values_of(program.run({int64(998)})[0]) == std::vector<double>{998});
  CHECK_THAT(program.refusal({int64(5000)}), Catch::Contains("RECURSION_DEPTH") && Catch::Contains("expected 1000"));
  CHECK(values_of(program.run_compiled({int64(10)})[0]) == std::vector<double>{10});
}

TEST_CASE("algebraic data is in nodes of the run, and gives what the interpreter gives") {
  CompiledProgram program("tests/e2e/programs/algebraic.relax");
  CountingAllocator allocator(program);
  for (int64_t k : {0, 1, 2, 5, 12})
    for (int64_t n : {0, 1, 40}) program.run({int64(k), floats({3}, 0.25), floats({n, 2}, -1)});
  CHECK(values_of(program.run({int64(4), floats({3}), floats({1, 2})})[1]) == std::vector<double>{0});
  CHECK(allocator.calls > 0);
  CHECK(allocator.intact());
}

TEST_CASE("more nodes of algebraic data than their limit end a run, and no allocator does too") {
  api::CompileOptions options;
  options.max_data_nodes = 12;
  CompiledProgram program("tests/e2e/programs/algebraic.relax", options);
  CHECK_THAT(program.refusal({int64(2), floats({3}), floats({1, 2})}), Catch::Contains("NO_ALLOCATOR"));
  CountingAllocator allocator(program);
  program.run_compiled({int64(3), floats({3}), floats({1, 2})});
  CHECK_THAT(program.refusal({int64(4), floats({3}), floats({1, 2})}),
             Catch::Contains("NODE_LIMIT") && Catch::Contains("expected 12"));
  CHECK(allocator.intact());
}

TEST_CASE("the limit of recursion is an option, and the machine's stack holds ten times the default") {
  api::CompileOptions options;
  options.max_recursion = 10000;
  CompiledProgram program("tests/e2e/programs/deep_recursion.relax", options);
  CountingAllocator allocator(program);
  CHECK(values_of(program.run_compiled({int64(9000)})[0]) == std::vector<double>{9000});
  CHECK_THAT(program.refusal({int64(10001)}), Catch::Contains("expected 10000"));
  CHECK(allocator.intact());
}

TEST_CASE("recursion without an allocator, or with one that has no more, ends with a code") {
  CompiledProgram program("tests/e2e/programs/deep_recursion.relax");
  CHECK_THAT(program.refusal({int64(3)}), Catch::Contains("NO_ALLOCATOR"));
  CountingAllocator allocator(program);
  allocator.fail_at = 0;
  CHECK_THAT(program.refusal({int64(3)}), Catch::Contains("OUT_OF_MEMORY"));
}
