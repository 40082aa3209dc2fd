// layout.h: the layout of the ABI's records on any target.
//
// The records of relax_rt.h and rlx_internal.h are repeated here as lists of fields, because a compiler for another
// machine cannot use its own sizeof. A test compares the lists with the headers.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "compiler/tir/record.h"

namespace relaxc::interface {

using tir::Field;
using tir::FieldKind;

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

/// Returns the struct of that name: "rlx_tensor", …
const tir::Record& described(Record record);
inline std::string_view record_name(Record record) {
  return described(record).name;
}
/// Returns the fields in order of declaration.
inline std::span<const Field> fields(Record record) {
  return described(record).fields;
}
/// Returns the index of a field in `fields(record)`; an unknown name is an internal error.
inline uint32_t field_index(Record record, std::string_view name) {
  return described(record).index_of(name);
}

using tir::DataModel;
using tir::RecordLayout;
using tir::size_of;
inline RecordLayout layout(Record record, const DataModel& model) {
  return tir::layout(described(record), model);
}
/// Returns the offset of the field from the start of the record, in bytes.
inline uint32_t offset_of(Record record, std::string_view field, const DataModel& model) {
  return tir::offset_of(described(record), field_index(record, field), model);
}

}  // namespace relaxc::interface
