// mapped_file_test.cpp: constants of a mapped file take memory only while they are looked at.
#include "compiler/relax/mapped_file.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "compiler/support/temporary_folder.h"

namespace relaxc::relax {
namespace {

constexpr int64_t kBytes = int64_t{32} << 20;

/// Bytes of this process that are in memory.
int64_t resident() {
  int64_t all = 0, pages = 0;
  std::ifstream("/proc/self/statm") >> all >> pages;
  return pages * sysconf(_SC_PAGESIZE);
}

int64_t sum(const ConstantData& constant, int64_t* inside = nullptr) {
  int64_t total = 0;
  constant.with_bytes([&](std::span<const std::byte> bytes) {
    for (std::byte byte : bytes) total += static_cast<int64_t>(byte);
    if (inside != nullptr) *inside = resident();
  });
  return total;
}

TEST_CASE("a constant of a mapped file leaves no memory behind, and can be read again") {
  TemporaryFolder folder;
  REQUIRE(!folder.path().empty());
  std::ofstream(folder.file("ones"), std::ios::binary) << std::string(kBytes, '\1');
  Diagnostics diag;
  auto file = map_file(folder.file("ones"), nullptr, diag);
  REQUIRE(file);
  ConstantRef constant = ConstantData::file_slice(DType::u(8), {kBytes - 100}, *file, 50);
  int64_t before = resident(), inside = 0;
  CHECK(sum(*constant, &inside) == kBytes - 100);
  CHECK(inside > before + kBytes / 2);
  CHECK(resident() < before + kBytes / 4);
  CHECK(sum(*constant) == kBytes - 100);
}

TEST_CASE("a mapped file that is read through takes the memory of one piece") {
  TemporaryFolder folder;
  REQUIRE(!folder.path().empty());
  std::ofstream(folder.file("ones"), std::ios::binary) << std::string(kBytes - 1, '\1') << '\2';
  Diagnostics diag;
  auto file = map_file(folder.file("ones"), nullptr, diag);
  REQUIRE(file);
  int64_t before = resident(), most = 0, total = 0;
  std::byte last{};
  for_each_piece(**file, [&](std::span<const std::byte> piece) {
    for (std::byte byte : piece) total += static_cast<int64_t>(byte);
    last = piece.back();
    most = std::max(most, resident());
  });
  CHECK(total == kBytes + 1);
  CHECK(last == std::byte{2});
  CHECK(most < before + kBytes / 4);
}

}  // namespace
}  // namespace relaxc::relax
