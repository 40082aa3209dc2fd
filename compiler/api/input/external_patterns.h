// external_patterns.h: reads the files of --external-patterns.
#pragma once

#include <vector>

#include "compiler/api/compile_options.h"
#include "compiler/relax/mapped_file.h"
#include "compiler/relax/op_def.h"
#include "compiler/transform/graph/external/external_pattern.h"

namespace relaxc::api {

/// Opens the files, from memory or by their paths. Fails (io) if one cannot be read, or exceeds kLargestSettings.
Result<std::vector<relax::FileRef>> open_external_patterns(const CompileOptions& options, Diagnostics& diag);

/// Returns the rows of all files, in order. `sources` owns the text to which messages point. Fails if a file cannot be
/// read or is invalid.
Result<ExternalPatterns> read_external_patterns(const CompileOptions& options, const relax::OpTable& ops,
                                                Sources& sources, Diagnostics& diag);

}  // namespace relaxc::api
