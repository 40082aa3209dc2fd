// write_reports.h: reports on a compiled program.
#pragma once

#include "compiler/api/compile.h"
#include "compiler/api/compile_options.h"
#include "compiler/api/observe/profile.h"

namespace relaxc::api {

/// Holds the written object against its budgets, and writes the report and the manifest, as far as they are wanted.
/// The artifact was observed if either is.
Status write_reports(const CompileOptions& options, const Artifact& artifact, Outputs& outputs, Diagnostics& diag);

/// What each kernel of `entry` does, at the sizes that are looked at; of an artifact that was observed.
std::vector<EntryProfile> profiles_of(const Artifact& artifact, const interface::Entry& entry);

}  // namespace relaxc::api
