// dtype_limits.cpp: limits of dtypes.
#include "compiler/support/dtype_limits.h"

#include <limits>

namespace relaxc {

double largest_finite(DType dtype) {
  // The definitions of the formats give these numbers; C++ has numeric_limits only for the float formats of 32 and 64
  // bits.
  switch (dtype.code) {
    case TypeCode::kBFloat:
      return 3.3895313892515355e38;
    case TypeCode::kFloat8E4M3FN:
      return 448;
    case TypeCode::kFloat8E4M3FNUZ:
      return 240;
    case TypeCode::kFloat8E5M2:
    case TypeCode::kFloat8E5M2FNUZ:
      return 57344;
    case TypeCode::kFloat8E8M0FNU:
      return 0x1p127;
    case TypeCode::kFloat4E2M1FN:
      return 6;
    default:
      break;
  }
  return dtype.bits == 16   ? 65504
         : dtype.bits == 32 ? static_cast<double>(std::numeric_limits<float>::max())
                            : std::numeric_limits<double>::max();
}

}  // namespace relaxc
