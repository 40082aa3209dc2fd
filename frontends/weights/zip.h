// zip.h: reads the members of a zip archive.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "frontends/weights/fault.h"

namespace relaxc::frontend {

struct ZipMember {
  std::string name;
  uint64_t offset = 0;  ///< of its bytes, from the start of the file
  uint64_t packed = 0;  ///< size in the file, in bytes
  uint64_t size = 0;    ///< size after inflating, in bytes
  uint32_t checksum = 0;
  bool deflated = false;
};

/// Returns the members in the order of the directory, with 64-bit sizes. Reports an error if the directory or a member
/// lies outside of the file, members overlap, one is encrypted or has a method other than "stored" or "deflated".
Result<std::vector<ZipMember>> zip_members(const WeightsFile& source);

/// Inflates raw deflate data and calls `piece` with one part after the other, at most `size` bytes in total. Returns
/// false if the data is invalid or does not give exactly `size` bytes. Needs memory for one piece.
bool inflate_pieces(std::span<const std::byte> packed, uint64_t size,
                    const std::function<void(std::span<const std::byte>)>& piece);

/// Returns the CRC-32 of zip, continued from `so_far` (0 at the start).
uint32_t zip_checksum(uint32_t so_far, std::span<const std::byte> bytes);

}  // namespace relaxc::frontend
