// input_file.h: how relaxc opens what it reads.
//
// A pipe is waited for without end, a device has no end, and a symbolic link leads to where its maker wants. So a file
// that the command line or a model names is opened by one of these functions and by nothing else.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>

#include "compiler/support/result.h"

namespace relaxc {

/// A regular file that is open for reading, or why it could not be opened. Closes it.
class InputFile {
 public:
  /// The file that `path` leads to, through symbolic links as well. Does not wait.
  static InputFile at(const std::string& path);
  /// The file at `relative` (no "..", not absolute) below `folder`. No component of `relative` may be a symbolic link,
  /// and none can become one between a check and the opening. `folder` itself may be behind links.
  static InputFile beneath(const std::string& folder, const std::string& relative);

  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&&) = delete;
  ~InputFile();

  explicit operator bool() const { return fault_.empty(); }
  /// Why there is no file: the system's reason, "it is not a regular file", "it is a symbolic link, or behind one".
  const std::string& fault() const { return fault_; }
  /// Whether the reason is a symbolic link where none may be.
  bool is_link() const { return link_; }
  int descriptor() const { return descriptor_; }
  const struct stat& status() const { return status_; }

 private:
  InputFile(int descriptor, bool follows_links);

  int descriptor_ = -1;
  struct stat status_ {};
  std::string fault_;
  bool link_ = false;
};

/// The limit for files of settings (targets, schedules, custom operators), far above what people or tools write.
constexpr uint64_t kLargestSettings = uint64_t{16} << 20;

/// The contents of a file of settings: a description of a machine, schedules. Fails (io, "cannot read `what`: why") if
/// it cannot be opened or read, is not a regular file, or has more than kLargestSettings bytes.
Result<std::string> read_settings(const std::string& path, const std::string& what, Diagnostics& diag);

}  // namespace relaxc
