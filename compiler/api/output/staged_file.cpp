// staged_file.cpp: uses anonymous files, linkat and renameat2.
//
// linkat alone publishes an anonymous file if the path is free. If there is an old file, the new one gets a random name
// until the two are exchanged, and the old one has that name until all files are published. Names are looked up in an
// open folder, so symbolic links and moved folders have no effect meanwhile.
//
// Rejected: names derived from the output's (they can be guessed, and one of NAME_MAX characters has no room for more).
#include "compiler/api/output/staged_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace relaxc::api {
namespace {

namespace fs = std::filesystem;

constexpr size_t kPiece = 1 << 16;

std::string error_text() {
  return std::strerror(errno);
}

std::string random_name() {
  uint64_t bits = 0;
  if (::getrandom(&bits, sizeof bits, 0) != sizeof bits) return {};
  std::array<char, 40> text;
  std::snprintf(text.data(), text.size(), ".relaxc-%016llx.tmp", static_cast<unsigned long long>(bits));
  return text.data();
}

std::string path_of(int descriptor) {
  return "/proc/self/fd/" + std::to_string(descriptor);
}

bool is_folder(int folder, const std::string& name) {
  struct stat status {};
  return ::fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode);
}

/// Whether the path is a link of the system to a file that a process has open, such as /dev/stdout. Placing the output
/// would replace the link for everybody instead of writing to the file. /dev/shm is an ordinary folder.
bool names_open_file(const fs::path& place) {
  std::error_code error;
  fs::path target = fs::read_symlink(place, error);
  if (error) return false;
  std::string whole = fs::absolute(place.parent_path() / target, error).lexically_normal().string();
  return whole.starts_with("/proc/") || (whole.starts_with("/dev/") && !whole.starts_with("/dev/shm/"));
}

}  // namespace

StagedFile::~StagedFile() {
  if (!placed_ && !staged_.empty()) ::unlinkat(folder_, staged_.c_str(), 0);
  if (file_ >= 0) ::close(file_);
  if (folder_ >= 0) ::close(folder_);
}

