// hash.cpp: uses LLVM's SHA-256, since an implementation of our own would be one more thing to test.
#include "compiler/codegen/llvm/hash.h"

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/Support/SHA256.h>

namespace relaxc::codegen_llvm {
namespace {

void add_length(llvm::SHA256& sha, uint64_t length) {
  uint8_t bytes[8];
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<uint8_t>(length >> (8 * i));
  sha.update(llvm::ArrayRef<uint8_t>(bytes));
}

void add_parts(llvm::SHA256& sha, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    add_length(sha, part.size());
    sha.update(llvm::StringRef(part));
  }
}

/// Adds the bytes of a file and returns their number.
uint64_t add_file(llvm::SHA256& sha, const FileContent& file) {
  uint64_t length = 0;
  file([&](std::span<const std::byte> piece) {
    sha.update(llvm::ArrayRef<uint8_t>(reinterpret_cast<const uint8_t*>(piece.data()), piece.size()));
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
  llvm::SHA256 sha;
  for (const FileContent& file : files) add_length(sha, add_file(sha, file));
  add_parts(sha, parts);
  return sha.final();
}

}  // namespace relaxc::codegen_llvm
