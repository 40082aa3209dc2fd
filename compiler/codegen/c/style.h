// style.h: options of the emitted C text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "compiler/codegen/c/profile.h"

namespace relaxc::codegen_c {

/// Where the weights are. kArray: in the text; kIncbin: in a file that the assembler reads (GCC, clang); kEmbed: in a
/// file that the preprocessor reads (`#embed` of C23).
enum class WeightsForm { kArray, kIncbin, kEmbed };

struct Style {
  Profile profile = Profile::kPlain;
  /// Whether vectorized loops use the vector types of GCC and clang; otherwise each statement is a loop over lanes. If
  /// it is not set, the fastest form that the profile allows.
  std::optional<bool> vectors;
  WeightsForm weights = WeightsForm::kArray;
  uint64_t part_bytes = 0;  ///< approximate size of the parts that functions are divided into; 0: one file

  bool has_vectors() const { return vectors.value_or(profile == Profile::kPlain); }
};

}  // namespace relaxc::codegen_c
