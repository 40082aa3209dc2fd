// fold_constants.h: the pass's work, for passes that need numbers to be known before its turn.
#pragma once

#include "compiler/transform/pass.h"

namespace relaxc {

/// What becomes of constants that are stored in 8 bits or less, as quantized weights are.
enum class StoredConstants : uint8_t { kFold, kKeep };

/// Evaluates operators whose operands are all constant. kKeep: none that makes wider numbers of stored ones, which
/// recognize_quantization reads as they are written.
Result<Changed> fold_constants(relax::Module& module, PassContext& context, StoredConstants stored);

}  // namespace relaxc
