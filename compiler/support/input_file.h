// input_file.h: opens input files.
//
// Reading a pipe may block forever, a device has no end, and a symbolic link leads wherever its creator wants. So only
// these functions open files that the command line or a model names.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>

#include "compiler/support/result.h"

namespace relaxc {

/// A regular file that is open for reading, or the reason why it could not be opened. The destructor closes it.
class InputFile {
 public:
  /// Opens the file at `path`, also through symbolic links. Does not block.
  static InputFile at(const std::string& path);
  /// Opens the file at `relative` (no "..", not absolute) below `folder`. No component of `relative` may be a symbolic
  /// link, and none can be replaced by one between a check and the opening. `folder` itself may contain links.
  static InputFile beneath(const std::string& folder, const std::string& relative);

  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&&) = delete;
  ~InputFile();

  explicit operator bool() const { return fault_.empty(); }
  /// Why there is no file: the system's reason, "it is not a regular file", "it is a symbolic link, or behind one".
  const std::string& fault() const { return fault_; }
  /// Returns whether the reason is a symbolic link where none is allowed.
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

/// The size limit for settings files (targets, schedules, custom operators), far above what people or tools write.
constexpr uint64_t kLargestSettings = uint64_t{16} << 20;

/// Returns the content of a settings file: a description of a machine, schedules. Fails (io, "cannot read `what`: why")
/// if it cannot be opened or read, is not a regular file, or exceeds kLargestSettings.
Result<std::string> read_settings(const std::string& path, const std::string& what, Diagnostics& diag);

}  // namespace relaxc
