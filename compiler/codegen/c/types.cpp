// types.cpp: the names of C types.
#include "compiler/codegen/c/types.h"

#include "compiler/support/check.h"

namespace relaxc::codegen_c {

bool is_small_float(DType dtype) {
  return dtype.is_float() && dtype.bits < 32;
}

std::string memory_type(DType dtype) {
  if (dtype.is_bool()) return "uint8_t";
  if (dtype.is_index()) return "int64_t";
  if (is_small_float(dtype)) return dtype.bits == 16 ? "uint16_t" : "uint8_t";
  return value_type(dtype);
}

std::string value_type(DType dtype) {
  if (dtype.is_bool()) return "int";
  if (dtype.is_index()) return "int64_t";
  if (dtype.is_float()) return dtype.bits == 64 ? "double" : "float";
  if (dtype.is_integer()) {
    int bits = dtype.bits < 8 ? 8 : dtype.bits;
    return (dtype.is_uint() ? "uint" : "int") + std::to_string(bits) + "_t";
  }
  if (dtype == DType::handle()) return "uint64_t";
  RELAXC_UNREACHABLE("a dtype that C code does not compute with: " + to_string(dtype));
}

std::string suffix(DType dtype) {
  switch (dtype.code) {
    case TypeCode::kBool:
      return "b1";
    case TypeCode::kInt:
      return "i" + std::to_string(dtype.bits);
    case TypeCode::kIndex:
      return "i64";
    case TypeCode::kUInt:
      return "u" + std::to_string(dtype.bits);
    case TypeCode::kFloat:
      return "f" + std::to_string(dtype.bits);
    case TypeCode::kBFloat:
      return "bf16";
    case TypeCode::kFloat8E4M3FN:
      return "f8e4m3fn";
    case TypeCode::kFloat8E4M3FNUZ:
      return "f8e4m3fnuz";
    case TypeCode::kFloat8E5M2:
      return "f8e5m2";
    case TypeCode::kFloat8E5M2FNUZ:
      return "f8e5m2fnuz";
    case TypeCode::kFloat8E8M0FNU:
      return "f8e8m0fnu";
    case TypeCode::kFloat4E2M1FN:
      return "f4e2m1fn";
    default:
      RELAXC_UNREACHABLE("a dtype without arithmetic: " + to_string(dtype));
  }
}

}  // namespace relaxc::codegen_c
