// input_file.cpp: uses open, openat2, and openat where the kernel has no openat2.
//
// With O_NONBLOCK, opening a pipe returns, and fstat then tells its type. If openat2 is missing (Linux before 5.6) or
// forbidden by a sandbox, the path is opened component by component with O_NOFOLLOW, each one relative to the last, so
// that nothing that is exchanged meanwhile is followed.
//
// Rejected: comparing canonical paths before and after opening. That misses a link that exists only in between.
#include "compiler/support/input_file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

namespace relaxc {
namespace {

constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;

/// Opens a file below `folder` with one call of openat2; returns -1 and sets errno if that fails.
int open_at_once(int folder, const std::string& relative) {
  open_how how{};
  how.flags = kFlags;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
  return static_cast<int>(::syscall(SYS_openat2, folder, relative.c_str(), &how, sizeof how));
}

/// Does the same with one openat for each component, where openat2 is missing, forbidden or interrupted by renames.
int open_step_by_step(int folder, const std::string& relative) {
  std::filesystem::path path(relative);
  int at = folder;
  for (auto part = path.begin(); part != path.end();) {
    std::string name = part->string();
    bool last = ++part == path.end();
    int next = -1;
    if (name == ".." || name == "/") {
      errno = EXDEV;
    } else {
      next = ::openat(at, name.c_str(), O_NOFOLLOW | O_CLOEXEC | (last ? kFlags : O_PATH | O_DIRECTORY));
      struct stat found {};
      bool link = next < 0 && ::fstatat(at, name.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(found.st_mode);
      if (link) errno = ELOOP;
    }
    int why = errno;
    if (at != folder) ::close(at);
    errno = why;
    if (next < 0 || last) return next;
    at = next;
  }
  errno = ENOENT;  // an empty path
  return -1;
}

}  // namespace

InputFile::InputFile(int descriptor, bool follows_links) : descriptor_(descriptor) {
  link_ = descriptor_ < 0 && errno == ELOOP && !follows_links;
  if (descriptor_ < 0)
    fault_ = link_ ? "it is a symbolic link, or behind one" : std::strerror(errno);
  else if (::fstat(descriptor_, &status_) != 0)
    fault_ = std::strerror(errno);
  else if (!S_ISREG(status_.st_mode))
    fault_ = "it is not a regular file";
}

InputFile::InputFile(InputFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      status_(other.status_),
      fault_(std::move(other.fault_)),
      link_(other.link_) {}

InputFile::~InputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

InputFile InputFile::at(const std::string& path) {
  return {::open(path.c_str(), kFlags), true};
}

InputFile InputFile::beneath(const std::string& folder, const std::string& relative) {
  int base = ::open(folder.empty() ? "." : folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (base < 0) return {-1, true};
  int file = open_at_once(base, relative);
  if (file < 0 && (errno == ENOSYS || errno == EPERM || errno == EAGAIN)) file = open_step_by_step(base, relative);
  int why = errno;
  ::close(base);
  errno = why;
  return {file, false};
}

Result<std::string> read_settings(const std::string& path, const std::string& what, Diagnostics& diag) {
  auto fail = [&](const std::string& why) { return diag.error(nullptr, Kind::io, "cannot read {}: {}", what, why); };
  InputFile file = InputFile::at(path);
  if (!file) return fail(file.fault());
  std::string text;
  for (;;) {
    constexpr size_t kPiece = size_t{1} << 16;
    size_t size = text.size();
    text.resize(size + kPiece);
    ssize_t got = ::read(file.descriptor(), text.data() + size, kPiece);
    if (got < 0 && errno != EINTR) return fail(std::strerror(errno));
    text.resize(size + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (text.size() > kLargestSettings)
      return fail(fmt::format("it has more than {} bytes, which no file of settings has", kLargestSettings));
    if (got == 0) return text;
  }
}

}  // namespace relaxc
