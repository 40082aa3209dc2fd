// What a target takes from the machine that relaxc runs on.
#include "targets/host_caches.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <random>

#include "compiler/codegen/llvm/target.h"

namespace relaxc {
namespace {

namespace fs = std::filesystem;

/// A folder as Linux keeps one, of a core with two caches on the first level.
class Described {
 public:
  Described() {
    describe("index0", "1", "Data", "48K");
    describe("index1", "1", "Instruction", "32K");
    describe("index2", "2", "Unified", "1024K");
    describe("index3", "3", "Unified", "32M");
    describe("index4", "4", "Unified", "");
  }
  ~Described() { fs::remove_all(folder_); }
  std::string folder() const { return folder_.string(); }

 private:
  void describe(const std::string& cache, const std::string& level, const std::string& type, const std::string& size) {
    fs::create_directories(folder_ / cache);
    std::ofstream(folder_ / cache / "level") << level << "\n";
    std::ofstream(folder_ / cache / "type") << type << "\n";
    std::ofstream(folder_ / cache / "size") << size << "\n";
    if (level == "1") std::ofstream(folder_ / cache / "ways_of_associativity") << "12\n";
    if (level == "1") std::ofstream(folder_ / cache / "coherency_line_size") << "64\n";
  }

  fs::path folder_ = fs::temp_directory_path() / ("relaxc-caches-" + std::to_string(std::random_device()()));
};

TEST_CASE("the data caches of each level are found, and nothing where none is described") {
  Described core;
  CHECK(host_cache_bytes(1, core.folder()) == 48 * 1024);
  REQUIRE(host_cache(1, core.folder()));
  CHECK(host_cache(1, core.folder())->ways == 12);
  CHECK(host_cache(1, core.folder())->line_bytes == 64);
  REQUIRE(host_cache(2, core.folder()));
  CHECK(host_cache(2, core.folder())->ways == 0);
  CHECK(host_cache_bytes(2, core.folder()) == 1024 * 1024);
  CHECK(host_cache_bytes(3, core.folder()) == 32 * 1024 * 1024);
  CHECK(host_cache_bytes(4, core.folder()) == std::nullopt);
  CHECK(host_cache_bytes(5, core.folder()) == std::nullopt);
  CHECK(host_cache_bytes(1, core.folder() + "/missing") == std::nullopt);
}

TEST_CASE("a native target has the first level of cache of this machine, unless it is described otherwise") {
  Diagnostics diag;
  Machine machine;
  machine.cpu = "native";
  Result<Target> native = codegen_llvm::resolve_target(machine, diag);
  REQUIRE(native);
  if (auto bytes = host_cache_bytes(1)) CHECK(native->l1_bytes == *bytes);
  machine.say("l1_bytes", 12345);
  Result<Target> described = codegen_llvm::resolve_target(machine, diag);
  REQUIRE(described);
  CHECK(described->l1_bytes == 12345);
}

}  // namespace
}  // namespace relaxc
