// performance_report.h: `--report`: describes the compiled program, as JSON or as one self-contained page.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/api/observe/profile.h"
#include "compiler/api/run_pipeline.h"

namespace relaxc::api {

struct PerformanceReport {
  std::string model, producer, target;
  uint64_t weight_bytes = 0;
  GraphView before, after;
  std::vector<EntryProfile> profiles;
  std::map<std::string, std::string> explanations;  ///< of kernels by name, see Observations
  std::vector<std::pair<std::string, double>> pass_milliseconds;
};

/// Returns the report as JSON, which docs/report.md documents.
std::string report_json(const PerformanceReport& report);
/// Returns a page with the same data, and the script and styles that draw it; it loads nothing.
std::string report_html(const PerformanceReport& report);

}  // namespace relaxc::api
