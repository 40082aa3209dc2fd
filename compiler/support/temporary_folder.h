// temporary_folder.h: a place for files that end with the work that needs them.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace relaxc {

/// A folder of its own below the system's folder for temporary files, removed at the end of its scope with all that is
/// in it. Its path is empty if there could be none.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::error_code error;
    std::string pattern = (std::filesystem::temp_directory_path(error) / "relaxc-XXXXXX").string();
    if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace relaxc
