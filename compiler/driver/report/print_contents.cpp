// print_contents.cpp: the output of `inspect`.
#include "compiler/driver/report/print_contents.h"

#include <fmt/format.h>

#include <filesystem>

#include "compiler/api/report/write_reports.h"
#include "compiler/driver/report/summary.h"
#include "compiler/support/quote.h"

namespace relaxc::driver {

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

}  // namespace relaxc::driver
