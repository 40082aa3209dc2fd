// language_test.cpp: the programs by which the language is tested, compiled and run.
#include <catch2/catch.hpp>

#include "tests/e2e/compile_and_run.h"

namespace relaxc::e2e {
namespace {

using Shape = std::vector<int64_t>;

/// Inputs of a model for n rows: eighths, whose products and sums are exact in float32.
std::vector<HostTensor> inputs_of(const rlx_function& function, int64_t n) {
  std::vector<HostTensor> inputs;
  for (uint32_t i = 0; i < function.num_inputs; ++i) {
    const rlx_tensor_spec& spec = function.inputs[i];
    HostTensor made{DType::f(32), {}, {}};
    for (int32_t axis = 0; axis < spec.ndim; ++axis) made.shape.push_back(spec.dims[axis] < 0 ? n : spec.dims[axis]);
    std::vector<double> values;
    for (int64_t k = 0; k < made.elements(); ++k) values.push_back(static_cast<double>((k * 7 + i) % 13 - 6) / 8);
    inputs.push_back(tensor(made.dtype, made.shape, values));
  }
  return inputs;
}

TEST_CASE("a high-level and a lowered network give the same answer") {
  CompiledProgram high("tests/e2e/programs/mlp_high_level.relax"), low("tests/language/mlc_mlp_lowered_fixed.relax");
  for (int64_t n : {1, 3, 16}) {
    std::vector<HostTensor> inputs = inputs_of(low.function(), n);
    CHECK(high.run(inputs) == low.run(inputs));
  }
  CompiledProgram narrow("tests/language/mlc_mlp_high_level.relax");
  CHECK(narrow.run(inputs_of(narrow.function(), 4))[0].shape == Shape{4, 10});
}

TEST_CASE("the upper bound of a symbol bounds the arena for all sizes") {
  CompiledProgram program("tests/language/today_gate.relax");
  CHECK(program.function().symbols[0].upper == 256);
  CHECK(program.function().arena_max < 1 << 20);
  for (int64_t n : {1, 7, 256}) program.run({floats({n, 32}, -1), floats({32, 64}, -2), floats({64}, -3)});
  CHECK_THAT(
      program.refusal({floats({257, 32}), floats({32, 64}), floats({64})}),
      Catch::Contains("DIM_BOUNDS") && Catch::Contains("symbol 0") && Catch::Contains("expected 256, actual 257"));
}

TEST_CASE("a shape that is matched twice names the symbol that differs") {
  CompiledProgram program("tests/language/wiki_2021_match_shape.relax");
  for (Shape s : {Shape{1, 1}, Shape{3, 5}}) program.run({floats(s), floats(s, 4)});
  auto symbol = [&](const std::string& text) {
    size_t at = text.find("symbol ");
    int index = std::atoi(text.c_str() + at + 7);
    return index < 0 ? std::string() : std::string(program.function().symbols[index].name);
  };
  CHECK(symbol(program.refusal({floats({3, 5}), floats({4, 5})})) == "n");
  CHECK(symbol(program.refusal({floats({3, 5}), floats({3, 6})})) == "m");
}

TEST_CASE("every public function is an entry point") {
  CompiledProgram program("tests/language/wiki_2021_pythonic.relax");
  REQUIRE(program.llvm().model().num_functions == 2);
  for (uint32_t entry : {0U, 1U}) {
    auto found = program.run({floats({2, 2}, 1)}, entry);
    CHECK(values_of(found[0]) == std::vector<double>{2, 2.25, 2.5, 2.75});
  }
}

}  // namespace
}  // namespace relaxc::e2e
