// safety.h: a model held against what safety-related systems ask of a model and its implementation.
//
// The requirements are those that ONNX's working group on a safety-related profile has named
// (github.com/onnx/working-groups, safety-related-profile): a description that leaves nothing implicit, and an
// implementation whose preconditions, errors, memory and order are known and can be traced to it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/api/compile.h"
#include "compiler/api/observe/kernel_arithmetic.h"
#include "compiler/driver/options.h"
#include "compiler/driver/report/proofs.h"
#include "frontends/onnx/findings.h"

namespace relaxc::driver {

/// Whether a requirement is met. A deviation is for a person to judge: it says what and where.
enum class SafetyAnswer : uint8_t { kMet, kDeviation, kNotApplicable };

/// "met", "deviation", "not applicable".
std::string_view name_of(SafetyAnswer answer);

struct SafetyRequirement {
  std::string_view id;     ///< "explicit-attributes", stable
  std::string_view title;  ///< what is required, as a sentence
  SafetyAnswer answer = SafetyAnswer::kMet;
  std::vector<std::string> facts;  ///< what was found, a sentence each
};

/// Returns all requirements, in a fixed order, with what the artifact and the findings of its import say. The artifact
/// was observed. `proofs` may be null: then the requirement that needs them is a deviation that says how to get them.
std::vector<SafetyRequirement> safety_requirements(const Artifact& artifact, const frontend::Findings& findings,
                                                   const Proofs* proofs);

/// Returns the kernels of all entries by name, each with the nodes of the model that it computes.
std::map<std::string, std::set<std::string>> kernels_of(const Artifact& artifact);

/// Returns the error bounds of a kernel's results; none if its definition was not observed.
std::vector<ErrorBound> bounds_of(const Artifact& artifact, const std::string& kernel);

/// The list as text, deviations with all of their facts; or as JSON with the identity of the model and its kernels.
std::string safety_text(const std::vector<SafetyRequirement>& requirements);
std::string safety_json(const std::vector<SafetyRequirement>& requirements, const Artifact& artifact,
                        const Proofs* proofs);

}  // namespace relaxc::driver
