// state_test.cpp: tensors that are carried from call to call, in place or not, and strides where they are declared.
#include <catch2/catch.hpp>

#include "call.h"

using namespace abi_test;
using Dims = std::vector<int64_t>;

namespace {

/// A cache of `n` rows per head and `k` new ones; the memory holds `capacity` rows per head.
Call append(int64_t n, int64_t k, int64_t capacity, Memory& cache) {
  Call call(FAKE_APPEND);
  call.input({2, n, 4}).strides = {capacity * 4, 4, 1};
  call.input({2, k, 4});
  call.output({2, capacity, 4}).strides = {capacity * 4, 4, 1};
  call.in(0).tensor.data = call.out(0).tensor.data = cache.data();
  return call;
}

}  // namespace

TEST_CASE("a state may be one memory or two, with the same answer") {
  Call apart = state_call();
  REQUIRE(apart.succeeds());
  Call in_place = state_call();
  in_place.out(1).tensor.data = in_place.in(1).tensor.data;
  REQUIRE(in_place.succeeds());
  for (int i = 0; i < 2; ++i) {
    CHECK(apart.out(0).memory.as<float>()[i] == in_place.out(0).memory.as<float>()[i]);
    CHECK(apart.out(1).memory.as<float>()[i] == in_place.in(1).memory.as<float>()[i]);
  }
}

TEST_CASE("a state in place must start where its input starts, and only with its own input") {
  Call call = state_call();
  Memory both(64);
  call.in(1).tensor.data = both.data();
  call.out(1).tensor.data = both.as<char>() + 4;
  CHECK(call.refused(RLX_OVERLAP));
  CHECK(call.error.tensor == 3);
  CHECK(call.error.actual == 1);
  call = state_call();
  call.out(0).tensor.data = call.in(1).tensor.data;
  CHECK(call.refused(RLX_OVERLAP));
  CHECK(call.error.tensor == 2);
  CHECK(call.error.actual == 1);
  call = state_call();
  call.out(1).tensor.data = call.in(0).tensor.data;
  CHECK(call.refused(RLX_OVERLAP));
  CHECK(call.error.tensor == 3);
  CHECK(call.error.actual == 0);
}

TEST_CASE("an append state grows in place inside its capacity and writes only the new part") {
  Memory cache(2 * 8 * 4 * 4);
  int64_t n = 0;
  for (int64_t k : {3, 0, 1, 4}) {
    Memory before = cache;
    Call call = append(n, k, 8, cache);
    REQUIRE(call.succeeds());
    CHECK(call.out(0).shape == Dims{2, n + k, 4});
    for (int64_t head = 0; head < 2; ++head)
      for (int64_t row = 0; row < 8; ++row)
        for (int64_t i = 0; i < 4; ++i) {
          const int64_t at = head * 32 + row * 4 + i;
          const bool is_new = row >= n && row < n + k;
          if (is_new) CHECK(cache.as<float>()[at] == float((head * k + row - n) * 4 + i + 1));
          if (!is_new) CHECK(std::memcmp(cache.as<float>() + at, before.as<float>() + at, 4) == 0);
        }
    n += k;
  }
  CHECK(cache.intact());
}

TEST_CASE("an append state that is not in place is copied into a compact output") {
  Memory cache(2 * 8 * 4 * 4);
  REQUIRE(append(0, 2, 8, cache).succeeds());
  Call call = append(2, 1, 8, cache);
  call.out(0).strides.clear();
  call.out(0).shape = {2, 3, 4};
  Memory apart(2 * 3 * 4 * 4);
  call.out(0).tensor.data = apart.data();
  apart.remember();
  REQUIRE(call.succeeds());
  CHECK(apart.intact());
  CHECK(apart.as<float>()[0] == 1.0f);
  CHECK(apart.as<float>()[8] == 1.0f);
  CHECK(apart.as<float>()[12] == 9.0f);
}

TEST_CASE("an append state in place keeps one layout and its capacity along each axis") {
  Memory cache(2 * 8 * 4 * 4);
  Call call = append(2, 2, 8, cache);
  call.out(0).strides = {24, 4, 1};
  CHECK(call.refused(RLX_STRIDES));
  CHECK(call.error.tensor == 2);
  CHECK(call.error.axis == 0);
  CHECK(call.error.expected == 32);
  CHECK(call.error.actual == 24);
  call = append(2, 2, 8, cache);
  call.out(0).shape = {2, 3, 4};
  CHECK(call.refused(RLX_CAPACITY));
  CHECK(call.error.tensor == 2);
  call = append(2, 2, 8, cache);
  call.out(0).shape = {4, 3, 4};
  CHECK(call.refused(RLX_CAPACITY));
  CHECK(call.error.axis == 1);
  CHECK(call.error.expected == 4);
  CHECK(call.error.actual == 3);
  call = append(2, 2, 8, cache);
  call.in(0).strides = call.out(0).strides = {12, 4, 1};
  CHECK(call.refused(RLX_STRIDES));
  CHECK(call.error.axis == 0);
  CHECK(call.error.expected == 16);
  CHECK(call.error.actual == 12);
}

TEST_CASE("compact records in place fit an append state only where growth moves no element") {
  Memory cache(2 * 8 * 4 * 4);
  Call call = append(2, 2, 8, cache);
  call.in(0).strides.clear();
  call.out(0).strides.clear();
  CHECK(call.refused(RLX_STRIDES));
  CHECK(call.error.expected == 8);
  CHECK(call.error.actual == 16);
}

TEST_CASE("a declared input may have any strides, and its memory is what they reach") {
  auto broadcast = [](Dims strides, int64_t first) {
    Call call(FAKE_BROADCAST);
    call.input({3});
    call.input({3}).strides = strides;
    call.output({3});
    Memory& wide = call.in(1).memory = Memory(7 * 4);
    for (int i = 0; i < 7; ++i) wide.as<float>()[i] = float(10 * i);
    call.in(1).tensor.data = wide.data();
    call.in(1).tensor.byte_offset = uint64_t(first) * 4;
    return call;
  };
  Call call = broadcast({3}, 0);
  REQUIRE(call.succeeds());
  CHECK(call.out(0).memory.as<float>()[2] == 63.0f);
  call = broadcast({-2}, 6);
  REQUIRE(call.succeeds());
  CHECK(call.out(0).memory.as<float>()[2] == 23.0f);
  call = broadcast({0}, 4);
  REQUIRE(call.succeeds());
  CHECK(call.out(0).memory.as<float>()[2] == 43.0f);
  call = broadcast({-2}, 6);
  call.out(0).tensor.data = call.in(1).memory.data();
  CHECK(call.refused(RLX_OVERLAP));
  call = broadcast({INT64_MAX / 2}, 0);
  CHECK(call.refused(RLX_SIZE_OVERFLOW));
  call = broadcast({INT64_MIN}, 0);
  CHECK(call.refused(RLX_SIZE_OVERFLOW));
}
