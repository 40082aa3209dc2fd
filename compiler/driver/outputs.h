// outputs.h: files that appear whole or not at all.
#pragma once

#include <string>
#include <vector>

#include "compiler/support/result.h"

namespace relaxc::driver {

/// The files that one compilation writes. Each is written beside its place and renamed when all are complete; what is
/// not committed is removed.
class Outputs {
 public:
  explicit Outputs(Diagnostics& diag) : diag_(diag) {}
  Outputs(const Outputs&) = delete;
  ~Outputs();

  /// The path to write to for the file that will be `path`. `keep_if_same`: an existing file with the same content is
  /// left untouched.
  std::string add(const std::string& path, bool keep_if_same = false);
  /// Writes a whole text file through add().
  Status write(const std::string& path, const std::string& text, bool keep_if_same = false);
  /// Renames all files to their places. On failure those not yet renamed are removed.
  Status commit();

 private:
  struct File {
    std::string temporary, path;
    bool keep_if_same = false;
  };
  Diagnostics& diag_;
  std::vector<File> files_;
};

}  // namespace relaxc::driver
