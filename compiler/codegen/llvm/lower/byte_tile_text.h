// byte_tile_text.h: the assembly of a loop that sums products of bytes for a tile of results.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "targets/byte_tile.h"

namespace relaxc::codegen_llvm {

/// The properties of the loop that its instructions depend on. `rows` and `columns` are indices into `bytes`.
struct TileLoop {
  struct Bytes {
    bool is_signed = false;
    int64_t step = 1;   ///< increment of the address from iteration to iteration, in bytes
    size_t memory = 0;  ///< the first operand at a constant distance from this one, or itself
    int64_t at = 0;     ///< distance from that operand, in bytes
  };
  std::vector<Bytes> bytes;
  std::vector<size_t> rows, columns;  ///< the sum of row r and column c is number r * columns + c
  int64_t count = 0;                  ///< number of iterations, at least 1
  bool small = false;                 ///< whether size matters more than speed
};

/// An inline assembly statement; "$n" in its text is operand n of the constraints. On RISC-V its inputs are the
/// addresses in `takes` and then the sums, and its first results are the sums. On Thumb sums are in memory.
struct TileText {
  /// The address of an operand's byte in the first iteration, plus a constant, minus another such address.
  struct Address {
    size_t bytes = 0;  ///< index in TileLoop::bytes; its size stands for the array of int32 sums
    int64_t plus = 0;
    std::optional<size_t> from = {};  ///< index of the operand whose address is subtracted
  };
  std::string text, constraints;
  size_t results = 0;          ///< number of registers that it writes, the sums first
  std::vector<Address> takes;  ///< its inputs, in order
};

/// Returns nullopt if there are too few registers, or if the form's instructions cannot express the loop.
std::optional<TileText> text_of(const TileLoop& loop, ByteTileForm form);

}  // namespace relaxc::codegen_llvm
