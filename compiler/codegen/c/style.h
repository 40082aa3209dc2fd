// style.h: how C is written where there is a choice.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "compiler/codegen/c/profile.h"

namespace relaxc::codegen_c {

/// Where the weights are. kArray: in the text; kIncbin: in a file that the assembler takes (GCC, clang); kEmbed: in a
/// file that the preprocessor takes (`#embed` of C23).
enum class WeightsForm { kArray, kIncbin, kEmbed };

struct Style {
  Profile profile = Profile::kPlain;
  /// Vectorized loops by the vector types of GCC and clang; false: each statement is a loop over lanes. Nothing said:
  /// what is fastest of what the profile allows.
  std::optional<bool> vectors;
  WeightsForm weights = WeightsForm::kArray;
  uint64_t part_bytes = 0;  ///< functions go to parts of about this size; 0: all is one file

  bool has_vectors() const { return vectors.value_or(profile == Profile::kPlain); }
};

}  // namespace relaxc::codegen_c
