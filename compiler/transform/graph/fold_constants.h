// fold_constants.h: the pass's work, for fold_constants_early and for passes that need numbers in the middle of their
// own.
#pragma once

#include "compiler/transform/pass.h"

namespace relaxc {

/// What becomes of constants that are stored in 8 bits or less, as quantized weights are.
enum class StoredConstants : uint8_t { kFold, kKeep };

/// Evaluates operators whose operands are all constant. kKeep: none that makes wider numbers of stored ones, which
/// recognize_quantization reads as they are written. Leaves what is not used any more.
Changed evaluate_constants(relax::Module& module, PassContext& context, StoredConstants stored);

}  // namespace relaxc
