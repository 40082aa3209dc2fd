// ndarray.h: a tensor as TVM writes it into text and into files of parameters.
#pragma once

#include <string>
#include <string_view>

#include "compiler/relax/constant.h"

namespace relaxc::frontend {

/// Which numbers stand for which dtypes beyond those that never changed: TVM had numbers of its own for float8 before
/// DLPack had them.
enum class NdarrayFormat { kBefore, kDlpack1 };

struct NdarrayResult {
  relax::ConstantRef data;  ///< null if there is a fault
  std::string fault;        ///< continues "the data …"
};

/// Reads the base64 of one tensor: magic, reserved, device, rank, dtype, shape, size in bytes, bytes; all of it
/// little-endian. Refuses what is cut, what has bytes left over, and dtypes that relaxc does not have.
NdarrayResult read_ndarray(std::string_view base64, NdarrayFormat age);

}  // namespace relaxc::frontend
