// hash.cpp: LLVM's SHA-256. A table of our own would be one more thing to test.
#include "compiler/codegen/llvm/hash.h"

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Support/SHA256.h>

#include <fstream>

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

void add_file(llvm::SHA256& sha, const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::vector<char> piece(1 << 16);
  uint64_t length = 0;
  while (in) {
    in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    auto count = static_cast<size_t>(in.gcount());
    length += count;
    sha.update(llvm::StringRef(piece.data(), count));
  }
  add_length(sha, length);
}

}  // namespace

Hash hash_of(const std::vector<std::string>& parts) {
  llvm::SHA256 sha;
  add_parts(sha, parts);
  return sha.final();
}

Hash hash_of_files(const std::vector<std::string>& files, const std::vector<std::string>& parts) {
  llvm::SHA256 sha;
  for (const std::string& path : files) add_file(sha, path);
  add_parts(sha, parts);
  return sha.final();
}

}  // namespace relaxc::codegen_llvm
