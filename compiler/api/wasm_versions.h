// wasm_versions.h: one module of JavaScript with binaries for several kinds of engines (--target=A,B).
#pragma once

#include <string>
#include <vector>

#include "compiler/api/compile_options.h"
#include "compiler/api/output/plan.h"
#include "compiler/support/diagnostics.h"
#include "targets/target.h"

namespace relaxc::api {

/// Returns the targets of --target=A,B, the most basic first; one or none if it is no list.
std::vector<std::string> listed_targets(const std::string& text);

/// Returns the options for the binary of one further target, which is named after it: net.wasm32-relaxed.wasm beside
/// net.wasm. Nothing else is written with it.
CompileOptions options_of_version(const CompileOptions& options, const OutputPlan& plan, const std::string& target);

/// Fails (usage) unless `plan` has a module that can choose between `first` and `other`.
Status check_versions(const OutputPlan& plan, const std::string& targets, const Target& first, const Target& other,
                      Diagnostics& diag);

}  // namespace relaxc::api
