// guards_test.cpp: every guard tripped on purpose. Each test breaks one thing of a call that would succeed, and holds
// the code, the record and that no byte has changed.
#include <catch2/catch.hpp>

#include "call.h"

using namespace abi_test;

namespace {

/// Whether the record says exactly this.
bool found(const rlx_error& error, int32_t tensor, int32_t axis, int32_t symbol, int64_t expected, int64_t actual) {
  INFO("tensor " << error.tensor << " axis " << error.axis << " symbol " << error.symbol << " expected "
                 << error.expected << " actual " << error.actual);
  CHECK(error.tensor == tensor);
  CHECK(error.axis == axis);
  CHECK(error.symbol == symbol);
  CHECK(error.node == -1);
  CHECK(error.expected == expected);
  return error.actual == actual;
}

int64_t dtype(int64_t code, int64_t bits, int64_t lanes) {
  return code | bits << 8 | lanes << 16;
}

}  // namespace

TEST_CASE("a call without fault computes and leaves the record alone") {
  Call call = affine_call();
  REQUIRE(call.succeeds());
  for (int i = 0; i < 6; ++i) CHECK(call.out(0).memory.as<float>()[i] == 2.0f * float(i + 1) + 1.0f);
  for (int64_t n : {2, 10, 1000}) {
    Call dynamic = grow_call(n);
    REQUIRE(dynamic.succeeds());
    CHECK(dynamic.out(0).memory.as<float>()[n * 4 - 1] == float(n * 4 + n));
    CHECK(dynamic.out(1).memory.as<float>()[n * 2 - 1] == float(n * 4 - 1));
  }
}

TEST_CASE("a null pointer is named by tensor") {
  Call call = affine_call();
  call.in(0).tensor.data = nullptr;
  CHECK(call.refused(RLX_NULL_POINTER));
  CHECK(found(call.error, 0, -1, -1, 0, 0));
  call = affine_call();
  call.out(0).tensor.data = nullptr;
  CHECK(call.refused(RLX_NULL_POINTER));
  CHECK(found(call.error, 1, -1, -1, 0, 0));
  call = affine_call();
  call.out(0).tensor.shape = nullptr;
  CHECK(call.refused(RLX_NULL_POINTER));
  CHECK(found(call.error, 1, -1, -1, 0, 0));
  const rlx_function& function = fake_model.functions[FAKE_AFFINE];
  CHECK(function.run(nullptr, nullptr, 0, nullptr, 0) == RLX_NULL_POINTER);
  CHECK(function.run(&call.context, nullptr, 1, nullptr, 1) == RLX_NULL_POINTER);
  CHECK(found(call.error, -1, -1, -1, 0, 0));
}

TEST_CASE("a wrong number of tensors is refused") {
  Call call = affine_call();
  call.num_in = 0;
  CHECK(call.refused(RLX_TENSOR_COUNT));
  CHECK(found(call.error, -1, -1, -1, 1, 0));
  call = affine_call();
  call.num_out = 2;
  CHECK(call.refused(RLX_TENSOR_COUNT));
  CHECK(found(call.error, -1, -1, -1, 1, 2));
}

TEST_CASE("a tensor of another device is refused") {
  Call call = affine_call();
  call.in(0).tensor.device_type = 2;
  CHECK(call.refused(RLX_DEVICE));
  CHECK(found(call.error, 0, -1, -1, 1, 2));
  call = affine_call();
  call.out(0).tensor.device_id = 3;
  CHECK(call.refused(RLX_DEVICE));
  CHECK(found(call.error, 1, -1, -1, 0, 3));
}

TEST_CASE("a wrong dtype is refused by code, bits and lanes") {
  const int64_t f32 = dtype(RLX_DTYPE_FLOAT, 32, 1);
  Call call = affine_call();
  call.in(0).tensor.dtype_code = RLX_DTYPE_INT;
  CHECK(call.refused(RLX_DTYPE));
  CHECK(found(call.error, 0, -1, -1, f32, dtype(RLX_DTYPE_INT, 32, 1)));
  call = affine_call();
  call.out(0).tensor.dtype_bits = 16;
  CHECK(call.refused(RLX_DTYPE));
  CHECK(found(call.error, 1, -1, -1, f32, dtype(RLX_DTYPE_FLOAT, 16, 1)));
  call = affine_call();
  call.in(0).tensor.dtype_lanes = 4;
  CHECK(call.refused(RLX_DTYPE));
  CHECK(found(call.error, 0, -1, -1, f32, dtype(RLX_DTYPE_FLOAT, 32, 4)));
}

TEST_CASE("a wrong rank is refused") {
  Call call = affine_call();
  call.in(0).tensor.ndim = 1;
  CHECK(call.refused(RLX_RANK));
  CHECK(found(call.error, 0, -1, -1, 2, 1));
  call = affine_call();
  call.out(0).tensor.ndim = -1;
  CHECK(call.refused(RLX_RANK));
  CHECK(found(call.error, 1, -1, -1, 2, -1));
}

