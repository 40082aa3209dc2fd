// heap_test.cpp: programs whose sizes nothing bounds, in memory that the caller's allocator gives.
#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/e2e/counting_allocator.h"

namespace relaxc::e2e {
namespace {

std::vector<HostTensor> inputs(int64_t n, double limit) {
  return {floats({n}, 0.5), tensor(DType::f(32), {}, {limit})};
}

TEST_CASE("sizes without a bound come out of the caller's allocator") {
  CompiledProgram program("tests/e2e/programs/unbounded_loop.relax");
  CountingAllocator allocator(program);
  CHECK(program.function().arena_max != UINT64_MAX);  // exact for the part that is planned
  for (int64_t n : {1, 2, 5})
    for (double limit : {-1.0, 4.0, 50.0, 2000.0}) program.run(inputs(n, limit));
  CHECK(allocator.calls > 0);
  CHECK(allocator.intact());
}

TEST_CASE("an allocator that is missing or fails ends the run with a code") {
  CompiledProgram program("tests/e2e/programs/unbounded_loop.relax");
  CHECK_THAT(program.refusal(inputs(3, 50)), Catch::Contains("NO_ALLOCATOR"));
  for (int fail_at = 0; fail_at < 3; ++fail_at) {
    CountingAllocator allocator(program);
    allocator.fail_at = fail_at;
    CHECK_THAT(
        program.llvm().run(inputs(3, 20000)).index() == 1 ? std::get<1>(program.llvm().run(inputs(3, 20000))) : "",
        Catch::Contains("OUT_OF_MEMORY"));
    CHECK(allocator.intact());
  }
}

TEST_CASE("a result that is too small for what was found says what it needs") {
  CompiledProgram program("tests/e2e/programs/unbounded_loop.relax");
  CountingAllocator allocator(program);
  CHECK_THAT(program.refusal(inputs(1, 60000)), Catch::Contains("DATA_CAPACITY"));
}

TEST_CASE("bounded memory does not use the allocator") {
  CompiledProgram program("tests/e2e/programs/nonzero.relax");
  CountingAllocator allocator(program);
  allocator.fail_at = 0;
  program.run({floats({4, 5}, -2)});
  CHECK(allocator.calls == 0);
}

/// Boxes on a diagonal, each over half of the one before, and scores that rise and fall.
std::vector<HostTensor> boxes_and_scores(int64_t images, int64_t classes, int64_t boxes, int64_t most) {
  std::vector<double> corners, scores;
  for (int64_t i = 0; i < images * boxes; ++i)
    for (double corner : {0.0, 0.0, 4.0, 2.0}) corners.push_back(corner + static_cast<double>(i % 5));
  for (int64_t i = 0; i < images * classes * boxes; ++i) scores.push_back(static_cast<double>(i * 7 % 11) / 10);
  return {tensor(DType::f(32), {images, boxes, 4}, corners), tensor(DType::f(32), {images, classes, boxes}, scores),
          tensor(DType::i(64), {}, {static_cast<double>(most)})};
}

TEST_CASE("the memory of boxes that are kept follows the maximum number of boxes") {
  CompiledProgram program("tests/e2e/programs/suppressed.relax");
  CountingAllocator allocator(program);
  allocator.fail_at = 0;
  for (int64_t most : {-1, 0, 1, 2, 100})
    for (int64_t boxes : {0, 1, 6}) program.run(boxes_and_scores(2, 3, boxes, most));
  CHECK(allocator.calls == 0);
}

TEST_CASE("TVM's suppression gives as many rows as there may be and says how many are found") {
  CompiledProgram program("tests/language/tvm_suppression.relax");
  CountingAllocator allocator(program);
  allocator.fail_at = 0;
  for (int64_t most : {0, 1, 3}) {
    std::vector<HostTensor> inputs = boxes_and_scores(2, 2, 5, most);
    inputs[2].shape = {1};
    auto results = program.run_compiled(inputs);
    CHECK(results[0].shape == std::vector<int64_t>{20, 3});
    CHECK(values_of(results[1])[0] <= static_cast<double>(4 * most));
    program.run(inputs);
  }
  CHECK(allocator.calls == 0);
}

TEST_CASE("the memory of what a mask selects and of its distinct elements is bounded by the extents") {
  CompiledProgram program("tests/e2e/programs/masked.relax");
  CountingAllocator allocator(program);
  allocator.fail_at = 0;
  for (int64_t n : {0, 1, 3})
    for (std::vector<double> mask : std::vector<std::vector<double>>{{}, {0}, {1}, {1, 0, 1, 1}})
      program.run({floats({n, static_cast<int64_t>(mask.size())}, -1),
                   tensor(DType::boolean(), {static_cast<int64_t>(mask.size())}, mask)});
  CHECK(allocator.calls == 0);
}

TEST_CASE("as many elements as a float of the run says come out of the caller's allocator") {
  CompiledProgram program("tests/e2e/programs/as_many_as.relax");
  auto limit = [](double value) { return std::vector<HostTensor>{tensor(DType::f(32), {}, {value})}; };
  CHECK_THAT(program.refusal(limit(3)), Catch::Contains("NO_ALLOCATOR"));
  CountingAllocator allocator(program);
  for (double value : {0.0, 0.5, 3.0, 100.0}) program.run(limit(value));
  CHECK(allocator.calls > 0);
  CHECK_THAT(program.refusal(limit(-1)), Catch::Contains("DATA_BOUND") && Catch::Contains("actual -1"));
  program.refusal(limit(1e30));  // a size that no memory has
  for (int more = 0; more < 2; ++more) {
    CountingAllocator failing(program);
    failing.fail_at = more;
    CHECK_THAT(program.refusal(limit(5000)), Catch::Contains("OUT_OF_MEMORY"));
    CHECK(failing.intact());
  }
}

HostTensor yes_or_no(bool yes) {
  return tensor(DType::boolean(), {}, {yes ? 1.0 : 0.0});
}

TEST_CASE("an external function sizes its own result") {
  CompiledProgram program("tests/e2e/programs/found_outside.relax");
  CountingAllocator allocator(program);
  for (double first : {-2.0, -0.5, 1.0, 107.0})
    for (int64_t n : {0, 1, 5, 9}) program.run({floats({n}, first)});
}

TEST_CASE("what an external function makes is checked before it is read") {
  CompiledProgram program("tests/language/found_bounded.relax");
  CountingAllocator allocator(program);
  for (int64_t n : {0, 1, 4}) program.run({floats({n}, 1)});
  auto refusal = [&](double first) { return program.refusal({floats({3}, first)}); };
  CHECK_THAT(refusal(101), Catch::Contains("EXTERNAL_FAILED") && Catch::Contains("actual 77"));
  CHECK_THAT(refusal(102), Catch::Contains("DTYPE"));
  CHECK_THAT(refusal(103), Catch::Contains("RANK") && Catch::Contains("expected 1, actual 2"));
  CHECK_THAT(refusal(104), Catch::Contains("DIM_BOUNDS") && Catch::Contains("actual -3"));
  CHECK_THAT(refusal(105), Catch::Contains("NULL_POINTER"));
  CHECK_THAT(refusal(106), Catch::Contains("STRIDES"));
  CHECK_THAT(refusal(108), Catch::Contains("DEVICE") && Catch::Contains("actual 2"));
  CHECK_THAT(refusal(109), Catch::Contains("ALIGNMENT") && Catch::Contains("expected 4, actual 2"));
  CHECK_THAT(refusal(110), Catch::Contains("SIZE_OVERFLOW"));
  CHECK_THAT(program.refusal({floats({5}, 1)}),
             Catch::Contains("DATA_BOUND") && Catch::Contains("expected 4, actual 5"));
}

TEST_CASE("objects go through functions, branches and tuples, and are opened with a check") {
  CompiledProgram program("tests/language/objects.relax");
  CountingAllocator allocator(program);
  for (int64_t n : {1, 4})
    for (bool push : {false, true}) program.run({floats({n}, 0.5), yes_or_no(push)});
  CHECK_THAT(program.refusal({floats({0}), yes_or_no(false)}), Catch::Contains("EXTERNAL_FAILED"));
  CHECK_THAT(program.refusal({floats({13}), yes_or_no(false)}),
             Catch::Contains("OBJECT_KIND") && Catch::Contains("expected 0, actual 64"));
}

TEST_CASE("an object goes from one entry point to another") {
  CompiledProgram program("tests/e2e/programs/object_between.relax");
  CountingAllocator allocator(program);
  REQUIRE(program.llvm().model().num_functions == 2);
  CHECK(program.function(0).outputs[0].kind == 7);
  CHECK(program.function(1).inputs[0].kind == 7);
  auto made = program.llvm().run({floats({3}, 1)});
  REQUIRE(made.index() == 0);
  auto taken = program.run_compiled(std::get<0>(made), 1);
  CHECK(values_of(taken[0]) == std::vector<double>{-1, -1.25, -1.5});
  HostTensor nothing = std::get<0>(made)[0];
  std::fill(nothing.bytes.begin(), nothing.bytes.end(), std::byte{0});
  auto refused = program.llvm().run({nothing}, LoadedModel::kApart, 1);
  REQUIRE(refused.index() == 1);
  CHECK_THAT(std::get<1>(refused), Catch::Contains("NULL_POINTER"));
}

TEST_CASE("a shape computed outside has the rank of its cast") {
  CompiledProgram program("tests/e2e/programs/rank_by_cast.relax");
  CountingAllocator allocator(program);
  for (double first : {0.0, 3.0})
    for (double k : {0.0, 1.0, 4.0}) program.run({floats({2}, first), tensor(DType::i(64), {}, {k})});
  CHECK_THAT(program.refusal({floats({2}, -2), tensor(DType::i(64), {}, {1})}), Catch::Contains("actual -2"));
}

TEST_CASE("the wiki's program of all shapes runs: computed outside, found in the data, matched again") {
  CompiledProgram program("tests/language/wiki_2021_shape_example.relax");
  CountingAllocator allocator(program);
  for (int64_t n : {0, 1, 2, 3, 8}) program.run({floats({n, 2, 2}, -1)});
  CHECK_THAT(program.refusal({floats({7, 2, 2})}), Catch::Contains("EXTERNAL_FAILED") && Catch::Contains("actual 35"));
  CHECK_THAT(program.refusal({floats({5, 2, 2})}), Catch::Contains("actual -5"));
  program.refusal({floats({6, 2, 2})});  // a size that no memory has
}

TEST_CASE("the wiki's first program runs, and changes its result in place outside") {
  CompiledProgram program("tests/language/wiki_2021_my_ir_module_fixed.relax");
  for (std::vector<int64_t> s : {std::vector<int64_t>{1, 1, 1}, {2, 3, 4}, {5, 1, 2}})
    program.run({floats({s[0], s[1]}, -1), floats({s[1], s[2]}, -1)});
  CHECK_THAT(program.refusal({floats({2, 3}), floats({4, 2})}), Catch::Contains("symbol"));
  CHECK_THAT(program.refusal({floats({2, 3}), floats({3})}), Catch::Contains("RANK"));
}

}  // namespace
}  // namespace relaxc::e2e
