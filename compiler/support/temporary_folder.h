// temporary_folder.h: a place for files that end with the work that needs them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "compiler/support/termination.h"

namespace relaxc {

/// A folder of its own below the system's folder for temporary files, removed at the end of its scope with all that is
/// in it, and by a signal that ends the process. Its path is empty if there could be none. One that is left behind by a
/// process that was killed is removed by the next one of the same user.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
  int lock_ = -1;  ///< a descriptor of a file in it, whose lock says that the folder is in use
  std::optional<RemoveOnTermination> removal_;
};

}  // namespace relaxc
