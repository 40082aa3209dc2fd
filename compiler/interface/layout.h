// layout.h: where the fields of the ABI's records lie, for any target.
//
// The records of relax_rt.h and rlx_internal.h are written down once more here, as lists of fields, because a compiler
// for another machine cannot ask its own sizeof. A test compares the lists with the headers.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace relaxc::interface {

enum class FieldKind : uint8_t { kU8, kU16, kI32, kU32, kI64, kU64, kPointer };

struct Field {
  std::string_view name;
  FieldKind kind;
};

enum class Record : uint8_t {
  kTensor,
  kError,
  kContext,
  kSymbol,
  kQuant,
  kTensorSpec,
  kFunction,
  kModel,
  kSymbolSource,
  kFunctionPrivate,
  kMemoryPool,
  kMemoryPoolSpec,
};

/// "rlx_tensor", …
std::string_view record_name(Record record);
/// The fields in order of declaration.
std::span<const Field> fields(Record record);
/// The position of a field in `fields(record)`; a name that is not there is an internal error.
uint32_t field_index(Record record, std::string_view name);

/// How a machine lays out a C struct.
struct DataModel {
  uint32_t pointer_bytes = 8;
  uint32_t int64_alignment = 8;  ///< 4 on i386
};

/// Bytes of one field; a pointer has `pointer_bytes`.
uint32_t size_of(FieldKind kind, uint32_t pointer_bytes);

struct RecordLayout {
  uint32_t size = 0, alignment = 1;
};
RecordLayout layout(Record record, const DataModel& model);
/// Bytes from the record's begin to the field.
uint32_t offset_of(Record record, std::string_view field, const DataModel& model);

}  // namespace relaxc::interface
