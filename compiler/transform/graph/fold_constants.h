// fold_constants.h: evaluation of constants, for fold_constants_early and for passes that need numbers in the middle of
// their work.
#pragma once

#include "compiler/transform/pass.h"

namespace relaxc {

/// Whether constants that are stored in 8 bits or less, such as quantized weights, are folded to wider numbers.
enum class StoredConstants : uint8_t { kFold, kKeep };

/// Evaluates operators whose operands are all constant. With kKeep, it leaves those that widen stored constants, which
/// recognize_quantization reads as they are written. Leaves dead ops behind.
Changed evaluate_constants(relax::Module& module, PassContext& context, StoredConstants stored);

}  // namespace relaxc
