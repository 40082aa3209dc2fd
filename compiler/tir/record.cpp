// record.cpp: computes the offsets of a struct's fields by C's rule.
#include "compiler/tir/record.h"

#include <algorithm>
#include <string>

#include "compiler/support/check.h"

namespace relaxc::tir {
namespace {

using enum FieldKind;

uint32_t alignment_of(FieldKind kind, const DataModel& model) {
  uint32_t size = size_of(kind, model.pointer_bytes);
  return size == 8 && kind != kPointer ? model.int64_alignment : size;
}

uint32_t round_to(uint32_t value, uint32_t to) {
  return (value + to - 1) / to * to;
}

}  // namespace

uint32_t Record::index_of(std::string_view field) const {
  auto it = std::find_if(fields.begin(), fields.end(), [&](const Field& f) { return f.name == field; });
  RELAXC_CHECK(it != fields.end(), "no field " + std::string(field));
  return static_cast<uint32_t>(it - fields.begin());
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

DType dtype_of(FieldKind kind) {
  const bool is_signed = kind == kI32 || kind == kI64;
  const auto bits = static_cast<uint8_t>(size_of(kind, 8) * 8);
  return kind == kPointer ? DType::index() : is_signed ? DType::i(bits) : DType::u(bits);
}

RecordLayout layout(const Record& record, const DataModel& model) {
  RecordLayout out;
  for (const Field& field : record.fields) {
    uint32_t alignment = alignment_of(field.kind, model);
    out.size = round_to(out.size, alignment) + size_of(field.kind, model.pointer_bytes);
    out.alignment = std::max(out.alignment, alignment);
  }
  out.size = round_to(out.size, out.alignment);
  return out;
}

uint32_t offset_of(const Record& record, uint32_t index, const DataModel& model) {
  uint32_t offset = 0;
  for (uint32_t i = 0;; ++i) {
    const FieldKind kind = record.fields[i].kind;
    offset = round_to(offset, alignment_of(kind, model));
    if (i == index) return offset;
    offset += size_of(kind, model.pointer_bytes);
  }
}

}  // namespace relaxc::tir
