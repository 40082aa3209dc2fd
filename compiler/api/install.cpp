// install.cpp: the tree around the program.
#include "compiler/api/install.h"

#include <sys/auxv.h>

#include <filesystem>

namespace relaxc::api {

std::string installed(const char* path) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path program = fs::read_symlink("/proc/self/exe", error);
  // A folder that somebody changed the root to may have no /proc: then the path that the program was started by.
  if (const auto* started = reinterpret_cast<const char*>(::getauxval(AT_EXECFN)); error && started != nullptr)
    program = fs::canonical(started, error);
  fs::path place = program.parent_path().parent_path() / path;
  return fs::exists(place, error) ? place.string() : std::string();
}

}  // namespace relaxc::api
