// memory_test.cpp: whose memory a call may touch: an arena of exactly the size asked for, null data where there are no
// elements, and no two buffers that share a byte undeclared.
#include <catch2/catch.hpp>

#include "call.h"

using namespace abi_test;

namespace {

Call with_arena(Call call, size_t bytes) {
  call.use_arena(bytes);
  return call;
}

bool at(const rlx_error& error, int32_t tensor, int64_t expected, int64_t actual) {
  INFO("tensor " << error.tensor << " expected " << error.expected << " actual " << error.actual);
  CHECK(error.tensor == tensor);
  CHECK(error.expected == expected);
  return error.actual == actual;
}

}  // namespace

TEST_CASE("run demands exactly the arena that arena_bytes says, and one byte less is refused") {
  uint64_t bytes = 0;
  const rlx_function& function = fake_model.functions[FAKE_AFFINE];
  REQUIRE(function.arena_bytes(nullptr, &bytes) == RLX_OK);
  REQUIRE(bytes == 64);
  CHECK(affine_call(bytes).succeeds());
  Call small = affine_call(bytes - 1);
  CHECK(small.refused(RLX_ARENA_SIZE));
  CHECK(at(small.error, -1, 64, 63));
  Call none = affine_call(0);
  none.context.arena_bytes = 64;
  CHECK(none.refused(RLX_ARENA_SIZE));
  CHECK(at(none.error, -1, 64, 0));

  for (int64_t n : {2, 4, 998, 1000}) {
    REQUIRE(fake_model.functions[FAKE_GROW].arena_bytes(&n, &bytes) == RLX_OK);
    CHECK(bytes <= fake_model.functions[FAKE_GROW].arena_max);
    CHECK(with_arena(grow_call(n), bytes).succeeds());
    Call call = with_arena(grow_call(n), bytes - 1);
    CHECK(call.refused(RLX_ARENA_SIZE));
    CHECK(at(call.error, -1, int64_t(bytes), int64_t(bytes) - 1));
  }
}

TEST_CASE("the arena must be at its declared alignment") {
  Call call = affine_call(64, 32);
  CHECK(call.refused(RLX_ARENA_ALIGNMENT));
  CHECK(at(call.error, -1, 64, 32));
}

TEST_CASE("an output shares no byte with an input, another output or the arena") {
  Call call = grow_call(10);
  call.out(0).tensor.data = call.in(2).tensor.data;
  CHECK(call.refused(RLX_OVERLAP));
  CHECK(at(call.error, 3, 0, 2));

  call = grow_call(10);
  call.out(1).tensor.data = static_cast<char*>(call.out(0).tensor.data) + 156;
  CHECK(call.refused(RLX_OVERLAP));
  CHECK(at(call.error, 4, 0, 3));

  call = grow_call(10);
  call.out(0).tensor.data = call.arena.data();
  CHECK(call.refused(RLX_OVERLAP));
  CHECK(at(call.error, 3, 0, -1));

  call = grow_call(10);
  call.in(1).tensor.data = call.arena.as<char>() + 120;
  CHECK(call.refused(RLX_OVERLAP));
  CHECK(at(call.error, 1, 0, -1));
}

TEST_CASE("buffers may touch, and inputs may share memory among themselves") {
  Call call = grow_call(10);
  Memory both(240);
  call.out(0).tensor.data = both.data();
  call.out(1).tensor.data = both.as<char>() + 160;
  call.in(2).tensor.data = call.in(0).tensor.data;
  CHECK(call.succeeds());
  CHECK(both.as<float>()[39] == 50.0f);
  CHECK(both.as<float>()[40] == 1.0f);
}

TEST_CASE("bytes that an output does not need take no part in the overlap") {
  Call call = grow_call(10);
  Memory both(160 + 80);
  call.out(0).tensor.data = both.data();
  call.out(0).shape = {15, 4};
  call.out(1).tensor.data = both.as<char>() + 160;
  CHECK(call.succeeds());
}

TEST_CASE("an output shares no byte with separate weights") {
  Memory file(FAKE_WEIGHTS_BYTES);
  Call call = weights_call(file);
  call.out(0).tensor.data = file.as<char>() + 112;
  CHECK(call.refused(RLX_OVERLAP));
  CHECK(at(call.error, 1, 0, -2));
}

TEST_CASE("a byte offset is applied to every pointer") {
  Call call = affine_call();
  Memory input(64), output(64);
  for (int i = 0; i < 6; ++i) input.as<float>()[4 + i] = float(i);
  output.remember();
  call.in(0).tensor.data = input.data();
  call.in(0).tensor.byte_offset = 16;
  call.out(0).tensor.data = output.data();
  call.out(0).tensor.byte_offset = 40;
  CHECK(call.succeeds());
  CHECK(output.as<float>()[10] == 1.0f);
  CHECK(output.as<float>()[15] == 11.0f);
  CHECK(output.intact());
  call.in(0).tensor.byte_offset = UINT64_MAX - 15;
  CHECK(call.refused(RLX_SIZE_OVERFLOW));
  call.in(0).tensor.byte_offset = uint64_t(INT64_MAX) - 15;
  call.in(0).tensor.data = reinterpret_cast<void*>(UINTPTR_MAX - 15);
  CHECK(call.refused(RLX_SIZE_OVERFLOW));
  CHECK(at(call.error, 0, INT64_MAX, 6));
}

TEST_CASE("null data is accepted where there are no elements") {
  Call call(FAKE_NONZERO);
  call.input({0}).tensor.data = nullptr;
  call.output({0}).tensor.data = nullptr;
  CHECK(call.succeeds());
  Call broadcast(FAKE_BROADCAST);
  broadcast.input({0}).tensor.data = nullptr;
  broadcast.input({1});
  broadcast.output({0}).tensor.data = nullptr;
  CHECK(broadcast.succeeds());
}

TEST_CASE("the error record is optional") {
  Call call = affine_call(63);
  call.needs_error = false;
  CHECK(call.run() == RLX_ARENA_SIZE);
  CHECK(call.arena.untouched());
  CHECK(fake_model.functions[FAKE_AFFINE].bind(nullptr, nullptr, 0, nullptr, nullptr) == RLX_TENSOR_COUNT);
}

TEST_CASE("sizes that do not fit are refused before anything is read") {
  auto huge = [](int64_t n) {
    Call call(FAKE_HUGE);
    call.input({1}).shape = {n};
    call.output({1, 1}).shape = {n, n};
    call.output({1}).shape = {n};
    return call;
  };
  Call call = huge(int64_t(1) << 32);
  CHECK(call.refused(RLX_SIZE_OVERFLOW));
  CHECK(at(call.error, 1, PTRDIFF_MAX, INT64_MAX));
  call = huge(int64_t(1) << 31);
  CHECK(call.refused(RLX_SIZE_OVERFLOW));
  CHECK(at(call.error, 1, PTRDIFF_MAX, int64_t(1) << 62));
  call = huge(INT64_MAX);
  CHECK(call.refused(RLX_SIZE_OVERFLOW));
  uint64_t bytes = 0;
  const int64_t n = INT64_MAX;
  CHECK(fake_model.functions[FAKE_HUGE].arena_bytes(&n, &bytes) == RLX_SIZE_OVERFLOW);
}
