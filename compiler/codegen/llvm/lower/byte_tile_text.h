// byte_tile_text.h: assembly of a loop that sums products of bytes for a tile of results.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "targets/byte_tile.h"

namespace relaxc::codegen_llvm {

/// The loop, as far as instructions depend on it. Rows and columns are places in `bytes`.
struct TileLoop {
  struct Bytes {
    bool is_signed = false;
    int64_t step = 1;   ///< bytes from one iteration's to the next's
    size_t memory = 0;  ///< which of the operands' addresses differ by a known number: those of the same one
    int64_t at = 0;     ///< bytes behind the start of `memory`
  };
  std::vector<Bytes> bytes;
  std::vector<size_t> rows, columns;  ///< the sum of row r and column c is number r * columns + c
  int64_t count = 0;                  ///< iterations, at least one
  bool small = false;                 ///< size before speed
};

/// An inline assembly statement: in its text, "$n" are the operands in the order of the constraints. On RISC-V it gives
/// the sums first, and takes the addresses in `takes`, then the sums. On Thumb the sums are in memory.
struct TileText {
  /// An address: of one of the bytes in the first iteration, plus a number.
  struct Address {
    size_t bytes = 0;  ///< one more than there are: of the sums, in their order, four bytes each
    int64_t plus = 0;
    std::optional<size_t> from = {};  ///< less that of these bytes in the first iteration
  };
  std::string text, constraints;
  size_t results = 0;          ///< registers that it writes, the sums first
  std::vector<Address> takes;  ///< in the order of its inputs
};

/// Nothing: registers do not suffice, or the instructions have another form.
std::optional<TileText> text_of(const TileLoop& loop, ByteTileForm form);

}  // namespace relaxc::codegen_llvm
