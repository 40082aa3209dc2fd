// halves_tile_text.h: the assembly of the loop that halves_tile.h finds.
#pragma once

#include <cstdint>
#include <string>

namespace relaxc::codegen_llvm {

constexpr int64_t kMostHalvesSums = 6;

/// The properties of the loop that its instructions depend on. Operands are the sums, the address of the numbers, that
/// of the words, and where the numbers end.
struct HalvesText {
  int64_t sums = 0, steps = 0;
  bool from_zero = false;   ///< all sums
  bool small = false;       ///< whether size matters more than speed
  bool dual_issue = false;  ///< whether the core starts a load and a product in one cycle

  int64_t steps_of_turn() const;
  bool loops() const { return steps_of_turn() < steps; }
  bool sets_sums() const { return from_zero && !loops(); }
  bool end_is_float() const;
  std::string text() const;
  std::string constraints() const;
};

}  // namespace relaxc::codegen_llvm
