// report.h: errors of the conversion of one operator.
//
// Most operators are a formula over ours, which reads better without a check behind every step. So the first failure is
// remembered: from then on every call gives null, which every call takes, and `status` passes the failure on. Before
// the dims of a value are looked at, a converter asks `ok`.
#pragma once

#include <utility>

#include "compiler/support/result.h"

namespace relaxc::tflite {

class Report {
 public:
  Report(Diagnostics& diag, Location location) : diag(diag), location(location) {}
  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;

  Diagnostics& diag;
  const Location location;  ///< of the operator

  bool ok() const { return !failed_; }
  void fail() { failed_ = true; }
  Status status() { return failed_ ? Status(diag.failed()) : Status(Done{}); }

  template <typename... Args>
  Failure error(Kind kind, fmt::format_string<Args...> text, Args&&... args) {
    failed_ = true;
    return diag.error(location, kind, text, std::forward<Args>(args)...);
  }
  /// The same where a value is wanted.
  template <typename... Args>
  std::nullptr_t refuse(fmt::format_string<Args...> text, Args&&... args) {
    error(Kind::unsupported, text, std::forward<Args>(args)...);
    return nullptr;
  }

 private:
  bool failed_ = false;
};

}  // namespace relaxc::tflite
