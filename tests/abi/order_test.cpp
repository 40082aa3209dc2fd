// order_test.cpp: of two faults in one call, the one that docs/abi.md lists first is reported.
//
// Each list has faults in the order of that page, as changes to a call that would succeed. Every fault is made alone,
// and every two of a list together: the call must return the status of the first. `bind` stops behind step 7.
#include <catch2/catch.hpp>
#include <functional>

#include "call.h"

using namespace abi_test;

namespace {

struct Fault {
  int step;  ///< of the page's list
  int32_t status;
  std::function<void(Call&)> make;
};

/// Makes each fault and each two of them in calls from `good`.
void check_order(const std::function<Call()>& good, const std::vector<Fault>& faults) {
  for (size_t i = 0; i < faults.size(); ++i)
    for (size_t k = i; k < faults.size(); ++k) {
      INFO("fault " << i << " of step " << faults[i].step << ", and fault " << k << " of step " << faults[k].step);
      Call call = good();
      faults[i].make(call);
      if (k != i) faults[k].make(call);
      CHECK(rlx_status_name(call.run()) == std::string(rlx_status_name(faults[i].status)));
      std::vector<int64_t> symbols;
      const bool null_data = faults[i].step == 5 && faults[i].status == RLX_NULL_POINTER;  // which bind allows
      const bool asked = faults[i].step <= 7 && !null_data;
      CHECK(rlx_status_name(call.bind(symbols)) == std::string(rlx_status_name(asked ? faults[i].status : RLX_OK)));
    }
}

/// Moves a pointer by some bytes.
void shift(void*& pointer, ptrdiff_t bytes) {
  pointer = static_cast<char*>(pointer) + bytes;
}

constexpr uint64_t kFar = UINT64_MAX - 15;

}  // namespace

TEST_CASE("of two faults the earlier guard reports: records, dims, memory, outputs, the arena, overlap") {
  check_order([] { return grow_call(10); },
              {{1, RLX_ABI_MISMATCH, [](Call& call) { call.context.abi_version = 2; }},
               {2, RLX_DEVICE, [](Call& call) { call.in(1).tensor.device_type = 2; }},
               {2, RLX_DTYPE, [](Call& call) { call.in(1).tensor.dtype_bits = 64; }},
               {2, RLX_RANK, [](Call& call) { call.in(1).tensor.ndim = 3; }},
               {2, RLX_NULL_POINTER, [](Call& call) { call.in(1).tensor.shape = nullptr; }},
               {3, RLX_DIM_BOUNDS, [](Call& call) { call.in(0).shape[0] = 1002; }},
               {4, RLX_STATIC_DIM, [](Call& call) { call.in(0).shape[1] = 5; }},
               {4, RLX_SYMBOL_EQUALITY, [](Call& call) { call.in(1).shape[0] = 8; }},
               {5, RLX_SIZE_OVERFLOW, [](Call& call) { call.in(2).tensor.byte_offset = kFar; }},
               {7, RLX_DERIVED_DIM, [](Call& call) { call.in(2).shape[0] = 44; }},
               {8, RLX_DEVICE, [](Call& call) { call.out(0).tensor.device_type = 2; }},
               {8, RLX_DTYPE, [](Call& call) { call.out(0).tensor.dtype_bits = 64; }},
               {8, RLX_RANK, [](Call& call) { call.out(0).tensor.ndim = 1; }},
               {8, RLX_CAPACITY,
                [](Call& call) {
                  call.out(0).shape = {1, 1};
                }},
               {8, RLX_SIZE_OVERFLOW, [](Call& call) { call.out(0).tensor.byte_offset = kFar; }},
               {8, RLX_STRIDES, [](Call& call) { call.out(1).strides = {2}; }},
               {9, RLX_ARENA_SIZE, [](Call& call) { --call.context.arena_bytes; }},
               {9, RLX_ARENA_ALIGNMENT, [](Call& call) { shift(call.context.arena, 4); }},
               {10, RLX_OVERLAP, [](Call& call) { call.out(1).tensor.data = call.in(2).tensor.data; }}});
}

TEST_CASE("of two faults of one input or output the earlier guard reports: strides, null data, reach, alignment") {
  for (bool output : {false, true}) {
    auto tensor = [output](Call& call) -> Argument& { return output ? call.out(0) : call.in(0); };
    const int step = output ? 8 : 5;
    check_order([] { return affine_call(); },
                {{step, RLX_STRIDES,
                  [=](Call& call) {
                    tensor(call).strides = {4, 1};
                  }},
                 {step, RLX_NULL_POINTER, [=](Call& call) { tensor(call).tensor.data = nullptr; }},
                 {step, RLX_SIZE_OVERFLOW, [=](Call& call) { tensor(call).tensor.byte_offset = kFar; }},
                 {step, RLX_ALIGNMENT, [=](Call& call) { tensor(call).tensor.byte_offset += 2; }},
                 {9, RLX_ARENA_SIZE, [](Call& call) { --call.context.arena_bytes; }}});
  }
}

TEST_CASE("of two faults the earlier guard reports: values of inputs behind memory, relations behind values") {
  check_order([] { return reshape_call(4, 8, 3); },
              {{5, RLX_ALIGNMENT, [](Call& call) { call.in(0).tensor.byte_offset = 2; }},
               {6, RLX_DIM_BOUNDS, [](Call& call) { call.in(1).memory.as<int64_t>()[1] = 7000; }},
               {7, RLX_DERIVED_DIM, [](Call& call) { call.in(1).memory.as<int64_t>()[0] = 5; }},
               {8, RLX_DTYPE, [](Call& call) { call.out(0).tensor.dtype_bits = 64; }},
               {9, RLX_ARENA_SIZE, [](Call& call) { call.context.arena_bytes = 1; }}});
}

TEST_CASE(
    "of two faults the earlier guard reports: size, alignment, magic, version and hash of weights, then overlap") {
  Memory file(FAKE_WEIGHTS_BYTES);
  auto header = [&file] { return file.as<rlx_weights_header>(); };
  check_order([&file] { return weights_call(file); },
              {{8, RLX_CAPACITY, [](Call& call) { call.out(0).shape = {3}; }},
               {9, RLX_WEIGHTS_SIZE, [](Call& call) { --call.context.weights_bytes; }},
               {9, RLX_WEIGHTS_ALIGNMENT,
                [](Call& call) { call.context.weights = static_cast<const char*>(call.context.weights) + 4; }},
               {9, RLX_FILE_FORMAT, [=](Call&) { header()->magic[0] = 'Q'; }},
               {9, RLX_ABI_MISMATCH, [=](Call&) { header()->abi_version = 2; }},
               {9, RLX_WEIGHTS_HASH, [=](Call&) { header()->hash[31] = 200; }},
               {10, RLX_OVERLAP, [&file](Call& call) { call.out(0).tensor.data = file.as<char>() + 112; }}});
}
