// layout.cpp: the records of the ABI as lists of fields.
#include "compiler/interface/layout.h"

namespace relaxc::interface {
namespace {

using enum tir::FieldKind;

constexpr Field kTensorFields[] = {
    {"data", kPointer},  {"device_type", kI32}, {"device_id", kI32}, {"ndim", kI32},        {"dtype_code", kU8},
    {"dtype_bits", kU8}, {"dtype_lanes", kU16}, {"shape", kPointer}, {"strides", kPointer}, {"byte_offset", kU64}};
constexpr Field kErrorFields[] = {{"code", kI32}, {"tensor", kI32},   {"axis", kI32},  {"symbol", kI32},
                                  {"node", kI32}, {"expected", kI64}, {"actual", kI64}};
constexpr Field kContextFields[] = {
    {"abi_version", kU32},       {"struct_size", kU32},    {"arena", kPointer}, {"arena_bytes", kU64},
    {"weights", kPointer},       {"weights_bytes", kU64},  {"error", kPointer}, {"parallel_for", kPointer},
    {"parallel_user", kPointer}, {"num_threads", kI32},    {"alloc", kPointer}, {"alloc_user", kPointer},
    {"trace", kPointer},         {"trace_user", kPointer}, {"poll", kPointer},  {"poll_user", kPointer},
    {"cpu_features", kU64},      {"pools", kPointer},      {"num_pools", kU32}};
constexpr Field kMemoryPoolFields[] = {{"data", kPointer}, {"bytes", kU64}};
constexpr Field kMemoryPoolSpecFields[] = {{"name", kPointer}, {"bytes", kU64}};
constexpr Field kSymbolFields[] = {{"name", kPointer}, {"lower", kI64}, {"upper", kI64}, {"multiple_of", kI64}};
constexpr Field kQuantFields[] = {{"axis", kI32}, {"count", kU32}, {"scale", kPointer}, {"zero_point", kPointer}};
constexpr Field kTensorSpecFields[] = {{"name", kPointer},    {"kind", kU8},        {"dtype_code", kU8},
                                       {"dtype_bits", kU8},   {"flags", kU8},       {"ndim", kI32},
                                       {"dims", kPointer},    {"quant", kPointer},  {"pair", kI32},
                                       {"append_axis", kI32}, {"element", kPointer}};
constexpr Field kFunctionFields[] = {{"name", kPointer},    {"num_inputs", kU32},       {"num_outputs", kU32},
                                     {"num_symbols", kU32}, {"num_nodes", kU32},        {"inputs", kPointer},
                                     {"outputs", kPointer}, {"symbols", kPointer},      {"nodes", kPointer},
                                     {"arena_max", kU64},   {"stack_max", kU64},        {"arena_align", kU32},
                                     {"bind", kPointer},    {"output_shape", kPointer}, {"arena_bytes", kPointer},
                                     {"run", kPointer},     {"pools", kPointer},        {"num_pools", kU32}};
constexpr Field kModelFields[] = {{"abi_version", kU32},   {"function_size", kU16}, {"spec_size", kU16},
                                  {"num_functions", kU32}, {"functions", kPointer}, {"name", kPointer},
                                  {"producer", kPointer},  {"target", kPointer},    {"hash", kPointer},
                                  {"weights_bytes", kU64}};
constexpr Field kSymbolSourceFields[] = {{"kind", kU32}, {"tensor", kI32}, {"axis", kI32}};
constexpr Field kFunctionPrivateFields[] = {
    {"version", kU32},      {"flags", kU32},       {"num_dims", kU32},         {"weights_align", kU32},
    {"function", kPointer}, {"sources", kPointer}, {"shapes", kPointer},       {"values", kPointer},
    {"arena", kPointer},    {"call", kPointer},    {"weights_hash", kPointer}, {"weights_bytes", kU64}};

}  // namespace

const tir::Record& described(Record record) {
  static constexpr tir::Record kRecords[] = {{"rlx_tensor", kTensorFields},
                                             {"rlx_error", kErrorFields},
                                             {"rlx_context", kContextFields},
                                             {"rlx_symbol", kSymbolFields},
                                             {"rlx_quant", kQuantFields},
                                             {"rlx_tensor_spec", kTensorSpecFields},
                                             {"rlx_function", kFunctionFields},
                                             {"rlx_model", kModelFields},
                                             {"rlx_symbol_source", kSymbolSourceFields},
                                             {"rlx_function_private", kFunctionPrivateFields},
                                             {"rlx_memory_pool", kMemoryPoolFields},
                                             {"rlx_memory_pool_spec", kMemoryPoolSpecFields}};
  return kRecords[static_cast<size_t>(record)];
}

}  // namespace relaxc::interface
