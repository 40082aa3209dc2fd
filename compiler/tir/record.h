// record.h: structs of C in memory that a function of the ABI is handed.
//
// TIR names their fields and knows no offset: those are a machine's, and C text serves machines of all kinds.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "compiler/support/dtype.h"

namespace relaxc::tir {

enum class FieldKind : uint8_t { kU8, kU16, kI32, kU32, kI64, kU64, kPointer };

struct Field {
  std::string_view name;
  FieldKind kind;
};

/// A struct. One whose only field has no name is that field itself: an array of such records is one of pointers.
struct Record {
  std::string_view name;          ///< the type in C
  std::span<const Field> fields;  ///< in order of declaration

  /// The position of a field; a name that is not there is an internal error.
  uint32_t index_of(std::string_view field) const;
};

/// How a machine lays out a C struct.
struct DataModel {
  uint32_t pointer_bytes = 8;
  uint32_t int64_alignment = 8;  ///< 4 on i386
};

/// Bytes of one field; a pointer has `pointer_bytes`.
uint32_t size_of(FieldKind kind, uint32_t pointer_bytes);
/// What a load of such a field gives: of a pointer the address, as an index.
DType dtype_of(FieldKind kind);

struct RecordLayout {
  uint32_t size = 0, alignment = 1;
};
RecordLayout layout(const Record& record, const DataModel& model);
/// Bytes from the record's begin to the field.
uint32_t offset_of(const Record& record, uint32_t field, const DataModel& model);

}  // namespace relaxc::tir
