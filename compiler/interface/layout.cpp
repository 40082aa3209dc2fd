// layout.cpp: the records of the ABI as lists of fields, and C's rule for their offsets.
#include "compiler/interface/layout.h"

#include <algorithm>

#include "compiler/support/check.h"

namespace relaxc::interface {
namespace {

using enum FieldKind;

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

uint32_t alignment_of(FieldKind kind, const DataModel& model) {
  uint32_t size = size_of(kind, model.pointer_bytes);
  return size == 8 && kind != kPointer ? model.int64_alignment : size;
}

uint32_t round_up(uint32_t value, uint32_t to) {
  return (value + to - 1) / to * to;
}

}  // namespace

std::string_view record_name(Record record) {
  constexpr std::string_view kNames[] = {"rlx_tensor",           "rlx_error",       "rlx_context",
                                         "rlx_symbol",           "rlx_quant",       "rlx_tensor_spec",
                                         "rlx_function",         "rlx_model",       "rlx_symbol_source",
                                         "rlx_function_private", "rlx_memory_pool", "rlx_memory_pool_spec"};
  return kNames[static_cast<size_t>(record)];
}

std::span<const Field> fields(Record record) {
  switch (record) {
    case Record::kTensor:
      return kTensorFields;
    case Record::kError:
      return kErrorFields;
    case Record::kContext:
      return kContextFields;
    case Record::kSymbol:
      return kSymbolFields;
    case Record::kQuant:
      return kQuantFields;
    case Record::kTensorSpec:
      return kTensorSpecFields;
    case Record::kFunction:
      return kFunctionFields;
    case Record::kModel:
      return kModelFields;
    case Record::kSymbolSource:
      return kSymbolSourceFields;
    case Record::kFunctionPrivate:
      return kFunctionPrivateFields;
    case Record::kMemoryPool:
      return kMemoryPoolFields;
    case Record::kMemoryPoolSpec:
      return kMemoryPoolSpecFields;
  }
  RELAXC_UNREACHABLE("no such record");
}

uint32_t field_index(Record record, std::string_view name) {
  std::span<const Field> all = fields(record);
  auto it = std::find_if(all.begin(), all.end(), [&](const Field& field) { return field.name == name; });
  RELAXC_CHECK(it != all.end(), "no field " + std::string(name));
  return static_cast<uint32_t>(it - all.begin());
}

uint32_t size_of(FieldKind kind, uint32_t pointer_bytes) {
  switch (kind) {
    case kU8:
      return 1;
    case kU16:
      return 2;
    case kI32:
    case kU32:
      return 4;
    case kI64:
    case kU64:
      return 8;
    case kPointer:
      return pointer_bytes;
  }
  RELAXC_UNREACHABLE("no such kind of field");
}

RecordLayout layout(Record record, const DataModel& model) {
  RecordLayout out;
  for (const Field& field : fields(record)) {
    uint32_t alignment = alignment_of(field.kind, model);
    out.size = round_up(out.size, alignment) + size_of(field.kind, model.pointer_bytes);
    out.alignment = std::max(out.alignment, alignment);
  }
  out.size = round_up(out.size, out.alignment);
  return out;
}

uint32_t offset_of(Record record, std::string_view name, const DataModel& model) {
  uint32_t offset = 0;
  for (const Field& field : fields(record)) {
    offset = round_up(offset, alignment_of(field.kind, model));
    if (field.name == name) return offset;
    offset += size_of(field.kind, model.pointer_bytes);
  }
  RELAXC_UNREACHABLE("no such field");
}

}  // namespace relaxc::interface
