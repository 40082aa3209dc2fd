// mutate_call.h: sets fields of a call's records to values that hurt (limits, signs, off by one, any numbers).
// Addresses are left alone, or null: that a pointer is valid is the one thing that cannot be checked.
#pragma once

#include <cstdint>
#include <functional>
#include <iterator>
#include <utility>

#include "call.h"

namespace abi_test {

/// Changes calls as its source of numbers says.
class Mutator {
 public:
  /// `next` gives the numbers that choose.
  explicit Mutator(std::function<uint32_t()> next) : next_(std::move(next)) {}

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

  size_t pick(size_t count) { return next_() % count; }

 private:
  int64_t number() {
    constexpr int64_t kNumbers[] = {0,         1,         2,         3,         4,         6,
                                    8,         12,        -1,        -2,        INT64_MIN, INT64_MAX,
                                    INT32_MAX, INT32_MIN, 1LL << 32, 1LL << 61, 1LL << 62, INT64_MIN + 1};
    if (pick(16) == 15) {
      const uint64_t high = next_();  // in this order whichever compiler builds the test
      return int64_t(high << 32 ^ next_());
    }
    return kNumbers[pick(std::size(kNumbers))];
  }

  std::function<uint32_t()> next_;
};

/// A call that succeeds, and its numbers of tensors.
struct Form {
  std::function<Call()> make;
  size_t num_in, num_out;
};

inline const Form kForms[] = {{[] { return affine_call(); }, 1, 1},
                              {[] { return grow_call(6); }, 3, 2},
                              {state_call, 2, 2},
                              {[] { return reshape_call(2, 3, 4); }, 2, 1}};

}  // namespace abi_test
