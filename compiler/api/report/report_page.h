// report_page.h: the HTML around the data of `--report=….html`.
#pragma once

namespace relaxc::api {

/// The HTML before and after the JSON.
extern const char* const kReportPageBegin;
extern const char* const kReportPageEnd;

}  // namespace relaxc::api
