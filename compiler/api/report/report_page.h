// report_page.h: the page of `--report=….html` around its data.
#pragma once

namespace relaxc::api {

/// HTML up to the JSON, and behind it.
extern const char* const kReportPageBegin;
extern const char* const kReportPageEnd;

}  // namespace relaxc::api
