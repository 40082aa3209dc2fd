// layout_test.cpp: the lists of fields are those of the runtime's headers.
#include "compiler/interface/layout.h"

#include <catch2/catch.hpp>
#include <cstddef>

#include "rlx_internal.h"

namespace relaxc::interface {
namespace {

TEST_CASE("every record has the fields, offsets and size that the C compiler sees") {
  DataModel host{sizeof(void*), alignof(int64_t)};
#define CHECK_FIELD(which, record, field) CHECK(offset_of(which, #field, host) == offsetof(record, field));
#define CHECK_SIZE(which, record)         CHECK((layout(which, host).size == sizeof(record) && record_name(which) == #record));
  CHECK_SIZE(Record::kTensor, rlx_tensor)
  CHECK_FIELD(Record::kTensor, rlx_tensor, dtype_lanes)
  CHECK_FIELD(Record::kTensor, rlx_tensor, shape)
  CHECK_FIELD(Record::kTensor, rlx_tensor, byte_offset)
  CHECK_SIZE(Record::kError, rlx_error)
  CHECK_FIELD(Record::kError, rlx_error, node)
  CHECK_FIELD(Record::kError, rlx_error, expected)
  CHECK_SIZE(Record::kContext, rlx_context)
  CHECK_FIELD(Record::kContext, rlx_context, arena)
  CHECK_FIELD(Record::kContext, rlx_context, error)
  CHECK_FIELD(Record::kContext, rlx_context, parallel_for)
  CHECK_FIELD(Record::kContext, rlx_context, cpu_features)
  CHECK_FIELD(Record::kContext, rlx_context, num_pools)
  CHECK_SIZE(Record::kMemoryPool, rlx_memory_pool)
  CHECK_FIELD(Record::kMemoryPool, rlx_memory_pool, bytes)
  CHECK_SIZE(Record::kMemoryPoolSpec, rlx_memory_pool_spec)
  CHECK_FIELD(Record::kMemoryPoolSpec, rlx_memory_pool_spec, bytes)
  CHECK_SIZE(Record::kSymbol, rlx_symbol)
  CHECK_FIELD(Record::kSymbol, rlx_symbol, multiple_of)
  CHECK_SIZE(Record::kQuant, rlx_quant)
  CHECK_FIELD(Record::kQuant, rlx_quant, zero_point)
  CHECK_SIZE(Record::kTensorSpec, rlx_tensor_spec)
  CHECK_FIELD(Record::kTensorSpec, rlx_tensor_spec, ndim)
  CHECK_FIELD(Record::kTensorSpec, rlx_tensor_spec, dims)
  CHECK_FIELD(Record::kTensorSpec, rlx_tensor_spec, append_axis)
  CHECK_FIELD(Record::kTensorSpec, rlx_tensor_spec, element)
  CHECK_SIZE(Record::kFunction, rlx_function)
  CHECK_FIELD(Record::kFunction, rlx_function, nodes)
  CHECK_FIELD(Record::kFunction, rlx_function, arena_align)
  CHECK_FIELD(Record::kFunction, rlx_function, bind)
  CHECK_FIELD(Record::kFunction, rlx_function, run)
  CHECK_SIZE(Record::kModel, rlx_model)
  CHECK_FIELD(Record::kModel, rlx_model, functions)
  CHECK_FIELD(Record::kModel, rlx_model, hash)
  CHECK_FIELD(Record::kModel, rlx_model, weights_bytes)
  CHECK_SIZE(Record::kSymbolSource, rlx_symbol_source)
  CHECK_FIELD(Record::kSymbolSource, rlx_symbol_source, axis)
  CHECK_SIZE(Record::kFunctionPrivate, rlx_function_private)
  CHECK_FIELD(Record::kFunctionPrivate, rlx_function_private, function)
  CHECK_FIELD(Record::kFunctionPrivate, rlx_function_private, arena)
  CHECK_FIELD(Record::kFunctionPrivate, rlx_function_private, call)
  CHECK_FIELD(Record::kFunctionPrivate, rlx_function_private, weights_bytes)
}

TEST_CASE("a 32-bit machine packs pointers tighter") {
  CHECK(layout(Record::kTensor, {4, 8}).size == 40);
  CHECK(layout(Record::kSymbol, {4, 8}).size == 32);
  CHECK(layout(Record::kSymbol, {4, 4}).size == 28);
}

}  // namespace
}  // namespace relaxc::interface
