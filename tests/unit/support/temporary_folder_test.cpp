// temporary_folder_test.cpp: who may do what with a folder while it is in use.
#include "compiler/support/temporary_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>

namespace relaxc {
namespace {

TEST_CASE("a temporary folder that is in use can be locked by who writes outputs into it") {
  TemporaryFolder folder;
  REQUIRE(!folder.path().empty());
  int descriptor = ::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  REQUIRE(descriptor >= 0);
  CHECK(::flock(descriptor, LOCK_EX | LOCK_NB) == 0);
  ::close(descriptor);
}

TEST_CASE("a temporary folder stays while it is in use, and is gone with its files afterwards") {
  std::filesystem::path path;
  {
    TemporaryFolder folder;
    path = folder.path();
    std::ofstream(folder.file("a")) << "text";
    TemporaryFolder other;  // removes what is abandoned
    CHECK(other.path() != path);
    CHECK(std::filesystem::exists(path / "a"));
  }
  CHECK(!std::filesystem::exists(path));
}

}  // namespace
}  // namespace relaxc
