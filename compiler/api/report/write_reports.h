// write_reports.h: writes the reports on a compiled program.
#pragma once

#include "compiler/api/compile.h"
#include "compiler/api/compile_options.h"
#include "compiler/api/observe/profile.h"

namespace relaxc::api {

/// Checks the written object against its budgets, and writes the report and the manifest if requested, for which the
/// artifact must have been observed.
Status write_reports(const CompileOptions& options, const Artifact& artifact, Outputs& outputs, Diagnostics& diag);

/// Returns the profiles of `entry` at the chosen sizes; the artifact must have been observed.
std::vector<EntryProfile> profiles_of(const Artifact& artifact, const interface::Entry& entry);

}  // namespace relaxc::api
