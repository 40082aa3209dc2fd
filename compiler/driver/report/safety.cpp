// safety.cpp: one function for each requirement, in the order in which they are listed.
#include "compiler/driver/report/safety.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "compiler/api/report/write_reports.h"
#include "compiler/api/version.h"
#include "compiler/support/quote.h"
#include "compiler/support/status_code.h"
#include "compiler/support/unicode.h"
#include "compiler/tir/visit.h"
#include "runtime-lite/include/relax_rt.h"

namespace relaxc::driver {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kStandings[] = {"met", "deviation", "not applicable"};

/// What the requirements are checked against.
struct Subject {
  const Artifact& artifact;
  const frontend::Findings& findings;
  const Proofs* proofs;
};

using Check = void (*)(const Subject& subject, SafetyRequirement& found);

void deviate(SafetyRequirement& found, std::string fact) {
  found.answer = SafetyAnswer::kDeviation;
  found.facts.push_back(std::move(fact));
}

void not_applicable(SafetyRequirement& found) {
  found.answer = SafetyAnswer::kNotApplicable;
  found.facts.emplace_back("the input is not an ONNX model");
}

void explicit_attributes(const Subject& subject, SafetyRequirement& found) {
  if (!subject.findings.versions) return not_applicable(found);
  for (const frontend::ImplicitAttributes& node : subject.findings.implicit_attributes)
    deviate(found, fmt::format("{}: {}", short_location(node.node), fmt::join(node.names, ", ")));
}

void explicit_versions(const Subject& subject, SafetyRequirement& found) {
  const std::optional<frontend::ModelVersions>& versions = subject.findings.versions;
  if (!versions) return not_applicable(found);
  std::string text = fmt::format("IR version {}", versions->ir);
  for (const auto& [domain, version] : versions->opsets) text += fmt::format(", {} {}", domain, version);
  found.facts.push_back(text);
  if (versions->ir < 3) deviate(found, "before IR version 3 a model need not import operator sets");
}

void bounded_dims(const Subject& subject, SafetyRequirement& found) {
  for (const interface::Entry& entry : subject.artifact.object.entries)
    for (const interface::Symbol& symbol : entry.symbols) {
      const bool open = symbol.upper == INT64_MAX;
      std::string text =
          fmt::format("{}: dim {} is {}..{}{}", entry.name, symbol.name, symbol.lower,
                      open ? "" : std::to_string(symbol.upper), open ? ": give it a bound by --dim" : "");
      open ? deviate(found, std::move(text)) : found.facts.push_back(std::move(text));
    }
}

void static_memory(const Subject& subject, SafetyRequirement& found) {
  for (const interface::Entry& entry : subject.artifact.object.entries) {
    if (entry.needs_allocator) deviate(found, entry.name + " asks the allocator of its caller for memory");
    if (entry.arena_max == UINT64_MAX)
      deviate(found, entry.name + ": the arena has no bound");
    else
      found.facts.push_back(fmt::format("{}: the arena has at most {} bytes", entry.name, entry.arena_max));
    if (!entry.values.empty()) deviate(found, entry.name + ": dims are read from the values of inputs");
    for (const interface::Tensor& output : entry.outputs)
      if (output.data_dependent)
        deviate(found, fmt::format("{}: the size of output {} depends on data", entry.name, output.name));
  }
}

void checked_preconditions(const Subject& subject, SafetyRequirement& found) {
  found.facts.emplace_back(
      "the number of tensors, dtypes, ranks, dims, strides, alignment, capacity and overlap are checked before a byte "
      "is written; what fails is returned as a code from 1 to 25 with a record (docs/abi.md)");
  std::map<int32_t, size_t> checks;
  for (const tir::PrimFunc* function : subject.artifact.module.prim_funcs())
    tir::for_each_stmt(function->body, [&](tir::Stmt s) {
      if (const auto* guard = s.as<tir::Guard>(); guard != nullptr && guard->code >= kIndexRange) ++checks[guard->code];
    });
  for (const auto& [code, count] : checks)
    found.facts.push_back(fmt::format("{} check{} of data: code {}, {}; outputs are then unspecified", count,
                                      count == 1 ? "" : "s", code, rlx_status_name(code)));
  for (const interface::External& external : subject.artifact.object.externals)
    deviate(found, fmt::format("the external function {} is not checked", external.name));
}

/// Whether a guard of the function reports this code.
bool leaves_with(const tir::PrimFunc& function, int32_t code) {
  bool found = false;
  tir::for_each_stmt(function.body, [&](tir::Stmt s) {
    const auto* guard = s.as<tir::Guard>();
    found = found || (guard != nullptr && guard->code == code);
  });
  return found;
}

void bounded_loops(const Subject& subject, SafetyRequirement& found) {
  for (const tir::PrimFunc* function : subject.artifact.module.prim_funcs()) {
    bool until = false;
    tir::for_each_stmt(function->body, [&](tir::Stmt s) { until = until || s.as<tir::While>() != nullptr; });
    if (until) deviate(found, fmt::format("{}: a loop ends by a condition on data", function->name));
    if (leaves_with(*function, kRecursionDepth))
      deviate(found, fmt::format("{}: calls itself, as deep as --max-recursion allows", function->name));
  }
  if (found.answer == SafetyAnswer::kMet)
    found.facts.emplace_back("every loop runs as often as dims say, and functions do not call themselves");
}

void fixed_order(const Subject& subject, SafetyRequirement& found) {
  for (const interface::Entry& entry : subject.artifact.object.entries) {
    const std::vector<EntryProfile> profiles = profiles_of(subject.artifact, entry);
    if (!profiles.empty())
      found.facts.push_back(
          fmt::format("{}: {} kernels and calls, always in one order", entry.name, profiles.front().steps.size()));
  }
  found.facts.emplace_back("the order of the terms of a sum does not depend on the number of threads");
}

void exact_parameters(const Subject& subject, SafetyRequirement& found) {
  const interface::Weights& weights = subject.artifact.object.weights;
  found.facts.push_back(
      fmt::format("{} bytes of constants, kept bit by bit or computed once, when compiling, by the arithmetic of a run",
                  weights.bytes));
  std::set<std::string> narrowed;
  for (const tir::PrimFunc* function : subject.artifact.module.prim_funcs())
    if (function->rounding && function->rounding->narrowed)
      narrowed.insert(
          fmt::format("{}: operands are rounded to {}", function->name, to_string(*function->rounding->narrowed)));
  for (const std::string& text : narrowed) deviate(found, text);
}

}  // namespace

