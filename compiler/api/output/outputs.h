// outputs.h: publishes the output files together or not at all.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "compiler/api/output/staged_file.h"
#include "compiler/relax/mapped_file.h"
#include "compiler/support/result.h"

namespace relaxc::api {

/// The files that one compilation writes. Each is written under a temporary name (StagedFile), and all are moved to
/// their paths at once; files that are not committed are removed, however the program ends.
class Outputs {
 public:
  /// Where files go: to their paths, or only to memory, where contents() reads them.
  enum class Place { kFiles, kMemory };
  explicit Outputs(Diagnostics& diag, Place place = Place::kFiles) : diag_(diag), place_(place) {}
  Outputs(const Outputs&) = delete;

  /// Returns the path to write to for the output `path`. It is an empty file already, so errors (missing folder, no
  /// permission, a folder of that name) are reported here. `keep_if_same`: an existing file with the same content is
  /// not touched.
  Result<std::string> add(const std::string& path, bool keep_if_same = false);
  /// Returns a path for a temporary file on the file system of `path`, which is removed in the end.
  Result<std::string> scratch(const std::string& path);
  /// Writes a whole text file through add().
  Status write(const std::string& path, const std::string& text, bool keep_if_same = false);
  /// Moves all files to their paths, the first one last. On failure, every path has its former content. Has no effect
  /// in memory.
  Status commit();
  /// Returns the contents of all files, in the order of add(). Must be called before commit().
  Result<std::vector<relax::FileRef>> contents();
  /// Returns the paths of all files, in the order of add().
  std::vector<std::string> paths() const;

 private:
  struct Output {
    Output(const std::string& path, bool keep) : file(path), keep_if_same(keep) {}
    StagedFile file;
    bool keep_if_same;
  };
  Result<Output*> stage(std::deque<Output>& list, const std::string& path, bool keep_if_same);
  Failure refuse(const std::string& path, const std::string& why);
  void roll_back(std::deque<Output>::reverse_iterator end);

  Diagnostics& diag_;
  Place place_;
  std::deque<Output> files_, scratch_;
};

}  // namespace relaxc::api
