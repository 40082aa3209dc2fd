// external_patterns.cpp: opens the files; compiler/transform/graph/external parses them.
#include "compiler/api/input/external_patterns.h"

#include <utility>

#include "compiler/support/input_file.h"
#include "compiler/transform/graph/external/pattern_file.h"

namespace relaxc::api {

Result<std::vector<relax::FileRef>> open_external_patterns(const CompileOptions& options, Diagnostics& diag) {
  std::vector<relax::FileRef> files;
  for (const std::string& path : options.external_patterns) {
    RELAXC_TRY(relax::FileRef file, relax::open_file(options.memory, path, nullptr, diag));
    if (file->bytes().size() > kLargestSettings)
      return diag.error(nullptr, Kind::io, "cannot read {}: it has more than {} bytes, which no file of settings has",
                        path, kLargestSettings);
    files.push_back(std::move(file));
  }
  return files;
}

Result<ExternalPatterns> read_external_patterns(const CompileOptions& options, const relax::OpTable& ops,
                                                Sources& sources, Diagnostics& diag) {
  ExternalPatterns all;
  RELAXC_TRY(std::vector<relax::FileRef> files, open_external_patterns(options, diag));
  for (const relax::FileRef& file : files) {
    std::string text(reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size());
    RELAXC_TRY(ExternalPatterns one, relaxc::read_external_patterns(file->path(), std::move(text), ops, sources, diag));
    for (ExternalPattern& row : one.rows) all.rows.push_back(std::move(row));
  }
  return all;
}

}  // namespace relaxc::api
