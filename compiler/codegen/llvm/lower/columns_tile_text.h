// columns_tile_text.h: the assembly of the loop that halves_tile.h finds for a row of results.
#pragma once

#include <cstdint>
#include <string>

namespace relaxc::codegen_llvm {

constexpr int64_t kMostColumnSums = 4;

/// The properties of the loop that its instructions depend on. Operands are the sums, the address of the bytes, that of
/// the words, and where the bytes end.
struct ColumnsText {
  int64_t sums = 0, steps = 0;
  bool from_zero = false;  ///< all sums

  int64_t steps_of_turn() const;
  bool loops() const { return steps_of_turn() < steps; }
  bool sets_sums() const { return from_zero && !loops(); }
  std::string text() const;
  std::string constraints() const;
};

}  // namespace relaxc::codegen_llvm
