// mutation_test.cpp: no record, however wrong, makes the guards do more than refuse it.
//
// A call that would succeed gets one to three fields of its records set to values that hurt (limits, signs, off by
// one), and must then either be refused with every byte as it was or succeed within its buffers. Addresses themselves
// are left alone: that a pointer is valid is the one thing that cannot be checked. The generator's seed is fixed, so a
// failure stays.
#include <catch2/catch.hpp>
#include <functional>
#include <random>

#include "call.h"

using namespace abi_test;

namespace {

class Mutator {
 public:
  explicit Mutator(uint32_t seed) : random_(seed) {}

  /// Changes one field of one record of `call`, which has these numbers of tensors.
  void mutate(Call& call, size_t num_in, size_t num_out) {
    const size_t which = pick(num_in + num_out);
    Argument& argument = which < num_in ? call.in(which) : call.out(which - num_in);
    const size_t axis = pick(argument.shape.size());
    switch (pick(12)) {
      case 0:
        argument.tensor.ndim = int32_t(number());
        break;
      case 1:
        argument.tensor.dtype_bits = uint8_t(number());
        break;
      case 2:
        argument.tensor.dtype_lanes = uint16_t(number());
        break;
      case 3:
        argument.tensor.device_type = int32_t(number());
        break;
      case 4:
        argument.tensor.data = nullptr;
        break;
      case 5:
        argument.tensor.shape = nullptr;
        break;
      case 6:
        argument.tensor.byte_offset = pick(2) == 0 ? UINT64_MAX : uint64_t(1) << 63;
        break;
      case 7:
        argument.strides.assign(argument.shape.size(), number());
        break;
      case 8:
        call.context.arena_bytes = uint64_t(number()) % 64;
        break;
      case 9:
        call.num_in = int(pick(num_in));
        break;
      case 10:
        call.num_out = int(pick(num_out));
        break;
      default:
        argument.shape[axis] = number();
    }
  }

  size_t pick(size_t count) { return random_() % count; }

 private:
  int64_t number() {
    constexpr int64_t kNumbers[] = {0,         1,         2,         3,         4,         6,
                                    8,         12,        -1,        -2,        INT64_MIN, INT64_MAX,
                                    INT32_MAX, INT32_MIN, 1LL << 32, 1LL << 61, 1LL << 62, INT64_MIN + 1};
    return kNumbers[pick(std::size(kNumbers))];
  }

  std::mt19937 random_;
};

}  // namespace

TEST_CASE("a call with wrong records is refused untouched, or succeeds within its buffers") {
  struct Form {
    std::function<Call()> make;
    size_t num_in, num_out;
  };
  const Form forms[] = {{[] { return affine_call(); }, 1, 1}, {[] { return grow_call(6); }, 3, 2}, {state_call, 2, 2}};
  Mutator mutator(20);
  int refused = 0, succeeded = 0;
  for (int repeat = 0; repeat < 6000; ++repeat) {
    const Form& form = forms[repeat % 3];
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
