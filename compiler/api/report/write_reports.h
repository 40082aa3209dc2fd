// write_reports.h: writes the reports on a compiled program.
#pragma once

#include "compiler/api/compile.h"
#include "compiler/api/compile_options.h"
#include "compiler/api/observe/profile.h"
#include "compiler/api/report/performance_report.h"

namespace relaxc::api {

/// Checks the written object against its budgets, and writes the report and the manifest if requested, for which the
/// artifact must have been observed.
Status write_reports(const CompileOptions& options, const Artifact& artifact, Outputs& outputs, Diagnostics& diag);

/// Returns the report on an observed artifact, without profiles.
PerformanceReport report_on(const CompileOptions& options, const Artifact& artifact);
/// Writes a report as what the extension of `path` says, .html or .json.
Status write_report(const PerformanceReport& report, const std::string& path, Outputs& outputs);

/// Returns the profiles of `entry` at the chosen sizes; the artifact must have been observed.
std::vector<EntryProfile> profiles_of(const Artifact& artifact, const interface::Entry& entry);

}  // namespace relaxc::api
