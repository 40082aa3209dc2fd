// performance_report.h: `--report`: what was made of a program, as JSON or as one page that needs nothing else.
#pragma once

#include <string>
#include <vector>

#include "compiler/driver/graph_view.h"
#include "compiler/driver/profile.h"

namespace relaxc::driver {

struct PerformanceReport {
  std::string model, producer, target;
  GraphView before, after;  ///< as it was read; as its kernels are called
  std::vector<EntryProfile> profiles;
  uint64_t weight_bytes = 0;
  std::vector<std::pair<std::string, double>> pass_milliseconds;
};

/// The report as JSON, documented in docs/report.md.
std::string report_json(const PerformanceReport& report);
/// The same data with the script and the styles that draw it; it loads nothing.
std::string report_html(const PerformanceReport& report);

}  // namespace relaxc::driver
