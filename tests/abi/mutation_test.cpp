// mutation_test.cpp: no record, however wrong, makes the guards do more than refuse it.
//
// A call that would succeed gets one to three fields of its records changed (mutate_call.h), and must then either be
// refused with every byte as it was or succeed within its buffers. The generator's seed is fixed, so a failure stays.
#include <catch2/catch.hpp>
#include <random>

#include "mutate_call.h"

using namespace abi_test;

TEST_CASE("a call with wrong records is refused untouched, or succeeds within its buffers") {
  std::mt19937 random(20);
  Mutator mutator([&] { return uint32_t(random()); });
  int refused = 0, succeeded = 0;
  for (int repeat = 0; repeat < 6000; ++repeat) {
    const Form& form = kForms[size_t(repeat) % std::size(kForms)];
    Call call = form.make();
    for (size_t changes = 1 + mutator.pick(3); changes != 0; --changes) mutator.mutate(call, form.num_in, form.num_out);
    const int32_t status = call.run();
    INFO("repeat " << repeat << " status " << rlx_status_name(status));
    if (status == RLX_OK) {
      ++succeeded;
      REQUIRE(call.succeeds());
    } else {
      ++refused;
      REQUIRE(status < RLX_INDEX_RANGE);
      REQUIRE(call.refused(status));
    }
  }
  CHECK(refused > 3000);
  CHECK(succeeded > 100);
}

TEST_CASE("bind and the queries refuse any symbols without a crash") {
  const rlx_function& huge = fake_model.functions[FAKE_HUGE];
  const rlx_function& append = fake_model.functions[FAKE_APPEND];
  for (int64_t n : {INT64_MIN, INT64_MIN + 1, int64_t(-1), int64_t(0), int64_t(64), int64_t(65), INT64_MAX}) {
    uint64_t bytes = 0;
    int64_t dims[3] = {};
    const int64_t symbols[] = {n, 0, n};
    const int32_t shape = append.output_shape(symbols, 0, dims);
    INFO("n " << n << " status " << rlx_status_name(shape));
    if (n == INT64_MIN) CHECK(shape == RLX_NEEDS_DATA);
    if (n == 0 || n == 64) CHECK((shape == RLX_OK && dims[1] == n));
    if (n == INT64_MIN + 1 || n == -1 || n > 64) CHECK(shape == RLX_DIM_BOUNDS);
    const int32_t arena = huge.arena_bytes(&n, &bytes);
    if (n == INT64_MIN) CHECK(arena == RLX_NEEDS_DATA);
    if (n == INT64_MAX) CHECK(arena == RLX_SIZE_OVERFLOW);
    if (n >= 0 && n <= 65) CHECK((arena == RLX_OK && bytes == uint64_t(n) * 8));
  }
}
