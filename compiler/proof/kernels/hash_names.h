// hash_names.h: numbers that distinguish hashed functions.
#pragma once

#include "compiler/tir/interpreter_code.h"

namespace relaxc::proof {

/// Functions other than instructions.
enum HashName : uint64_t {
  kInput = 1000,
  kConstant,
  kElementOfReals,
  kElementOfWholes,
  kSelected,
  kCalled,
  kWrapped,
  kFloatBits,
  kBytes,
  kExtremeOfReals,
  kExtremeOfWholes,
  kRemainder,
  kQuotient,
};

/// Returns the function of an instruction.
constexpr uint64_t of(tir::interpreter::Op op, DType dtype = {}) {
  return (uint64_t{dtype.bits} << 32 | static_cast<uint64_t>(dtype.code) << 24) + static_cast<uint64_t>(op) + 1;
}

}  // namespace relaxc::proof
