// hash.cpp: uses LLVM's hashes, since an implementation of our own would be one more thing to test.
#include "compiler/codegen/llvm/hash.h"

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/Support/BLAKE3.h>
#include <llvm/Support/SHA256.h>

namespace relaxc::codegen_llvm {
namespace {

template <typename Hasher>
void add_length(Hasher& hasher, uint64_t length) {
  uint8_t bytes[8];
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<uint8_t>(length >> (8 * i));
  hasher.update(llvm::ArrayRef<uint8_t>(bytes));
}

template <typename Hasher>
void add_parts(Hasher& hasher, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    add_length(hasher, part.size());
    hasher.update(llvm::StringRef(part));
  }
}

/// Adds the bytes of a file and returns their number.
template <typename Hasher>
uint64_t add_file(Hasher& hasher, const FileContent& file) {
  uint64_t length = 0;
  file([&](std::span<const std::byte> piece) {
    hasher.update(llvm::ArrayRef<uint8_t>(reinterpret_cast<const uint8_t*>(piece.data()), piece.size()));
    length += piece.size();
  });
  return length;
}

}  // namespace

Hash sha256_of(const FileContent& file) {
  llvm::SHA256 sha;
  add_file(sha, file);
  return sha.final();
}

std::string llvm_version() {
  return LLVM_VERSION_STRING;
}

Hash hash_of(const std::vector<std::string>& parts) {
  llvm::SHA256 sha;
  add_parts(sha, parts);
  return sha.final();
}

Hash hash_of_files(const std::vector<FileContent>& files, const std::vector<std::string>& parts) {
  llvm::BLAKE3 blake;
  for (const FileContent& file : files) add_length(blake, add_file(blake, file));
  add_parts(blake, parts);
  return blake.final();
}

}  // namespace relaxc::codegen_llvm
