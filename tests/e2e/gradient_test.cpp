// gradient_test.cpp: a function and its gradient as two entries of an object, by both backends.
#include <catch2/catch.hpp>

#include "tests/e2e/compile_and_run.h"

using namespace relaxc;
using namespace relaxc::e2e;

namespace {

/// Returns the inputs for a batch of n, with one weight of the last layer moved.
std::vector<HostTensor> inputs(int64_t n, float moved = 0) {
  std::vector<double> labels, filter, weight;
  for (int64_t i = 0; i < n; ++i) labels.push_back(static_cast<double>(i % 3));
  for (int i = 0; i < 72; ++i) filter.push_back(0.1 * (i * 7 % 11 - 5));
  for (int i = 0; i < 108; ++i) weight.push_back(0.05 * (i * 5 % 13 - 6));
  weight[40] += static_cast<double>(moved);
  std::vector<double> image;
  for (int64_t i = 0; i < n * 72; ++i) image.push_back(0.125 * static_cast<double>(i * 11 % 17 - 8));
  const DType f32 = DType::f(32);
  return {tensor(f32, {n, 2, 6, 6}, image),
          tensor(DType::i(64), {n}, labels),
          tensor(f32, {4, 2, 3, 3}, filter),
          tensor(f32, {4, 1, 1}, {0.1, 0.2, -0.1, 0}),
          tensor(f32, {36}, std::vector<double>(36, 1)),
          tensor(f32, {3, 36}, weight),
          tensor(f32, {3}, {0.1, 0, -0.1})};
}

}  // namespace

TEST_CASE("both backends give a gradient to the bit alike, and it says how the loss moves") {
  CompiledProgram program("tests/e2e/programs/gradient.relax");
  for (int64_t n : {1, 3, 8}) {
    const std::vector<HostTensor> all = program.run_compiled(inputs(n), 1);
    REQUIRE(all.size() == 6);
    CHECK(values_of(all[0])[0] == Approx(values_of(program.run_compiled(inputs(n), 0)[0])[0]).epsilon(1e-5));
    const float h = 0.01F;
    const double higher = values_of(program.run_compiled(inputs(n, h), 0)[0])[0];
    const double lower = values_of(program.run_compiled(inputs(n, -h), 0)[0])[0];
    // A loss of about 1 in float32 divided by a step of 0.02.
    CHECK(values_of(all[4])[40] == Approx((higher - lower) / (2 * h)).margin(1e-4));
  }
}
