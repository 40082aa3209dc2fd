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

std::vector<EntryProfile> profiles_of(const Compiled& compiled, const interface::Entry& entry) {
  return profile_entry(compiled.module, compiled.observed.unplanned, entry, compiled.target);
}

Status write_report(const Options& options, const Compiled& compiled, Outputs& outputs) {
  PerformanceReport report{compiled.observed, {}, {}, {}, {}, 0};
  report.model = fs::path(options.input).filename().string();
  report.producer = compiled.object.producer;
  report.target = fmt::format("{}, {}", compiled.target.triple, compiled.target.cpu);
  report.weight_bytes = compiled.object.weights.bytes;
  for (const interface::Entry& entry : compiled.object.entries)
    for (EntryProfile& profile : profiles_of(compiled, entry)) report.profiles.push_back(std::move(profile));
  bool page = fs::path(options.report).extension() == ".html";
  return outputs.write(options.report, page ? report_html(report) : report_json(report));
}

Status write_manifest(const Options& options, const OutputPlan& plan, const Compiled& compiled,
                      const WrittenObject& written, codegen_llvm::ObjectContents found, Outputs& outputs) {
  Manifest manifest;
  manifest.output = fs::path(plan.output).filename().string();
  manifest.weights_file = fs::path(plan.weights).filename().string();
  std::error_code error;
  manifest.output_bytes = fs::file_size(written.file, error);
  manifest.stack_max = written.stack.generic;
  manifest.run_stack_max = written.stack.typed;
  manifest.flags = options.object_flags;
  manifest.contents = std::move(found);
  for (const interface::Entry& entry : compiled.object.entries)
    manifest.profiles.push_back(profiles_of(compiled, entry));
  return outputs.write(options.manifest, manifest_json(manifest, compiled.object, compiled.target));
}

}  // namespace

Status write_reports(const Options& options, const OutputPlan& plan, const Compiled& compiled,
                     const WrittenObject& written, Outputs& outputs, Diagnostics& diag) {
  codegen_llvm::ObjectContents found;
  if (options.flash_budget != 0 || !options.manifest.empty()) {
    RELAXC_TRY(found, codegen_llvm::inspect_object(written.file, plan.output, diag));
  }
  RELAXC_DO(check_budgets(options, compiled.object, found, diag));
  if (!options.report.empty()) RELAXC_DO(write_report(options, compiled, outputs));
  if (options.manifest.empty()) return Done{};
  return write_manifest(options, plan, compiled, written, std::move(found), outputs);
}

void print_contents(const Options& options, const Compiled& compiled) {
  fmt::print("{}\n{}", printable(fs::path(options.input).filename().string()),
             contents(compiled.object, compiled.target));
  for (const interface::Entry& entry : compiled.object.entries) {
    std::vector<EntryProfile> profiles = profiles_of(compiled, entry);
    if (!profiles.empty()) fmt::print("{}", work(profiles.front()));
  }
}

}  // namespace relaxc::driver
