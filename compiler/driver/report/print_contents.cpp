// print_contents.cpp: what `inspect` prints.
#include "compiler/driver/report/print_contents.h"

#include <fmt/format.h>

#include <filesystem>

#include "compiler/api/report/write_reports.h"
#include "compiler/driver/report/summary.h"
#include "compiler/proof/frames.h"
#include "compiler/proof/kernels/check_kernel.h"
#include "compiler/support/quote.h"

namespace relaxc::driver {
namespace {

constexpr size_t kAnswers = 4, kKinds = 5;
constexpr std::string_view kAnswerNames[kAnswers] = {"proved", "checked", "refuted", "undecided"};

std::string counted(const size_t (&count)[kAnswers]) {
  return fmt::format("{} proved, {} checked for sizes, {} refuted, {} undecided", count[0], count[1], count[2],
                     count[3]);
}

/// What is found out of each kernel's schedule, and totals by kind. Whether none is refuted.
bool print_kernel_proofs(const Artifact& artifact) {
  size_t all[kAnswers] = {}, by_kind[kKinds][kAnswers] = {};
  for (const proof::ScheduledKernel& kernel : artifact.observed.scheduled_kernels) {
    const proof::KernelVerdict found = proof::check_kernel(kernel);
    const auto answer = static_cast<size_t>(found.answer);
    ++all[answer], ++by_kind[static_cast<size_t>(found.kind)][answer];
    fmt::print("kernel   {} ({}): {}{}{}\n", printable(found.kernel), proof::name_of(found.kind), kAnswerNames[answer],
               found.text.empty() ? "" : ": ", printable(found.text));
    if (found.answer == proof::KernelAnswer::kRefuted) fmt::print("         steps: {}\n", printable(found.steps));
  }
  fmt::print("kernels  {}\n", counted(all));
  for (size_t kind = 0; kind < kKinds; ++kind)
    if (const auto& count = by_kind[kind]; count[0] + count[1] + count[2] + count[3] != 0)
      fmt::print("         {}: {}\n", proof::name_of(static_cast<proof::KernelKind>(kind)), counted(count));
  return all[static_cast<size_t>(proof::KernelAnswer::kRefuted)] == 0;
}

/// What was claimed of the memory of each function. Whether nothing is refuted.
bool print_memory_proofs(const Artifact& artifact) {
  auto find = [&](const std::string& name) -> const tir::PrimFunc* { return artifact.module.find_prim_func(name); };
  const std::vector<tir::PrimFunc*> all = artifact.module.prim_funcs();
  bool fine = true;
  for (const proof::Claims& claims :
       proof::check_frames({all.begin(), all.end()}, artifact.observed.unplanned, artifact.object, find)) {
    fmt::print("memory   {}: {} proved, {} refuted, {} undecided\n", printable(claims.function), claims.proved,
               claims.refuted.size(), claims.undecided.size());
    for (const std::string& claim : claims.refuted) fmt::print("         refuted: {}\n", printable(claim));
    for (const std::string& claim : claims.undecided) fmt::print("         undecided: {}\n", printable(claim));
    fine = fine && claims.refuted.empty();
  }
  return fine;
}

}  // namespace

void print_contents(const Options& options, const Artifact& artifact) {
  fmt::print("{}\n{}", printable(std::filesystem::path(options.input).filename().string()),
             contents(artifact.object, artifact.target));
  for (const interface::Entry& entry : artifact.object.entries) {
    std::vector<EntryProfile> profiles = profiles_of(artifact, entry);
    if (!profiles.empty()) fmt::print("{}", work(profiles.front()));
  }
}

Status print_explanations(const Options& options, const Artifact& artifact, Diagnostics& diag) {
  const std::map<std::string, std::string>& all = artifact.observed.explanations;
  const std::string& wanted = options.tool.explain;
  if (wanted != "all" && all.count(wanted) == 0) {
    std::string names;
    for (const auto& [name, text] : all) names += (names.empty() ? "" : ", ") + name;
    return diag.error(nullptr, Kind::usage, "--explain={}: there is no such kernel; the kernels are: {}",
                      printable(wanted), names);
  }
  for (const auto& [name, text] : all)
    if (wanted == "all" || name == wanted) fmt::print("\nkernel {}\n{}", printable(name), text);
  return Done{};
}

bool print_proofs(const Options& options, const Artifact& artifact) {
  const std::string& wanted = options.tool.prove;
  const bool memory = wanted == "kernels" || print_memory_proofs(artifact);
  return (wanted == "memory" || print_kernel_proofs(artifact)) && memory;
}

}  // namespace relaxc::driver
