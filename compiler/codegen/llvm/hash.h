// hash.h: hashes of texts, and of the files that an object was made from.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace relaxc::codegen_llvm {

using Hash = std::array<uint8_t, 32>;

/// Returns the SHA-256 of the parts in order, each with its length, so that moving a byte between parts changes the
/// hash.
Hash hash_of(const std::vector<std::string>& parts);

/// Calls its argument with the bytes of a file, in pieces.
using FileContent = std::function<void(const std::function<void(std::span<const std::byte>)>&)>;
/// Returns the BLAKE3 of the files in order, each with its length, and then of the parts. Does not keep pieces. Models
/// are large: LLVM's SHA-256, which has no vectors, took a third of the time of compiling BERT-base with its 436 MB.
Hash hash_of_files(const std::vector<FileContent>& files, const std::vector<std::string>& parts);

/// Returns the SHA-256 of the content alone, which other tools (`sha256sum`) give as well.
Hash sha256_of(const FileContent& file);

/// Returns the version of LLVM that makes code: "22.1.0".
std::string llvm_version();

}  // namespace relaxc::codegen_llvm
