// c_type.cpp: the nearest types of C99.
#include "compiler/interface/c_type.h"

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

}  // namespace relaxc::interface
