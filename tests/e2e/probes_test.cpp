// probes_test.cpp: small programs that hold the architecture to what is hard for it: sizes that are known late,
// regions, calls, states. Each runs with several sizes, 0 and 1 among them.
#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/abi/call.h"
#include "tests/e2e/compile_and_run.h"

namespace relaxc::e2e {
namespace {

using Shape = std::vector<int64_t>;

TEST_CASE("the branches of an if may differ in shape") {
  CompiledProgram program("tests/e2e/programs/branch_shapes.relax");
  for (int64_t n : {0, 1, 3, 17})
    for (int64_t taken : {0, 1}) {
      auto found = program.run({floats({n, 4}, -1), scalar(DType::boolean(), static_cast<double>(taken))});
      CHECK(found[0].shape == Shape{taken != 0 ? 2 * n : n, 4});
    }
}

TEST_CASE("a loop carries a tensor that grows, up to the trip count that an input gives") {
  CompiledProgram program("tests/e2e/programs/loop_growing.relax");
  for (int64_t n : {0, 1, 5})
    for (int64_t trips : {0, 1, 4}) {
      HostTensor count = scalar(DType::i(64), static_cast<double>(trips));
      auto found = program.run({floats({n}, 1), count, scalar(DType::f(32), 1000)});
      CHECK(found[0].shape == Shape{n * (trips + 1)});
    }
  auto ended = program.run({floats({5}, 1), scalar(DType::i(64), 4), scalar(DType::f(32), 0)});
  CHECK(ended[0].shape == Shape{10});
}

TEST_CASE("a loop in a branch grows what it carries, up to the trip count that an input gives") {
  CompiledProgram program("tests/e2e/programs/loop_in_branch.relax");
  for (int64_t n : {1, 3})
    for (int64_t trips : {-2, 0, 1, 5})
      for (bool taken : {false, true}) {
        auto found = program.run({floats({n, 4}, -1), scalar(DType::boolean(), taken ? 1 : 0),
                                  scalar(DType::i(64), static_cast<double>(trips))});
        CHECK(found[0].shape == Shape{taken ? n * (std::max<int64_t>(trips, 0) + 1) : n, 4});
      }
}

TEST_CASE("a branch joins tensors whose size the data decides") {
  CompiledProgram program("tests/e2e/programs/branch_of_found.relax");
  HostTensor x = tensor(DType::f(32), {5}, {1, 0, 0, -2, 3});
  CHECK(program.run({x, scalar(DType::boolean(), 1)})[0].shape == Shape{6});
  CHECK(program.run({x, scalar(DType::boolean(), 0)})[0].shape == Shape{3});
}

TEST_CASE("what the data decides the size of feeds element-wise code") {
  CompiledProgram program("tests/e2e/programs/nonzero.relax");
  auto found = program.run({tensor(DType::f(32), {2, 3}, {1, 0, -1, 0, 2, 3})});
  CHECK(found[0].shape == Shape{2, 3});
  CHECK(values_of(found[0]) == std::vector<double>{1, 4, 4, 1, 4, 7});
  CHECK(program.run({floats({3, 3}, -100)})[0].shape == Shape{2, 0});
  CHECK(program.run({floats({0, 3})})[0].shape == Shape{2, 0});
  CHECK(program.run({floats({5, 7}, 1)})[0].shape == Shape{2, 35});
}

TEST_CASE("data is held to what is declared of its size") {
  CompiledProgram program("tests/e2e/programs/declared_of_data.relax");
  CHECK(values_of(program.run({tensor(DType::f(32), {4}, {0, 1, 0, 2})})[0]) == std::vector<double>{3, 9});
  CHECK(program.run({floats({6}, 1)})[0].shape == Shape{1, 6});
  CHECK_THAT(program.refusal({floats({0})}), Catch::Contains("DATA_BOUND"));                              // below
  CHECK_THAT(program.refusal({tensor(DType::f(32), {4}, {0, 1, 2, 3})}), Catch::Contains("DATA_BOUND"));  // odd
  CHECK_THAT(program.refusal({tensor(DType::f(32), {8}, {1, 2, 3, 4, 5, 6, 7, 8})}), Catch::Contains("DATA_BOUND"));
}

TEST_CASE("an output whose size the data decides may be too small, and says what it needs") {
  CompiledProgram program("tests/e2e/programs/nonzero.relax");
  for (const LoadedModel* model : {&program.llvm(), &program.c()}) {
    abi_test::Call call(0, model->model());
    call.input({1, 3});
    call.output({2, 2});
    std::vector<int64_t> symbols;
    uint64_t arena = 0;
    REQUIRE(call.bind(symbols) == RLX_OK);
    REQUIRE(model->function().arena_bytes(symbols.data(), &arena) == RLX_OK);
    call.use_arena(arena);
    CHECK(call.run() == RLX_DATA_CAPACITY);
    CHECK(call.error.tensor == 1);
    CHECK(call.error.expected == 6);
    CHECK(call.error.actual == 4);
    CHECK(call.arena.intact());
    CHECK(call.out(0).memory.intact());
    CHECK(call.out(0).shape == Shape{2, 2});
  }
}

TEST_CASE("a function calls another with its symbols replaced") {
  CompiledProgram program("tests/e2e/programs/call_with_symbols.relax");
  for (Shape s : {Shape{1, 1, 1}, Shape{2, 3, 4}, Shape{5, 1, 9}, Shape{17, 8, 3}, Shape{0, 2, 3}})
    program.run({floats({s[0], s[1]}, -1), floats({s[1], s[2]}, -2)});
}

TEST_CASE("recursion in tail position is a loop") {
  CompiledProgram program("tests/e2e/programs/tail_recursion.relax");
  for (int64_t n : {1, 5})
    for (int64_t count : {0, 1, 2, 7}) program.run({floats({n}), scalar(DType::i(64), static_cast<double>(count))});
  program.run_compiled({floats({3}), scalar(DType::i(64), 1000000)});
}

TEST_CASE("the program supplies a shape function and a function that fills a tensor") {
  CompiledProgram program("tests/e2e/programs/external.relax");
  for (Shape s : {Shape{1, 1}, Shape{3, 5}, Shape{0, 2}})
    CHECK(program.run({floats(s, -1)})[0].shape == Shape{s[0] + 1, s[1] + 1});
  CHECK_THAT(program.refusal({floats({13, 1})}),
             Catch::StartsWith("bind: EXTERNAL_FAILED (tensor -1, axis -1, symbol -1, node") &&
                 Catch::EndsWith("): test_padded_shape 's': an external function returned 77"));
}

TEST_CASE("an external function gets integers as they are, and other numbers as tensors") {
  CompiledProgram program("tests/e2e/programs/external_scalars.relax");
  const auto by = scalar(DType::f(32), 0.5);
  CHECK(values_of(program.run({tensor(DType::f(32), {2}, {2, 10}), by})[0]) == std::vector<double>{3, 4});
}

TEST_CASE("the target of a reshape is an input") {
  CompiledProgram program("tests/e2e/programs/reshape_target.relax");
  auto target = [](double a, double b) { return tensor(DType::i(64), {2}, {a, b}); };
  CHECK(program.run({floats({3, 4}), target(6, 2)})[0].shape == Shape{6, 2});
  CHECK(program.run({floats({3, 4}), target(1, 12)})[0].shape == Shape{1, 12});
  CHECK(program.run({floats({1, 1}), target(1, 1)})[0].shape == Shape{1, 1});
  CHECK_THAT(program.refusal({floats({3, 4}), target(5, 2)}), Catch::Contains("DERIVED_DIM"));
}

TEST_CASE("an operator that expands into a loop runs over a sequence of any length") {
  CompiledProgram program("tests/e2e/programs/lstm.relax");
  for (Shape s : {Shape{1, 1}, Shape{4, 2}, Shape{9, 5}}) {
    auto found =
        program.run({floats({s[0], s[1], 3}, -2), floats({1, 8, 3}, -3), floats({1, 8, 2}, -2), floats({1, 16})});
    CHECK(found[0].shape == Shape{s[0], 1, s[1], 2});
  }
}

TEST_CASE("two symbols that meet broadcast when the model runs") {
  CompiledProgram program("tests/e2e/programs/broadcast_symbols.relax");
  for (auto [x, y, z] : {std::array<Shape, 3>{Shape{2, 3}, {2, 3}, {2, 3}},
                         {Shape{1, 3}, {4, 1}, {4, 3}},
                         {Shape{5, 1}, {1, 1}, {5, 1}},
                         {Shape{0, 3}, {1, 3}, {0, 3}}})
    CHECK(program.run({floats(x, -1), floats(y, -2)})[0].shape == z);
  CHECK_THAT(program.refusal({floats({2, 3}), floats({4, 3})}),
             Catch::StartsWith("bind: BROADCAST (tensor -1, axis -1, symbol -1, node") &&
                 Catch::EndsWith("): add 's': dim 0 of 'x' is 2 where 'y' has 4"));
}

TEST_CASE("three symbols that meet broadcast, with a reduction between") {
  CompiledProgram program("tests/e2e/programs/broadcast_chain.relax");
  for (Shape s : {Shape{4, 4, 4}, Shape{1, 4, 4}, Shape{4, 1, 1}, Shape{1, 1, 6}, Shape{2, 2, 1}})
    program.run({floats({s[0], 3}, -1), floats({s[1], 3}, -2), floats({s[2], 1}, 1)});
  CHECK_THAT(program.refusal({floats({2, 3}), floats({2, 3}), floats({3, 1})}), Catch::Contains("BROADCAST"));
}

TEST_CASE("a state is updated in its own memory or in place") {
  api::CompileOptions options;
  options.states = {{"h", "h_next"}};
  CompiledProgram program("tests/e2e/programs/state.relax", options);
  REQUIRE(program.function().inputs[1].pair == 1);
  REQUIRE(program.function().outputs[1].pair == 1);
  for (int64_t n : {1, 2, 9}) {
    std::vector<HostTensor> inputs{floats({n, 3}, -1), floats({n, 4}, -2), floats({3, 4}, -1), floats({4, 4}, -2)};
    std::vector<HostTensor> apart = program.run(inputs);
    for (const LoadedModel* model : {&program.llvm(), &program.c()}) {
      auto in_place = model->run(inputs, LoadedModel::kInPlace);
      REQUIRE(in_place.index() == 0);
      CHECK(std::get<0>(in_place) == apart);
    }
  }
}

TEST_CASE("a state that grows in place keeps its contents") {
  api::CompileOptions options;
  options.states = {{"keys", "more_keys"}, {"values", "more_values"}};
  CompiledProgram program("tests/e2e/programs/cache.relax", options);
  REQUIRE(program.function().outputs[2].pair == 1);
  REQUIRE(program.function().outputs[2].append_axis == 0);
  REQUIRE(program.function().inputs[2].append_axis == 1);
  for (Shape s : {Shape{1, 0}, Shape{1, 1}, Shape{3, 5}, Shape{2, 40}}) {
    std::vector<HostTensor> inputs{floats({s[0], 8}, -1), floats({s[1], 8}, -2), floats({1, s[1], 4}, 1),
                                   floats({8, 8}, -1), floats({8, 4}, -2)};
    std::vector<HostTensor> apart = program.run_compiled(inputs);
    for (const LoadedModel* model : {&program.llvm(), &program.c()}) {
      auto in_place = model->run(inputs, LoadedModel::kInPlace);
      REQUIRE(in_place.index() == 0);
      CHECK(std::get<0>(in_place) == apart);
    }
  }
}

}  // namespace
}  // namespace relaxc::e2e
