// performance_report.h: `--report`: what was made of a program, as JSON or as one page that needs nothing else.
#pragma once

#include <string>
#include <vector>

#include "compiler/api/observe/profile.h"
#include "compiler/api/run_pipeline.h"

namespace relaxc::api {

struct PerformanceReport {
  const Observations& observed;
  std::string model, producer, target;
  std::vector<EntryProfile> profiles;
  uint64_t weight_bytes = 0;
};

/// The report as JSON, documented in docs/report.md.
std::string report_json(const PerformanceReport& report);
/// The same data with the script and the styles that draw it; it loads nothing.
std::string report_html(const PerformanceReport& report);

}  // namespace relaxc::api
