// queries_test.cpp: what an object may add to the queries: external shape functions, bounds for values that are not
// known yet, and tables of another version. It uses the second model, so this program also has two models linked into
// it.
#include <catch2/catch.hpp>

#include "call.h"
#include "rlx_internal.h"

using namespace abi_test;
using Dims = std::vector<int64_t>;

namespace {

Call external(int64_t n, fake_shape_function& function) {
  Call call(FAKE_EXTERNAL, fake_queries_model);
  call.input({n});
  call.output({8});
  call.context.poll_user = &function;
  return call;
}

Call bounded(int64_t limit) {
  Call call(FAKE_BOUNDED, fake_queries_model);
  call.input({1}).memory.as<int64_t>()[0] = limit;
  call.output({limit});
  call.output({limit * 2});
  call.use_arena(size_t(limit) * 8);
  return call;
}

}  // namespace

TEST_CASE("an external shape function is asked by bind, which then needs a context but no data") {
  fake_shape_function half = [](int64_t n) { return n / 2; };
  Call call = external(9, half);
  Dims symbols, dims = {0};
  CHECK(call.bind(symbols, false) == RLX_NULL_POINTER);
  CHECK(call.error.tensor == -1);
  call.in(0).tensor.data = nullptr;
  CHECK(call.bind(symbols) == RLX_OK);
  CHECK(symbols == Dims{9, 4});
  CHECK(fake_queries_model.functions[FAKE_EXTERNAL].output_shape(symbols.data(), 0, dims.data()) == RLX_OK);
  CHECK(dims == Dims{4});
  Call whole = external(9, half);
  REQUIRE(whole.succeeds());
  CHECK(whole.out(0).shape == Dims{4});
}

TEST_CASE("an external shape function that fails or leaves its bounds is found before an output is touched") {
  fake_shape_function fail = [](int64_t) { return int64_t(-5); };
  Call call = external(9, fail);
  CHECK(call.refused(RLX_EXTERNAL_FAILED));
  CHECK(call.error.symbol == 1);
  CHECK(call.error.actual == -5);
  fake_shape_function large = [](int64_t n) { return n * 100; };
  Call outside = external(9, large);
  CHECK(outside.refused(RLX_DIM_BOUNDS));
  CHECK(outside.error.symbol == 1);
  CHECK(outside.error.expected == 100);
  CHECK(outside.error.actual == 900);
}

TEST_CASE("a function that knows bounds answers with them while values are unknown") {
  const rlx_function& function = fake_queries_model.functions[FAKE_BOUNDED];
  Call call = bounded(7);
  Dims symbols, dims = {0};
  uint64_t bytes = 0;
  REQUIRE(call.succeeds());
  call.in(0).tensor.data = nullptr;
  REQUIRE(call.bind(symbols) == RLX_OK);
  CHECK(symbols == Dims{INT64_MIN});
  CHECK(function.output_shape(symbols.data(), 0, dims.data()) == RLX_NEEDS_DATA);
  CHECK(function.output_shape(symbols.data(), 1, dims.data()) == RLX_OK);
  CHECK(dims == Dims{200});
  CHECK(function.arena_bytes(symbols.data(), &bytes) == RLX_OK);
  CHECK(bytes == function.arena_max);
  symbols = {7};
  CHECK(function.output_shape(symbols.data(), 1, dims.data()) == RLX_OK);
  CHECK(dims == Dims{14});
  CHECK(function.arena_bytes(symbols.data(), &bytes) == RLX_OK);
  CHECK(bytes == 56);
}

TEST_CASE("tables of another version are refused by every entry") {
  const rlx_function& function = fake_queries_model.functions[FAKE_OTHER_VERSION];
  Call call(FAKE_OTHER_VERSION, fake_queries_model);
  call.input({1});
  call.output({1});
  Dims symbols, dims = {0};
  uint64_t bytes = 0;
  CHECK(call.refused(RLX_ABI_MISMATCH));
  CHECK(call.error.expected == RLX_PRIVATE_VERSION);
  CHECK(call.error.actual == RLX_PRIVATE_VERSION + 1);
  CHECK(call.bind(symbols) == RLX_ABI_MISMATCH);
  CHECK(function.output_shape(nullptr, 0, dims.data()) == RLX_ABI_MISMATCH);
  CHECK(function.arena_bytes(nullptr, &bytes) == RLX_ABI_MISMATCH);
}
