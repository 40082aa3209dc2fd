// temporary_folder.h: a folder for temporary files.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "compiler/support/termination.h"

namespace relaxc {

/// A new folder below the system's folder for temporary files. It is removed with its content at the end of the scope,
/// and by a signal that ends the process. Its path is empty if it could not be made. A folder that a killed process
/// leaves is removed by the next process of the same user.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
  int lock_ = -1;  ///< descriptor of a file in it, whose lock marks the folder as in use
  std::optional<RemoveOnTermination> removal_;
};

}  // namespace relaxc
