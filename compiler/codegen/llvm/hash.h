// hash.h: SHA-256 of what an object was made from.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace relaxc::codegen_llvm {

using Hash = std::array<uint8_t, 32>;

/// Of the parts in order, each with its length, so that moving a byte from one part to the next changes the hash.
Hash hash_of(const std::vector<std::string>& parts);
/// Of the contents of the files in order and then of the parts.
Hash hash_of_files(const std::vector<std::span<const std::byte>>& files, const std::vector<std::string>& parts);

}  // namespace relaxc::codegen_llvm
