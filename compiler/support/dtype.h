// dtype.h: element types, and the `index` type of dims and subscripts.
//
// `index` is a mathematical integer that fits int64 (guards exclude overflow), so rewriting it as a polynomial is
// exact; an int64 of the program wraps. They are different types, and only a cast converts them.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace relaxc {

enum class TypeCode : uint8_t {
  kBool,
  kInt,
  kUInt,
  kFloat,   // IEEE binary16/32/64
  kBFloat,  // bfloat16
  kFloat8E4M3FN,
  kFloat8E4M3FNUZ,
  kFloat8E5M2,
  kFloat8E5M2FNUZ,
  kFloat8E8M0FNU,  // powers of two: neither sign nor zero
  kFloat4E2M1FN,   // neither infinity nor NaN
  kComplex,
  kString,  // a span (offset, length) of a byte buffer
  kHandle,
  kIndex,
};

struct DType {
  TypeCode code = TypeCode::kFloat;
  uint8_t bits = 32;

  static constexpr DType boolean() { return {TypeCode::kBool, 8}; }
  static constexpr DType i(uint8_t bits) { return {TypeCode::kInt, bits}; }
  static constexpr DType u(uint8_t bits) { return {TypeCode::kUInt, bits}; }
  static constexpr DType f(uint8_t bits) { return {TypeCode::kFloat, bits}; }
  static constexpr DType bf16() { return {TypeCode::kBFloat, 16}; }
  static constexpr DType index() { return {TypeCode::kIndex, 64}; }
  static constexpr DType handle() { return {TypeCode::kHandle, 64}; }

  constexpr bool is_bool() const { return code == TypeCode::kBool; }
  constexpr bool is_index() const { return code == TypeCode::kIndex; }
  constexpr bool is_int() const { return code == TypeCode::kInt; }
  constexpr bool is_uint() const { return code == TypeCode::kUInt; }
  /// Whether it is a signed or unsigned integer of the program; not bool, not index.
  constexpr bool is_integer() const { return is_int() || is_uint(); }
  constexpr bool is_float() const { return code >= TypeCode::kFloat && code <= TypeCode::kFloat4E2M1FN; }
  constexpr bool is_complex() const { return code == TypeCode::kComplex; }
  /// Returns the bytes of one stored element. A bool is one byte (0 or 1); narrower elements are not packed here.
  constexpr int64_t bytes() const { return (bits + 7) / 8; }

  friend constexpr auto operator<=>(const DType&, const DType&) = default;
};

/// Returns the name in the text IR: "float32", "int64", "bool", "bfloat16", "index", …
std::string to_string(DType dtype);
/// Parses a name of the text IR, including old short forms ("f32", "i64"); nullopt if there is no such dtype.
std::optional<DType> parse_dtype(std::string_view text);

}  // namespace relaxc
