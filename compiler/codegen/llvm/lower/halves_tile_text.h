// halves_tile_text.h: the assembly of the loop that halves_tile.h finds.
#pragma once

#include <cstdint>
#include <string>

namespace relaxc::codegen_llvm {

constexpr int64_t kMostHalvesSums = 6;
constexpr int64_t kTileWordBytes = 4;
constexpr int64_t kFirstSumRegister = 5;  ///< number of the register of the first sum of a tile

/// Returns the constraints of a statement that adds to sums: these are in r5 and behind, the address of what they share
/// behind them, and that of the numbers in r4, a low register, with which LDM is two bytes shorter. `end`: that of the
/// operand where the numbers end, or empty. r0 to r3, r12, lr and the register `other` (0: none) are overwritten.
std::string constraints_of_tile(int64_t sums, const std::string& end, int64_t other);

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
  /// Whether the numbers of most sums are loaded one register at a time, beside products.
  bool loads_beside() const;
  /// The operand that says where the numbers end.
  std::string end() const;
  /// The number of the register that it comes back to if it is in one of the floating-point unit beside products.
  int64_t register_of_end() const;
  /// The number of the register in which the next word waits if they are.
  int64_t register_of_word() const;
  std::string text() const;
  std::string constraints() const;
};

}  // namespace relaxc::codegen_llvm
