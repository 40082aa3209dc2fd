// performance_report.h: `--report`: describes the compiled program, as JSON or as one self-contained page.
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

/// Returns the report as JSON, which docs/report.md documents.
std::string report_json(const PerformanceReport& report);
/// Returns a page with the same data, and the script and styles that draw it; it loads nothing.
std::string report_html(const PerformanceReport& report);

}  // namespace relaxc::api
