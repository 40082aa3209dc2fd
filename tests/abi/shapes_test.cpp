// shapes_test.cpp: what a caller may ask before a run (bind, output_shape, arena_bytes), symbols that come from values,
// and outputs whose size only the data decides.
#include <catch2/catch.hpp>

#include "call.h"

using namespace abi_test;
using Dims = std::vector<int64_t>;

namespace {

Call nonzero(const std::vector<float>& x, int64_t capacity) {
  Call call(FAKE_NONZERO);
  call.input({int64_t(x.size())});
  std::copy(x.begin(), x.end(), call.in(0).memory.as<float>());
  call.output({capacity});
  return call;
}

int32_t output_shape(int function, const Dims& symbols, uint32_t index, Dims& dims) {
  return fake_model.functions[function].output_shape(symbols.data(), index, dims.data());
}

}  // namespace

TEST_CASE("bind solves the symbols, with data or without") {
  Call call(FAKE_GROW);
  call.input({10, 4});
  call.input({10});
  call.input({40});
  Dims symbols;
  CHECK(call.bind(symbols) == RLX_OK);
  CHECK(symbols == Dims{10});
  for (size_t i = 0; i < 3; ++i) call.in(i).tensor.data = nullptr;
  CHECK(call.bind(symbols, false) == RLX_OK);
  CHECK(symbols == Dims{10});
  call.in(2).shape = {41};
  CHECK(call.bind(symbols) == RLX_DERIVED_DIM);
  CHECK(call.error.tensor == 2);
  CHECK(call.error.expected == 40);
  CHECK(call.error.actual == 41);
}

TEST_CASE("output_shape and arena_bytes answer from symbols alone and keep their bounds") {
  Dims dims = {0, 0};
  CHECK(output_shape(FAKE_GROW, {10}, 0, dims) == RLX_OK);
  CHECK(dims == Dims{10, 4});
  CHECK(output_shape(FAKE_GROW, {10}, 1, dims) == RLX_OK);
  CHECK(dims[0] == 20);
  CHECK(output_shape(FAKE_GROW, {10}, 2, dims) == RLX_TENSOR_COUNT);
  CHECK(output_shape(FAKE_GROW, {1001}, 0, dims) == RLX_DIM_BOUNDS);
  CHECK(output_shape(FAKE_GROW, {7}, 0, dims) == RLX_DIM_BOUNDS);
  const rlx_function& grow = fake_model.functions[FAKE_GROW];
  const int64_t n = 10, odd = 7;
  uint64_t bytes = 0;
  CHECK(grow.arena_bytes(&n, &bytes) == RLX_OK);
  CHECK(bytes == 160);
  CHECK(grow.arena_bytes(&odd, &bytes) == RLX_DIM_BOUNDS);
  CHECK(grow.arena_bytes(nullptr, &bytes) == RLX_NULL_POINTER);
  CHECK(grow.arena_bytes(&n, nullptr) == RLX_NULL_POINTER);
  CHECK(grow.output_shape(nullptr, 0, dims.data()) == RLX_NULL_POINTER);
  CHECK(grow.output_shape(&n, 0, nullptr) == RLX_NULL_POINTER);
}

TEST_CASE("a shape that is an input's value is read by bind") {
  Dims symbols, dims = {0, 0};
  Call call = reshape_call(4, 8, 3);
  CHECK(call.bind(symbols) == RLX_OK);
  CHECK(symbols == Dims{4, 8, 3});
  CHECK(output_shape(FAKE_RESHAPE, symbols, 0, dims) == RLX_OK);
  CHECK(dims == Dims{8, 3});
  REQUIRE(call.succeeds());
  CHECK(call.out(0).shape == Dims{8, 3});
  CHECK(call.out(0).memory.as<int32_t>()[23] == 24);
  Call inferred = reshape_call(4, -1, 2);
  REQUIRE(inferred.succeeds());
  CHECK(inferred.out(0).shape == Dims{12, 2});
}

TEST_CASE("without data the value symbols are unknown and the answers say so") {
  Dims symbols, dims = {0, 0};
  Call call = reshape_call(4, 8, 3);
  call.in(0).tensor.data = call.in(1).tensor.data = nullptr;
  CHECK(call.bind(symbols) == RLX_OK);
  CHECK(symbols == Dims{4, INT64_MIN, INT64_MIN});
  CHECK(output_shape(FAKE_RESHAPE, symbols, 0, dims) == RLX_NEEDS_DATA);
  uint64_t bytes = 0;
  CHECK(fake_model.functions[FAKE_RESHAPE].arena_bytes(symbols.data(), &bytes) == RLX_NEEDS_DATA);
  CHECK(call.refused(RLX_NULL_POINTER));
}

TEST_CASE("the data of the inputs that decide shapes is enough for bind") {
  Dims symbols;
  Call call = reshape_call(4, 8, 3);
  call.in(0).tensor.data = nullptr;
  CHECK(call.bind(symbols) == RLX_OK);
  CHECK(symbols == Dims{4, 8, 3});
}

TEST_CASE("value symbols keep relations and bounds, found before an output is touched") {
  Call call = reshape_call(4, 5, 3);
  CHECK(call.refused(RLX_DERIVED_DIM));
  CHECK(call.error.symbol == 1);
  CHECK(call.error.expected == 24);
  CHECK(call.error.actual == 15);
  call = reshape_call(4, -3, -8);
  CHECK(call.refused(RLX_DIM_BOUNDS));
  CHECK(call.error.symbol == 1);
  CHECK(call.error.tensor == -1);
  CHECK(call.error.actual == -3);
  call = reshape_call(4, 8, 3);
  call.in(1).tensor.byte_offset = 4;
  CHECK(call.refused(RLX_ALIGNMENT));
}

TEST_CASE("a data-dependent output accepts any capacity and says what it needed") {
  const std::vector<float> x = {0, 1, 0, 2, 3};
  Dims dims = {0};
  CHECK(output_shape(FAKE_NONZERO, {5}, 0, dims) == RLX_OK);
  CHECK(dims == Dims{5});
  for (int64_t capacity : {3, 4, 5, 9}) {
    Call call = nonzero(x, capacity);
    REQUIRE(call.succeeds());
    CHECK(call.out(0).shape == Dims{3});
    CHECK(call.out(0).memory.as<int64_t>()[2] == 4);
  }
  Call small = nonzero(x, 2);
  CHECK(small.run() == RLX_DATA_CAPACITY);
  CHECK(small.error.expected == 3);
  CHECK(small.error.actual == 2);
  CHECK(small.out(0).memory.intact());
  CHECK(small.out(0).shape == Dims{2});
}

TEST_CASE("a data-dependent output has no strides of its own and overlaps by its capacity up to the bound") {
  Call call = nonzero({0, 1, 0}, 3);
  call.out(0).strides = {1};
  CHECK(call.succeeds());
  call = nonzero({0, 1, 0}, 3);
  call.out(0).strides = {2};
  CHECK(call.refused(RLX_STRIDES));
  Memory both(64);
  for (int64_t capacity : {3, 5}) {
    call = nonzero({0, 1, 0}, capacity);
    std::memcpy(both.as<char>() + 24, call.in(0).tensor.data, 12);
    call.in(0).tensor.data = both.as<char>() + 24;
    call.out(0).tensor.data = both.data();
    CHECK(call.succeeds());
  }
  call.in(0).tensor.data = both.as<char>() + 20;
  call.out(0).shape = {3};
  CHECK(call.refused(RLX_OVERLAP));
}
