// outputs.h: files that appear together or not at all.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "compiler/api/output/staged_file.h"
#include "compiler/relax/mapped_file.h"
#include "compiler/support/result.h"

namespace relaxc::api {

/// The files that one compilation writes. Each is written under a temporary name (StagedFile) and all are put in their
/// places at once; what is not committed is gone, whatever ends the program.
class Outputs {
 public:
  /// Where files go: to their paths, or nowhere, so that contents() is all there is of them.
  enum class Place { kFiles, kMemory };
  explicit Outputs(Diagnostics& diag, Place place = Place::kFiles) : diag_(diag), place_(place) {}
  Outputs(const Outputs&) = delete;

  /// The path to write to for the file that will be `path`; an empty file is there already, so what forbids to write
  /// (no such folder, no permission, a folder of that name) is found here. `keep_if_same`: an existing file with the
  /// same content is left untouched.
  Result<std::string> add(const std::string& path, bool keep_if_same = false);
  /// A path to write to for what is needed until all is written, on the file system of `path`.
  Result<std::string> scratch(const std::string& path);
  /// Writes a whole text file through add().
  Status write(const std::string& path, const std::string& text, bool keep_if_same = false);
  /// Puts all files in their places, the one added first at last. On failure every place has what it had before. Files
  /// in memory have no places.
  Status commit();
  /// What all files hold, in the order of adding; it is there for as long as it is kept. Before commit().
  Result<std::vector<relax::FileRef>> contents();
  /// The places of all files, in the order of adding.
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
