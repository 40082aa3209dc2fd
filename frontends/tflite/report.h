// report.h: errors during the conversion of one operator.
//
// Most operators are a formula of relax operators, which is easier to read without a check after every step. So the
// first failure is remembered: from then on every call returns null, every call accepts null, and `status` returns the
// failure. A converter must ask `ok` before it looks at a value's dims.
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
  const Location location;  ///< where the operator is in the model

  bool ok() const { return !failed_; }
  void fail() { failed_ = true; }
  Status status() { return failed_ ? Status(diag.failed()) : Status(Done{}); }

  template <typename... Args>
  Failure error(Kind kind, fmt::format_string<Args...> text, Args&&... args) {
    failed_ = true;
    return diag.error(location, kind, text, std::forward<Args>(args)...);
  }
  /// Same, for a function that returns a value: reports `unsupported` and returns null.
  template <typename... Args>
  std::nullptr_t refuse(fmt::format_string<Args...> text, Args&&... args) {
    error(Kind::unsupported, text, std::forward<Args>(args)...);
    return nullptr;
  }

 private:
  bool failed_ = false;
};

}  // namespace relaxc::tflite
