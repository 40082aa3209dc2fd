// dlpack.h: dtypes in the ABI's records: DLPack's codes, and our own from 0xC0 on.
#pragma once

#include <cstdint>

#include "compiler/support/check.h"
#include "compiler/support/dtype.h"

namespace relaxc::interface {

struct DLPackType {
  uint8_t code, bits;
};

inline DLPackType dlpack_type(DType dtype) {
  constexpr uint8_t kOwn = 0xC0;
  switch (dtype.code) {
    case TypeCode::kInt:
    case TypeCode::kIndex:
      return {0, dtype.bits};
    case TypeCode::kUInt:
      return {1, dtype.bits};
    case TypeCode::kFloat:
      return {2, dtype.bits};
    case TypeCode::kHandle:
      return {3, dtype.bits};
    case TypeCode::kBFloat:
      return {4, dtype.bits};
    case TypeCode::kComplex:
      return {5, dtype.bits};
    case TypeCode::kBool:
      return {6, 8};
    case TypeCode::kFloat8E4M3FN:
      return {10, 8};
    case TypeCode::kFloat8E4M3FNUZ:
      return {11, 8};
    case TypeCode::kFloat8E5M2:
      return {12, 8};
    case TypeCode::kFloat8E5M2FNUZ:
      return {13, 8};
    case TypeCode::kFloat8E8M0FNU:
      return {14, 8};
    case TypeCode::kFloat4E2M1FN:
      return {17, 4};
    case TypeCode::kString:
      return {kOwn, dtype.bits};
  }
  RELAXC_UNREACHABLE();
}

}  // namespace relaxc::interface