TEST_CASE("a static dim is named by tensor and axis") {
  Call call = affine_call();
  call.in(0).shape[1] = 4;
  CHECK(call.refused(RLX_STATIC_DIM));
  CHECK(found(call.error, 0, 1, -1, 3, 4));
}

TEST_CASE("a symbol must have one value in all inputs") {
  Call call = grow_call(10);
  call.in(1).shape[0] = 8;
  CHECK(call.refused(RLX_SYMBOL_EQUALITY));
  CHECK(found(call.error, 1, 0, 0, 10, 8));
}

TEST_CASE("a derived dim follows from the symbols") {
  Call call = grow_call(10);
  call.in(2).shape[0] = 44;
  CHECK(call.refused(RLX_DERIVED_DIM));
  CHECK(found(call.error, 2, 0, -1, 40, 44));
}

TEST_CASE("a symbol keeps its declared bounds and multiple") {
  Call call = grow_call(10);
  call.in(0).shape[0] = 0;
  CHECK(call.refused(RLX_DIM_BOUNDS));
  CHECK(found(call.error, 0, 0, 0, 2, 0));
  call.in(0).shape[0] = 1002;
  CHECK(call.refused(RLX_DIM_BOUNDS));
  CHECK(found(call.error, 0, 0, 0, 1000, 1002));
  call.in(0).shape[0] = 9;
  CHECK(call.refused(RLX_DIM_BOUNDS));
  CHECK(found(call.error, 0, 0, 0, 2, 9));
  call = grow_call(10);
  call.in(2).shape[0] = -40;
  CHECK(call.refused(RLX_DIM_BOUNDS));
  CHECK(found(call.error, 2, 0, -1, 0, -40));
}

TEST_CASE("strides must be compact where nothing else is declared") {
  Call call = affine_call();
  call.in(0).strides = {3, 1};
  CHECK(call.succeeds());
  call.in(0).strides = {4, 1};
  CHECK(call.refused(RLX_STRIDES));
  CHECK(found(call.error, 0, 0, -1, 3, 4));
  call = affine_call();
  call.out(0).strides = {1, 2};
  CHECK(call.refused(RLX_STRIDES));
  CHECK(found(call.error, 1, 1, -1, 1, 2));
}

TEST_CASE("strides of extents of 1 and of tensors without elements do not matter") {
  Call call = reshape_call(4, 24, 1);
  call.out(0).strides = {1, 99};
  CHECK(call.succeeds());
  call.out(0).strides = {2, 1};
  CHECK(call.refused(RLX_STRIDES));
  call = reshape_call(0, 0, 5);
  call.in(0).strides = {77, -5};
  call.out(0).strides = {3, 3};
  CHECK(call.succeeds());
}

TEST_CASE("elements must be at their natural alignment") {
  Call call = affine_call();
  call.in(0).tensor.byte_offset = 2;
  CHECK(call.refused(RLX_ALIGNMENT));
  CHECK(found(call.error, 0, -1, -1, 4, 2));
  call = affine_call();
  call.out(0).tensor.byte_offset = 1;
  CHECK(call.refused(RLX_ALIGNMENT));
  CHECK(found(call.error, 1, -1, -1, 4, 1));
}

TEST_CASE("a complex element needs the alignment of one of its parts, and no more") {
  auto shifted = [](uint64_t input, uint64_t output) {
    Call call(FAKE_COMPLEX, fake_queries_model);
    for (Argument* argument : {&call.input({2}), &call.output({2})}) {
      argument->memory = Memory(24);
      argument->tensor.data = argument->memory.data();
    }
    call.in(0).tensor.byte_offset = input;
    call.out(0).tensor.byte_offset = output;
    return call;
  };
  for (uint64_t offset : {0, 4, 8}) CHECK(shifted(offset, 8 - offset).succeeds());
  Call call = shifted(2, 0);
  CHECK(call.refused(RLX_ALIGNMENT));
  CHECK(found(call.error, 0, -1, -1, 4, 2));
  call = shifted(4, 6);
  CHECK(call.refused(RLX_ALIGNMENT));
  CHECK(found(call.error, 1, -1, -1, 4, 2));
}

TEST_CASE("an output of exact shape needs its capacity, of which the product counts") {
  Call call = affine_call();
  call.out(0).shape = {5, 1};
  CHECK(call.refused(RLX_CAPACITY));
  CHECK(found(call.error, 1, -1, -1, 6, 5));
  call.out(0).shape = {1, 6};
  CHECK(call.succeeds());
  CHECK(call.out(0).shape == std::vector<int64_t>{2, 3});
  call.out(0).shape = {-2, -3};
  CHECK(call.refused(RLX_CAPACITY));
  CHECK(found(call.error, 1, 0, -1, 0, -2));
  call.out(0).shape = {INT64_MAX, INT64_MAX};
  CHECK(call.succeeds());
}

