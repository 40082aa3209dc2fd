// install.cpp: finds the installation tree around the program, or around the library that contains this code.
#include "compiler/api/install.h"

#include <dlfcn.h>
#include <sys/auxv.h>

#include <filesystem>

namespace relaxc::api {
namespace {

namespace fs = std::filesystem;

fs::path program_path() {
  std::error_code error;
  fs::path program = fs::read_symlink("/proc/self/exe", error);
  // There may be no /proc after chroot; then this is the path by which the program was started.
  if (const auto* started = reinterpret_cast<const char*>(::getauxval(AT_EXECFN)); error && started != nullptr)
    program = fs::canonical(started, error);
  return program;
}

/// Returns the file from which this code was loaded, if it is not the program itself.
fs::path library_path() {
  Dl_info own{}, program{};
  const auto* headers = reinterpret_cast<const void*>(::getauxval(AT_PHDR));
  if (::dladdr(reinterpret_cast<const void*>(&installed), &own) == 0 || own.dli_fname == nullptr) return {};
  if (::dladdr(headers, &program) == 0 || program.dli_fbase == own.dli_fbase) return {};
  std::error_code error;
  return fs::canonical(own.dli_fname, error);
}

}  // namespace

std::string installed(const char* path) {
  std::error_code error;
  fs::path self = library_path();
  if (self.empty()) self = program_path();
  fs::path place = self.parent_path().parent_path() / path;
  return fs::exists(place, error) ? place.string() : std::string();
}

}  // namespace relaxc::api
