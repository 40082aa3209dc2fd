// ndarray.h: reads tensors in the format of TVM's texts and parameter files.
#pragma once

#include <string>
#include <string_view>

#include "compiler/relax/constant.h"

namespace relaxc::frontend {

/// The meaning of dtype numbers that changed: TVM had numbers of its own for float8 before DLPack defined
/// them.
enum class NdarrayFormat { kBefore, kDlpack1 };

struct NdarrayResult {
  relax::ConstantRef data;  ///< null if there is a fault
  std::string fault;        ///< continues a sentence that begins with "the data"
};

/// Decodes the base64 of one tensor: magic, reserved, device, rank, dtype, shape, size in bytes, bytes; all
/// little-endian. Refuses truncated data, trailing bytes, and dtypes that relaxc does not have.
NdarrayResult read_ndarray(std::string_view base64, NdarrayFormat age);

}  // namespace relaxc::frontend