TEST_CASE("separate weights are checked by size, alignment, version and hash") {
  Memory file(FAKE_WEIGHTS_BYTES);
  Call call = weights_call(file);
  REQUIRE(call.succeeds());
  CHECK(call.out(0).memory.as<float>()[3] == 34.0f);

  call.context.weights_bytes = FAKE_WEIGHTS_BYTES - 1;
  CHECK(call.refused(RLX_WEIGHTS_SIZE));
  CHECK(found(call.error, -1, -1, -1, FAKE_WEIGHTS_BYTES, FAKE_WEIGHTS_BYTES - 1));
  call.context.weights = nullptr;
  call.context.weights_bytes = FAKE_WEIGHTS_BYTES;
  CHECK(call.refused(RLX_WEIGHTS_SIZE));
  CHECK(found(call.error, -1, -1, -1, FAKE_WEIGHTS_BYTES, 0));

  call = weights_call(file);
  file.as<rlx_weights_header>()->bytes = 96;
  CHECK(call.refused(RLX_WEIGHTS_SIZE));
  CHECK(found(call.error, -1, -1, -1, FAKE_WEIGHTS_BYTES, 96));
  call = weights_call(file);
  file.as<rlx_weights_header>()->hash[31] = 200;
  CHECK(call.refused(RLX_WEIGHTS_HASH));
  CHECK(found(call.error, -1, 31, -1, 0, 200));
  call = weights_call(file);
  file.as<rlx_weights_header>()->abi_version = 2;
  CHECK(call.refused(RLX_ABI_MISMATCH));
  CHECK(found(call.error, -1, -1, -1, 1, 2));
  call = weights_call(file);
  file.as<rlx_weights_header>()->magic[0] = 'Q';
  CHECK(call.refused(RLX_FILE_FORMAT));
  Memory shifted(FAKE_WEIGHTS_BYTES, 16);
  call = weights_call(shifted);
  CHECK(call.refused(RLX_WEIGHTS_ALIGNMENT));
  CHECK(found(call.error, -1, -1, -1, 64, 16));
}

TEST_CASE("a context of another version or a shorter one is refused, a longer one accepted") {
  Call call = affine_call();
  call.context.abi_version = 2;
  CHECK(call.run() == RLX_ABI_MISMATCH);
  CHECK(call.out(0).memory.untouched());
  CHECK(call.error.code != RLX_ABI_MISMATCH);  // where `error` is in a context of another version is not known
  std::vector<int64_t> symbols;
  CHECK(call.bind(symbols) == RLX_ABI_MISMATCH);
  CHECK(found(call.error, -1, -1, -1, 1, 2));
  call = affine_call();
  call.context.struct_size = sizeof(rlx_context) - 8;
  CHECK(call.run() == RLX_ABI_MISMATCH);
  CHECK(call.bind(symbols) == RLX_ABI_MISMATCH);
  CHECK(found(call.error, -1, -1, -1, sizeof(rlx_context), sizeof(rlx_context) - 8));
  call = affine_call();
  call.context.struct_size = 4096;
  CHECK(call.succeeds());
}

TEST_CASE("symbols that meet in a broadcast are equal or 1") {
  auto broadcast = [](int64_t n, int64_t m) {
    Call call(FAKE_BROADCAST);
    call.input({n});
    call.input({m});
    call.output({n == 1 ? m : n});
    return call;
  };
  CHECK(broadcast(5, 5).succeeds());
  CHECK(broadcast(1, 5).succeeds());
  CHECK(broadcast(5, 1).succeeds());
  Call call = broadcast(5, 3);
  CHECK(call.refused(RLX_BROADCAST));
  CHECK(found(call.error, 1, 0, 1, 5, 3));
}

TEST_CASE("an error that a body finds passes through with its record, and sizes stay capacities") {
  for (int32_t status :
       {RLX_INDEX_RANGE, RLX_ASSERTION, RLX_EXTERNAL_FAILED, RLX_RECURSION_DEPTH, RLX_NO_ALLOCATOR, RLX_OUT_OF_MEMORY,
        RLX_POLLED, RLX_DATA_BOUND, RLX_OBJECT_KIND, RLX_SELFTEST, RLX_NODE_LIMIT}) {
    Call call = affine_call();
    fake_fault fault = {status};
    call.context.trace_user = &fault;
    call.out(0).shape = {1, 6};
    CHECK(call.run() == status);
    CHECK(call.error.code == status);
    CHECK(call.error.node == 7);
    CHECK(call.out(0).shape == std::vector<int64_t>{1, 6});
  }
}

TEST_CASE("every status has a name of its own") {
  CHECK(std::string(rlx_status_name(RLX_OK)) == "OK");
  CHECK(std::string(rlx_status_name(RLX_NEEDS_DATA)) == "NEEDS_DATA");
  CHECK(std::string(rlx_status_name(RLX_FILE_FORMAT)) == "FILE_FORMAT");
  CHECK(std::string(rlx_status_name(RLX_OBJECT_KIND)) == "OBJECT_KIND");
  CHECK(std::string(rlx_status_name(RLX_NODE_LIMIT)) == "NODE_LIMIT");
  CHECK(std::string(rlx_status_name(RLX_POOL_ALIGNMENT)) == "POOL_ALIGNMENT");
  for (int32_t unknown : {-1, 26, 31, 44, 66, 0x7fffffff}) CHECK(std::string(rlx_status_name(unknown)) == "UNKNOWN");
}
