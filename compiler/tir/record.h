// record.h: C structs in memory that functions of the ABI receive.
//
// TIR names their fields and has no offsets: these depend on the machine, and C text is for machines of all kinds.
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

/// A struct. If its only field has no name, the record is that field: an array of such records is an array of pointers.
struct Record {
  std::string_view name;          ///< the C type
  std::span<const Field> fields;  ///< in order of declaration

  /// Returns the index of a field; an unknown name is an internal error.
  uint32_t index_of(std::string_view field) const;
};

/// The sizes by which a machine lays out a C struct.
struct DataModel {
  uint32_t pointer_bytes = 8;
  uint32_t int64_alignment = 8;  ///< 4 on i386
};

/// Returns the size of a field in bytes; a pointer has `pointer_bytes`.
uint32_t size_of(FieldKind kind, uint32_t pointer_bytes);
/// Returns the dtype of a load of such a field; a pointer is loaded as an index, its address.
DType dtype_of(FieldKind kind);

struct RecordLayout {
  uint32_t size = 0, alignment = 1;
};
RecordLayout layout(const Record& record, const DataModel& model);
/// Returns the offset of the field from the start of the record, in bytes.
uint32_t offset_of(const Record& record, uint32_t field, const DataModel& model);

}  // namespace relaxc::tir
