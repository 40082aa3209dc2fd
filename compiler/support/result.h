// result.h: a value, or the knowledge that an error was reported.
#pragma once

#include <optional>
#include <utility>

#include "compiler/support/check.h"
#include "compiler/support/diagnostics.h"

namespace relaxc {

/// A T, or a failure that has been reported to Diagnostics.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Failure) {}

  explicit operator bool() const { return value_.has_value(); }
  T& operator*() & { return checked(); }
  const T& operator*() const& { return const_cast<Result*>(this)->checked(); }
  T&& operator*() && { return std::move(checked()); }
  T* operator->() { return &checked(); }
  const T* operator->() const { return &const_cast<Result*>(this)->checked(); }

 private:
  T& checked() {
    RELAXC_CHECK(value_.has_value(), "the value of a failed Result was read");
    return *value_;
  }
  std::optional<T> value_;
};

struct Done {};
/// The Result of something done for its effect.
using Status = Result<Done>;

}  // namespace relaxc

#define RELAXC_CONCAT_(a, b) a##b
#define RELAXC_CONCAT(a, b)  RELAXC_CONCAT_(a, b)

/// RELAXC_TRY(auto x, f(diag)); declares x, or returns the failure.
#define RELAXC_TRY(declaration, expression) \
  RELAXC_TRY_IMPL_(RELAXC_CONCAT(relaxc_result_, __LINE__), declaration, expression)
#define RELAXC_TRY_IMPL_(result, declaration, expression) \
  auto result = (expression);                             \
  if (!result) return diag.failed();                      \
  declaration = *std::move(result)

/// RELAXC_DO(f(diag)); runs a step for its effect, or returns the failure. Both expect a Diagnostics named `diag` in
/// scope.
#define RELAXC_DO(expression)                \
  do {                                       \
    if (!(expression)) return diag.failed(); \
  } while (false)
