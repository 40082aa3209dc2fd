// c_type.cpp: maps dtypes to the nearest types of C99.
#include "compiler/interface/c_type.h"

#include <fmt/format.h>

namespace relaxc::interface {

const char* c_type(DType dtype) {
  bool is_signed = dtype.is_int() || dtype.is_index();
  if (dtype == DType::f(32) || (dtype.is_complex() && dtype.bits == 64)) return "float";
  if (dtype == DType::f(64) || dtype.is_complex()) return "double";
  if (dtype.bits <= 8) return is_signed ? "int8_t" : "uint8_t";
  if (dtype.bits <= 16) return is_signed ? "int16_t" : "uint16_t";
  if (dtype.bits <= 32) return is_signed ? "int32_t" : "uint32_t";
  return is_signed ? "int64_t" : "uint64_t";
}

std::string float_literal(float value) {
  std::string text = fmt::format("{}", value);
  return text + (text.find_first_of(".e") == std::string::npos ? ".0f" : "f");
}

}  // namespace relaxc::interface
