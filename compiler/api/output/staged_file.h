// staged_file.h: one file on its way to its place.
#pragma once

#include <optional>
#include <string>

#include "compiler/support/termination.h"

namespace relaxc::api {

/// A file that is written under a temporary name in the folder that it will be in, and put in its place in one step. It
/// has no name (O_TMPFILE) where the file system can do that, so that nothing is left of it however the process ends;
/// else a random one of its own (O_EXCL), which is removed.
class StagedFile {
 public:
  /// For the file that will be `path`. open() comes first.
  explicit StagedFile(std::string path) : path_(std::move(path)) {}
  ~StagedFile();
  StagedFile(const StagedFile&) = delete;

  /// Each gives why it failed, or an empty text.
  std::string open();
  /// The same without a place: the file is in memory, and place() is not for it.
  std::string open_in_memory();
  std::string write(const char* data, size_t size);
  /// Puts the file in its place; what was there is kept until keep(), and comes back by restore().
  std::string place();
  std::string restore();
  /// Removes what was there before.
  void keep();

  const std::string& path() const { return path_; }
  /// The open folder of the file; negative for one in memory.
  int folder() const { return folder_; }
  /// Where to write by name: a path that leads to the file itself and not to what has its name.
  std::string writable_path() const;
  /// Whether the file at `path` holds the same bytes.
  bool same_as_before() const;

 private:
  std::string make_named();
  std::string exchange(const std::string& staged);

  std::string path_, name_;  ///< `name_`: in its folder
  int folder_ = -1, file_ = -1;
  std::string staged_;                          ///< the name that the file has for now; empty: none
  std::string before_;                          ///< the name that the old file has for now
  std::optional<RemoveOnTermination> removal_;  ///< of `staged_`
  bool placed_ = false;
};

}  // namespace relaxc::api