std::map<std::string, std::set<std::string>> kernels_of(const Artifact& artifact) {
  std::map<std::string, std::set<std::string>> kernels;
  for (const interface::Entry& entry : artifact.object.entries)
    for (const EntryProfile& profile : profiles_of(artifact, entry))
      for (const KernelCost& kernel : profile.kernels)
        kernels[kernel.name].insert(kernel.sources.begin(), kernel.sources.end());
  return kernels;
}

std::vector<ErrorBound> bounds_of(const Artifact& artifact, const std::string& kernel) {
  const auto definition = artifact.observed.definitions.find(kernel);
  if (definition == artifact.observed.definitions.end()) return {};
  const tir::PrimFunc* now = artifact.module.find_prim_func(kernel);
  return error_bounds(arithmetic_of(definition->second), now == nullptr ? "" : now->schedule.steps);
}

namespace {

std::vector<std::string> texts_of(const std::vector<ErrorBound>& bounds) {
  std::vector<std::string> texts;
  for (const ErrorBound& bound : bounds) texts.push_back(bound.text);
  return texts;
}

void known_errors(const Subject& subject, SafetyRequirement& found) {
  for (const auto& [kernel, sources] : kernels_of(subject.artifact)) {
    const std::vector<std::string> bounds = texts_of(bounds_of(subject.artifact, kernel));
    if (bounds.empty())
      deviate(found, kernel + ": no bound is known");
    else
      found.facts.push_back(fmt::format("{}: {}", kernel, fmt::join(bounds, "; ")));
  }
}

void defined_overflow(const Subject& subject, SafetyRequirement& found) {
  found.facts.emplace_back(
      "floats overflow to infinities and keep subnormals (IEEE 754); integers wrap modulo 2^n; casts to integers "
      "saturate (docs/numerics.md)");
  const std::string& triple = subject.artifact.target.triple;
  if (triple.starts_with("armv7") || triple.starts_with("thumbv8r"))
    deviate(found, "vector instructions of this target flush subnormals to zero");
}

void traceable(const Subject& subject, SafetyRequirement& found) {
  found.facts.emplace_back("objects, headers and --manifest state a hash (BLAKE3) of input, flags and compiler");
  for (const auto& [kernel, sources] : kernels_of(subject.artifact)) {
    const tir::PrimFunc* now = subject.artifact.module.find_prim_func(kernel);
    if (!sources.empty())
      found.facts.push_back(fmt::format("{}: {}", kernel, fmt::join(sources, ", ")));
    else if (now != nullptr && now->memory.copies)
      found.facts.push_back(kernel + ": copies a value to where another kernel needs it");
    else
      deviate(found, kernel + ": it computes no node of the source");
  }
}

void validated(const Subject& subject, SafetyRequirement& found) {
  const Proofs* proofs = subject.proofs;
  if (proofs == nullptr || !proofs->memory || !proofs->kernels)
    return deviate(found, "nothing was proved: --prove and --certificate do that");
  for (const proof::Claims& claims : *proofs->memory) {
    found.facts.push_back(fmt::format("memory of {}: {} claims proved", claims.function, claims.proved));
    for (const std::string& claim : claims.refuted) deviate(found, "refuted: " + claim);
    for (const std::string& claim : claims.undecided) deviate(found, "undecided: " + claim);
  }
  for (const proof::KernelVerdict& kernel : *proofs->kernels) {
    std::string text =
        fmt::format("{}: {}{}{}", kernel.kernel, name_of(kernel.answer), kernel.text.empty() ? "" : ": ", kernel.text);
    const bool fine = kernel.answer == proof::KernelAnswer::kProved || kernel.answer == proof::KernelAnswer::kChecked;
    fine ? found.facts.push_back(std::move(text)) : deviate(found, std::move(text));
  }
}

struct Row {
  std::string_view id, title;
  Check check;
};

constexpr Row kRows[] = {
    {"explicit-attributes", "no attribute is left to a default", explicit_attributes},
    {"explicit-versions", "versions of operator sets are stated", explicit_versions},
    {"bounded-dims", "every dim has a bound", bounded_dims},
    {"static-memory", "memory does not depend on data", static_memory},
    {"checked-preconditions", "preconditions are checked, and what happens otherwise is defined",
     checked_preconditions},
    {"bounded-loops", "loops and calls have bounds", bounded_loops},
    {"fixed-order", "the order of execution is prescribed", fixed_order},
    {"exact-parameters", "parameters are kept exactly", exact_parameters},
    {"known-errors", "the largest error of each kernel is known", known_errors},
    {"defined-overflow", "overflow and underflow are defined", defined_overflow},
    {"traceable", "code can be traced to the model", traceable},
    {"validated", "memory and schedules are proved", validated},
};

}  // namespace