std::string StagedFile::open() {
  fs::path place(path_);
  fs::path folder = place.parent_path().empty() ? fs::path(".") : place.parent_path();
  name_ = place.filename().string();
  std::error_code error;
  fs::file_status status = fs::status(place, error);
  if (fs::is_directory(status)) return "it is a directory";
  if (fs::exists(status) && !fs::is_regular_file(status)) return "it is not a regular file";
  if (names_open_file(place)) return "it is a link to a file that is open";
  folder_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder_ < 0) folder_ = ::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder_ < 0) return error_text();
  // An impossible file name is reported before anything is compiled.
  struct stat found {};
  if (::fstatat(folder_, name_.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0 && errno != ENOENT) return error_text();
  file_ = ::openat(folder_, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
  if (file_ >= 0 && ::access(path_of(file_).c_str(), F_OK) == 0) return {};
  if (file_ >= 0) ::close(file_);  // without /proc the file cannot get a name
  return make_named();
}

std::string StagedFile::open_in_memory() {
  file_ = ::memfd_create("relaxc", MFD_CLOEXEC);
  if (file_ < 0) return error_text();
  return ::access(path_of(file_).c_str(), F_OK) == 0 ? std::string() : "a file in memory needs /proc";
}

std::string StagedFile::make_named() {
  for (int attempt = 0; attempt < 16; ++attempt) {
    std::string name = random_name();
    if (name.empty()) return error_text();
    removal_.emplace((fs::path(path_).parent_path() / name).string());
    file_ = ::openat(folder_, name.c_str(), O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR | O_CLOEXEC, 0666);
    if (file_ >= 0) staged_ = name;
    if (file_ >= 0 || errno != EEXIST) break;
  }
  if (file_ < 0) removal_.reset();
  return file_ < 0 ? error_text() : std::string();
}

std::string StagedFile::writable_path() const {
  std::string by_descriptor = path_of(file_);
  if (::access(by_descriptor.c_str(), F_OK) == 0) return by_descriptor;
  return (fs::path(path_).parent_path() / staged_).string();
}

std::string StagedFile::write(const char* data, size_t size) {
  while (size != 0) {
    ssize_t written = ::write(file_, data, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return error_text();
    if (written == 0) return "writing failed";
    data += written;
    size -= static_cast<size_t>(written);
  }
  return {};
}

bool StagedFile::same_as_before() const {
  int other = ::openat(folder_, name_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (other < 0) return false;
  struct stat ours {
  }, theirs{};
  bool same = ::fstat(file_, &ours) == 0 && ::fstat(other, &theirs) == 0 && S_ISREG(theirs.st_mode) &&
              ours.st_size == theirs.st_size;
  std::array<char, kPiece> a, b;
  for (off_t at = 0; same && at < ours.st_size;) {
    ssize_t x = ::pread(file_, a.data(), a.size(), at), y = ::pread(other, b.data(), b.size(), at);
    same = x > 0 && x == y && std::memcmp(a.data(), b.data(), static_cast<size_t>(x)) == 0;
    at += x;
  }
  ::close(other);
  return same;
}

std::string StagedFile::place() {
  if (is_folder(folder_, name_)) return "it is a directory";
  for (int attempt = 0; staged_.empty(); ++attempt) {
    std::string from = path_of(file_);
    if (::linkat(AT_FDCWD, from.c_str(), folder_, name_.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      placed_ = true;
      return {};
    }
    if (errno != EEXIST || attempt == 16) return error_text();
    std::string name = random_name();
    if (name.empty()) return error_text();
    removal_.emplace((fs::path(path_).parent_path() / name).string());
    if (::linkat(AT_FDCWD, from.c_str(), folder_, name.c_str(), AT_SYMLINK_FOLLOW) == 0)
      staged_ = name;
    else if (errno != EEXIST)
      return error_text();
  }
  return exchange(staged_);
}

/// Exchanges the file called `staged` with an old file at its place, or moves it there if there is none.
std::string StagedFile::exchange(const std::string& staged) {
  if (::renameat2(folder_, staged.c_str(), folder_, name_.c_str(), RENAME_EXCHANGE) == 0) {
    before_ = staged;
    placed_ = true;
    return {};
  }
  if (errno == ENOENT) {
    if (::renameat2(folder_, staged.c_str(), folder_, name_.c_str(), RENAME_NOREPLACE) == 0) {
      placed_ = true;
      return {};
    }
  }
  if (errno != EINVAL && errno != ENOSYS) return error_text();
  // On file systems that cannot exchange files, the old one is moved aside first.
  std::string aside = random_name();
  if (aside.empty()) return error_text();
  bool moved = ::renameat(folder_, name_.c_str(), folder_, aside.c_str()) == 0;
  if (!moved && errno != ENOENT) return error_text();
  if (::renameat(folder_, staged.c_str(), folder_, name_.c_str()) == 0) {
    before_ = moved ? aside : std::string();
    placed_ = true;
    return {};
  }
  std::string why = error_text();
  if (moved) static_cast<void>(::renameat(folder_, aside.c_str(), folder_, name_.c_str()));
  return why;
}

std::string StagedFile::restore() {
  if (!placed_) return {};
  bool done = before_.empty() ? ::unlinkat(folder_, name_.c_str(), 0) == 0
                              : ::renameat(folder_, before_.c_str(), folder_, name_.c_str()) == 0;
  if (!done) return before_.empty() ? error_text() : error_text() + "; what was there is now " + before_;
  before_.clear();
  staged_.clear();
  placed_ = false;
  return {};
}

void StagedFile::keep() {
  if (placed_ && !before_.empty()) ::unlinkat(folder_, before_.c_str(), 0);
  before_.clear();
}

}  // namespace relaxc::api
