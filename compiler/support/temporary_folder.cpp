// temporary_folder.cpp: makes folders with a lock, by which abandoned ones are recognized.
//
// The lock of a folder ends with the process that made it, however that ends. A folder is locked after it is made; in
// between another process may consider it abandoned, so the process that gets the lock checks whether the folder still
// exists. The lock is on a file inside: a process that writes outputs into a folder locks the folder itself
// (api/output), and would wait for this one.
#include "compiler/support/temporary_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

namespace relaxc {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "relaxc-tmp.";
constexpr size_t kRandomLetters = 6;

constexpr char kLock[] = ".lock";

/// Opens the lock file in the folder at `path`, and creates it if it is missing. Returns -1 if that fails or if the
/// folder belongs to another user.
int open_lock(const fs::path& path) {
  int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return -1;
  struct stat status {};
  const bool ours = ::fstat(folder, &status) == 0 && status.st_uid == ::geteuid();
  int lock = ours ? ::openat(folder, kLock, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600) : -1;
  ::close(folder);
  return lock;
}

/// Whether `path` still contains the lock file that `descriptor` refers to.
bool still_there(const fs::path& path, int descriptor) {
  struct stat found {
  }, open{};
  return ::lstat((path / kLock).c_str(), &found) == 0 && ::fstat(descriptor, &open) == 0 &&
         found.st_ino == open.st_ino && found.st_dev == open.st_dev;
}

void remove_abandoned(const fs::path& folder) {
  std::error_code error, ignored;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::string name = at->path().filename().string();
    if (!name.starts_with(kPrefix) || name.size() != kPrefix.size() + kRandomLetters) continue;
    int descriptor = open_lock(at->path());
    if (descriptor < 0) continue;
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0 && still_there(at->path(), descriptor))
      fs::remove_all(at->path(), ignored);
    ::close(descriptor);
  }
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::error_code error;
  fs::path folder = fs::temp_directory_path(error);
  if (error) return;
  remove_abandoned(folder);
  for (int attempt = 0; attempt < 16 && path_.empty(); ++attempt) {
    std::string pattern = (folder / (std::string(kPrefix) + std::string(kRandomLetters, 'X'))).string();
    if (::mkdtemp(pattern.data()) == nullptr) return;
    removal_.emplace(pattern);
    lock_ = open_lock(pattern);
    if (lock_ < 0) continue;
    ::flock(lock_, LOCK_EX);
    if (still_there(pattern, lock_)) {
      path_ = pattern;
    } else {
      ::close(lock_);
      lock_ = -1;
    }
  }
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
  if (lock_ >= 0) ::close(lock_);
}

}  // namespace relaxc
