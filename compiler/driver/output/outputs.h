// outputs.h: files that appear whole or not at all.
#pragma once

#include <string>
#include <vector>

#include "compiler/support/result.h"

namespace relaxc::driver {

/// The files that one compilation writes. Each is written beside its place and renamed when all are complete; what is
/// not committed is removed, also when a signal ends the program.
class Outputs {
 public:
  explicit Outputs(Diagnostics& diag) : diag_(diag) {}
  Outputs(const Outputs&) = delete;
  ~Outputs();

  /// The path to write to for the file that will be `path`; an empty file is there already, so what forbids to write
  /// (no such folder, no permission, a folder of that name) is found here. `keep_if_same`: an existing file with the
  /// same content is left untouched.
  Result<std::string> add(const std::string& path, bool keep_if_same = false);
  /// Writes a whole text file through add().
  Status write(const std::string& path, const std::string& text, bool keep_if_same = false);
  /// Renames all files to their places, the one added first at last. On failure those not yet renamed are removed.
  Status commit();
  /// The places of all files, in the order of adding.
  std::vector<std::string> paths() const;

 private:
  struct File {
    std::string temporary, path;
    bool keep_if_same = false;
  };
  Failure refuse(const std::string& path, const std::string& why);

  Diagnostics& diag_;
  std::vector<File> files_;
};

}  // namespace relaxc::driver
