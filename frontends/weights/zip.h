// zip.h: the members of a zip archive.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "frontends/weights/fault.h"

namespace relaxc::frontend {

struct ZipMember {
  std::string name;
  uint64_t offset = 0;  ///< of its bytes in the file
  uint64_t packed = 0;  ///< bytes in the file
  uint64_t size = 0;    ///< bytes once inflated
  uint32_t checksum = 0;
  bool deflated = false;
};

/// The members as the directory lists them, in its order; 64-bit sizes included. Reports a directory or member outside
/// of the file, encryption, and methods other than "stored" and "deflated".
Result<std::vector<ZipMember>> zip_members(const WeightsFile& source);

/// Inflates raw deflate data piece by piece, never more than `size` bytes in all. False if the data is not that, or
/// does not give exactly `size` bytes. Memory: one piece.
bool inflate_pieces(std::span<const std::byte> packed, uint64_t size,
                    const std::function<void(std::span<const std::byte>)>& piece);

/// CRC-32 as zip has it, continued from `so_far` (0 to begin).
uint32_t zip_checksum(uint32_t so_far, std::span<const std::byte> bytes);

}  // namespace relaxc::frontend