std::string_view name_of(SafetyAnswer answer) {
  return kStandings[static_cast<size_t>(answer)];
}

std::vector<SafetyRequirement> safety_requirements(const Artifact& artifact, const frontend::Findings& findings,
                                                   const Proofs* proofs) {
  std::vector<SafetyRequirement> all;
  for (const Row& row : kRows) {
    SafetyRequirement& found = all.emplace_back(SafetyRequirement{row.id, row.title, SafetyAnswer::kMet, {}});
    row.check({artifact, findings, proofs}, found);
  }
  return all;
}

std::string safety_text(const std::vector<SafetyRequirement>& requirements) {
  std::string text;
  size_t counts[std::size(kStandings)] = {};
  for (const SafetyRequirement& one : requirements) {
    const auto answer = static_cast<size_t>(one.answer);
    ++counts[answer];
    text += fmt::format("safety   {}: {} ({})\n", one.id, name_of(one.answer), one.title);
    for (const std::string& fact : one.facts) text += fmt::format("         {}\n", printable(fact));
  }
  return text + fmt::format("safety   {} requirements: {} met, {} deviations, {} not applicable\n", requirements.size(),
                            counts[0], counts[1], counts[2]);
}

std::string safety_json(const std::vector<SafetyRequirement>& requirements, const Artifact& artifact,
                        const Proofs* proofs) {
  Json list = Json::array(), kernels = Json::array(), verdicts = Json::array();
  for (const SafetyRequirement& one : requirements)
    list.push_back({{"id", one.id}, {"requirement", one.title}, {"answer", name_of(one.answer)}, {"facts", one.facts}});
  for (const auto& [kernel, sources] : kernels_of(artifact))
    kernels.push_back({{"name", kernel}, {"nodes", sources}, {"error", texts_of(bounds_of(artifact, kernel))}});
  if (proofs != nullptr && proofs->kernels)
    for (const proof::KernelVerdict& found : *proofs->kernels)
      verdicts.push_back({{"kernel", found.kernel}, {"answer", name_of(found.answer)}, {"text", found.text}});
  Json json = {{"relaxc", api::kVersion},
               {"target", artifact.target.triple},
               {"requirements", list},
               {"kernels", kernels},
               {"proofs", verdicts}};
  return visible_json(json.dump(1, ' ', false, Json::error_handler_t::replace)) + "\n";
}

}  // namespace relaxc::driver
