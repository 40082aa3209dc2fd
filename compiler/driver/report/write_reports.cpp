// write_reports.cpp: budgets, the performance report, the manifest, and what `inspect` prints.
#include "compiler/driver/report/write_reports.h"

#include <fmt/format.h>

#include <filesystem>

#include "compiler/driver/report/budget.h"
#include "compiler/driver/report/manifest.h"
#include "compiler/driver/report/performance_report.h"
#include "compiler/driver/report/summary.h"
#include "compiler/support/quote.h"

namespace relaxc::driver {
namespace {

namespace fs = std::filesystem;

std::vector<EntryProfile> profiles_of(const Artifact& artifact, const interface::Entry& entry) {
  return profile_entry(artifact.module, artifact.observed.unplanned, entry, artifact.target);
}

Status write_report(const Options& options, const Artifact& artifact, Outputs& outputs) {
  PerformanceReport report{artifact.observed, {}, {}, {}, {}, 0};
  report.model = fs::path(options.input).filename().string();
  report.producer = artifact.object.producer;
  report.target = fmt::format("{}, {}", artifact.target.triple, artifact.target.cpu);
  report.weight_bytes = artifact.object.weights.bytes;
  for (const interface::Entry& entry : artifact.object.entries)
    for (EntryProfile& profile : profiles_of(artifact, entry)) report.profiles.push_back(std::move(profile));
  bool page = fs::path(options.report).extension() == ".html";
  return outputs.write(options.report, page ? report_html(report) : report_json(report));
}

Status write_manifest(const Options& options, const Artifact& artifact, codegen_llvm::ObjectContents found,
                      Outputs& outputs) {
  Manifest manifest;
  manifest.output = fs::path(artifact.plan.output).filename().string();
  manifest.weights_file = fs::path(artifact.plan.weights).filename().string();
  std::error_code error;
  manifest.output_bytes = fs::file_size(artifact.written.file, error);
  manifest.stack_max = artifact.written.stack.generic;
  manifest.run_stack_max = artifact.written.stack.typed;
  manifest.flags = options.object_flags;
  manifest.contents = std::move(found);
  for (const interface::Entry& entry : artifact.object.entries)
    manifest.profiles.push_back(profiles_of(artifact, entry));
  return outputs.write(options.manifest, manifest_json(manifest, artifact.object, artifact.target));
}

}  // namespace

Status write_reports(const Options& options, const Artifact& artifact, Outputs& outputs, Diagnostics& diag) {
  codegen_llvm::ObjectContents found;
  if (options.flash_budget != 0 || !options.manifest.empty()) {
    RELAXC_TRY(found, codegen_llvm::inspect_object(artifact.written.file, artifact.plan.output, diag));
  }
  RELAXC_DO(check_budgets(options, artifact.object, found, diag));
  if (!options.report.empty()) RELAXC_DO(write_report(options, artifact, outputs));
  if (options.manifest.empty()) return Done{};
  return write_manifest(options, artifact, std::move(found), outputs);
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

void print_contents(const Options& options, const Artifact& artifact) {
  fmt::print("{}\n{}", printable(fs::path(options.input).filename().string()),
             contents(artifact.object, artifact.target));
  for (const interface::Entry& entry : artifact.object.entries) {
    std::vector<EntryProfile> profiles = profiles_of(artifact, entry);
    if (!profiles.empty()) fmt::print("{}", work(profiles.front()));
  }
}

}  // namespace relaxc::driver
