// staged_file.h: writes a file under a temporary name and publishes it.
#pragma once

#include <optional>
#include <string>

#include "compiler/support/termination.h"

namespace relaxc::api {

/// A file that is written without being visible in its folder and moved to its path in one step. It has no name
/// (O_TMPFILE) if the file system supports that, so that nothing is left of it however the process ends; else a random
/// unique one (O_EXCL), which is removed.
class StagedFile {
 public:
  /// For the output `path`. open() must be called first.
  explicit StagedFile(std::string path) : path_(std::move(path)) {}
  ~StagedFile();
  StagedFile(const StagedFile&) = delete;

  /// Each of these returns the error, or an empty text.
  std::string open();
  /// Like open(), but the file is in memory, and place() must not be called.
  std::string open_in_memory();
  std::string write(const char* data, size_t size);
  /// Moves the file to its path; the file that was there is kept until keep(), and restore() brings it back.
  std::string place();
  std::string restore();
  /// Removes the file that was there before.
  void keep();

  const std::string& path() const { return path_; }
  /// Returns the descriptor of the file's folder; negative for one in memory.
  int folder() const { return folder_; }
  /// Returns a path to write to that leads to this file, even if another file has its name meanwhile.
  std::string writable_path() const;
  /// Returns whether the file at `path` has the same bytes.
  bool same_as_before() const;

 private:
  std::string make_named();
  std::string exchange(const std::string& staged);

  std::string path_, name_;  ///< `name_` is relative to the folder
  int folder_ = -1, file_ = -1;
  std::string staged_;                          ///< the current name of the file; empty: none
  std::string before_;                          ///< the current name of the old file
  std::optional<RemoveOnTermination> removal_;  ///< of `staged_`
  bool placed_ = false;
};

}  // namespace relaxc::api
