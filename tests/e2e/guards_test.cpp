// guards_test.cpp: every guard on models that relaxc compiled, by both backends. Each call that is refused must say so
// with the status and the record of docs/abi.md and leave every byte as it was.
#include <catch2/catch.hpp>

#include "tests/abi/call.h"
#include "tests/e2e/compile_and_run.h"

namespace relaxc::e2e {
namespace {

using abi_test::Call;

CompiledProgram& guarded() {
  api::CompileOptions options;
  options.dims = {{"n", 2, 8, 2}};
  static CompiledProgram program("tests/e2e/programs/guarded.relax", options);
  return program;
}

/// A call that succeeds, with arguments for n = 4, on the model of one backend.
Call good_call(const rlx_model& model) {
  Call call(0, model);
  call.input({4, 4});
  call.input({4, 4});
  call.input({8});
  call.output({4, 4});
  std::vector<int64_t> symbols;
  uint64_t bytes = 0;
  REQUIRE(call.bind(symbols) == RLX_OK);
  REQUIRE(symbols == std::vector<int64_t>{4});
  REQUIRE(model.functions->arena_bytes(symbols.data(), &bytes) == RLX_OK);
  REQUIRE(bytes > 0);
  REQUIRE(bytes <= model.functions->arena_max);
  call.use_arena(bytes);
  REQUIRE(call.succeeds());
  return call;
}

struct Record {
  int32_t tensor = -1, axis = -1, symbol = -1;
  int64_t expected = 0, actual = 0;
};

/// Breaks a good call of each backend's model and keeps the record that it gets.
template <class Break>
void check_refused(int32_t status, Record record, Break break_call) {
  for (const LoadedModel* model : {&guarded().llvm(), &guarded().c()}) {
    Call call = good_call(model->model());
    break_call(call);
    INFO(rlx_status_name(status));
    CHECK(call.refused(status));
    INFO("got " << rlx_status_name(call.error.code));
    CHECK(call.error.tensor == record.tensor);
    CHECK(call.error.axis == record.axis);
    CHECK(call.error.symbol == record.symbol);
    CHECK(call.error.expected == record.expected);
    CHECK(call.error.actual == record.actual);
  }
}

int32_t dtype(int32_t code, int32_t bits) {
  return code | bits << 8 | 1 << 16;
}

TEST_CASE("a cast of data that fails names its symbol") {
  CompiledProgram program("tests/e2e/programs/cast_of_data.relax");
  std::string said = program.refusal({tensor(DType::f(32), {3}, {1, 1, 1}), tensor(DType::f(32), {2}, {1, 1})});
  CHECK_THAT(said, Catch::Contains("'k'"));
}

TEST_CASE("a compiled model refuses null pointers and wrong counts") {
  check_refused(RLX_NULL_POINTER, {0}, [](Call& call) { call.in(0).tensor.data = nullptr; });
  check_refused(RLX_NULL_POINTER, {3}, [](Call& call) { call.out(0).tensor.data = nullptr; });
  check_refused(RLX_NULL_POINTER, {1}, [](Call& call) { call.in(1).tensor.shape = nullptr; });
  check_refused(RLX_TENSOR_COUNT, {-1, -1, -1, 3, 2}, [](Call& call) { call.num_in = 2; });
  check_refused(RLX_TENSOR_COUNT, {-1, -1, -1, 1, 0}, [](Call& call) { call.num_out = 0; });
}

TEST_CASE("a compiled model refuses tensors of another device, dtype or rank") {
  check_refused(RLX_DEVICE, {1, -1, -1, 1, 2}, [](Call& call) { call.in(1).tensor.device_type = 2; });
  check_refused(RLX_DEVICE, {3, -1, -1, 0, 1}, [](Call& call) { call.out(0).tensor.device_id = 1; });
  check_refused(RLX_DTYPE, {2, -1, -1, dtype(RLX_DTYPE_FLOAT, 32), dtype(RLX_DTYPE_INT, 32)},
                [](Call& call) { call.in(2).tensor.dtype_code = RLX_DTYPE_INT; });
  check_refused(RLX_DTYPE, {3, -1, -1, dtype(RLX_DTYPE_FLOAT, 32), dtype(RLX_DTYPE_FLOAT, 64)},
                [](Call& call) { call.out(0).tensor.dtype_bits = 64; });
  check_refused(RLX_RANK, {0, -1, -1, 2, 1}, [](Call& call) { call.in(0).tensor.ndim = 1; });
}

TEST_CASE("a compiled model refuses dims that its interface excludes") {
  check_refused(RLX_STATIC_DIM, {0, 1, -1, 4, 3}, [](Call& call) { call.in(0).shape[1] = 3; });
  check_refused(RLX_SYMBOL_EQUALITY, {1, 0, 0, 4, 2}, [](Call& call) { call.in(1).shape[0] = 2; });
  check_refused(RLX_DERIVED_DIM, {2, 0, -1, 8, 7}, [](Call& call) { call.in(2).shape[0] = 7; });
  check_refused(RLX_DIM_BOUNDS, {0, 0, 0, 8, 10}, [](Call& call) { call.in(0).shape[0] = 10; });
  check_refused(RLX_DIM_BOUNDS, {0, 0, 0, 2, 0}, [](Call& call) { call.in(0).shape[0] = 0; });
  check_refused(RLX_DIM_BOUNDS, {0, 0, 0, 2, 3}, [](Call& call) { call.in(0).shape[0] = 3; });
}

TEST_CASE("a compiled model refuses strides, misaligned elements and small outputs") {
  check_refused(RLX_STRIDES, {0, 0, -1, 4, 5}, [](Call& call) { call.in(0).strides = {5, 1}; });
  check_refused(RLX_STRIDES, {3, 1, -1, 1, 4}, [](Call& call) { call.out(0).strides = {1, 4}; });
  check_refused(RLX_ALIGNMENT, {0, -1, -1, 4, 1}, [](Call& call) { call.in(0).tensor.byte_offset = 1; });
  check_refused(RLX_ALIGNMENT, {3, -1, -1, 4, 2}, [](Call& call) { call.out(0).tensor.byte_offset = 2; });
  check_refused(RLX_CAPACITY, {3, -1, -1, 16, 15}, [](Call& call) { call.out(0).shape = {1, 15}; });
}

TEST_CASE("a compiled model refuses buffers that share bytes") {
  check_refused(RLX_OVERLAP, {3, -1, -1, 0, 1}, [](Call& call) { call.out(0).tensor.data = call.in(1).tensor.data; });
  check_refused(RLX_OVERLAP, {3, -1, -1, 0, -1}, [](Call& call) {
    call.use_arena(1024);
    call.out(0).tensor.data = call.arena.data();
  });
  check_refused(RLX_OVERLAP, {2, -1, -1, 0, -1}, [](Call& call) {
    call.use_arena(1024);
    call.in(2).tensor.data = call.arena.data();
  });
}

TEST_CASE("a compiled model demands exactly its arena, at its alignment") {
  for (const LoadedModel* model : {&guarded().llvm(), &guarded().c()}) {
    Call call = good_call(model->model());
    uint64_t bytes = call.context.arena_bytes;
    call.context.arena_bytes = bytes - 1;
    CHECK(call.refused(RLX_ARENA_SIZE));
    CHECK(call.error.expected == static_cast<int64_t>(bytes));
    CHECK(call.error.actual == static_cast<int64_t>(bytes) - 1);
    call.context.arena_bytes = bytes;
    call.context.arena = nullptr;
    CHECK(call.refused(RLX_ARENA_SIZE));
    call.use_arena(bytes, 4);
    CHECK(call.refused(RLX_ARENA_ALIGNMENT));
    CHECK(call.error.expected == static_cast<int64_t>(model->function().arena_align));
    CHECK(call.error.actual == 4);
    call.use_arena(bytes);
    CHECK(call.succeeds());
    call.use_arena(model->function().arena_max);
    CHECK(call.succeeds());
  }
}

TEST_CASE("a compiled model refuses a context of another version") {
  for (const LoadedModel* model : {&guarded().llvm(), &guarded().c()}) {
    Call call = good_call(model->model());
    call.context.abi_version = 2;
    CHECK(call.run() == RLX_ABI_MISMATCH);
    call = good_call(model->model());
    call.context.struct_size = 8;
    CHECK(call.run() == RLX_ABI_MISMATCH);
    call.context.struct_size = sizeof(rlx_context) + 16;
    CHECK(call.succeeds());
  }
}

}  // namespace
}  // namespace relaxc::e2e
