// write_reports.cpp: checks budgets and writes the performance report and the manifest.
#include "compiler/api/report/write_reports.h"

#include <fmt/format.h>

#include <filesystem>

#include "compiler/api/report/budget.h"
#include "compiler/api/report/kernel_graph.h"
#include "compiler/api/report/manifest.h"

namespace relaxc::api {
namespace {

namespace fs = std::filesystem;

Status write_manifest(const CompileOptions& options, const Artifact& artifact, codegen_llvm::ObjectContents found,
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

PerformanceReport report_on(const CompileOptions& options, const Artifact& artifact) {
  PerformanceReport report;
  report.model = fs::path(options.input).filename().string();
  report.producer = artifact.object.producer;
  report.target = fmt::format("{}, {}", artifact.target.triple, artifact.target.cpu);
  report.weight_bytes = artifact.object.weights.bytes;
  report.before = artifact.observed.before, report.after = artifact.observed.after;
  report.explanations = artifact.observed.explanations;
  report.pass_milliseconds = artifact.observed.pass_milliseconds;
  return report;
}

Status write_report(const PerformanceReport& report, const std::string& path, Outputs& outputs) {
  const std::string extension = fs::path(path).extension().string();
  return outputs.write(path, extension == ".html"   ? report_html(report)
                             : extension == ".onnx" ? kernel_graph_onnx(report)
                                                    : report_json(report));
}

std::vector<EntryProfile> profiles_of(const Artifact& artifact, const interface::Entry& entry) {
  return profile_entry(artifact.module, artifact.observed.unplanned, entry, artifact.target);
}

Status write_reports(const CompileOptions& options, const Artifact& artifact, Outputs& outputs, Diagnostics& diag) {
  codegen_llvm::ObjectContents found;
  if (options.flash_budget != 0 || !options.manifest.empty()) {
    RELAXC_TRY(found, codegen_llvm::inspect_object(artifact.written.file, artifact.plan.output, diag));
  }
  RELAXC_DO(check_budgets(options, artifact.object, found, diag));
  if (!options.report.empty()) {
    PerformanceReport report = report_on(options, artifact);
    for (const interface::Entry& entry : artifact.object.entries)
      for (EntryProfile& profile : profiles_of(artifact, entry)) report.profiles.push_back(std::move(profile));
    RELAXC_DO(write_report(report, options.report, outputs));
  }
  if (options.manifest.empty()) return Done{};
  return write_manifest(options, artifact, std::move(found), outputs);
}

}  // namespace relaxc::api
