// result.h: a value, or a failure whose error was reported.
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

  /// Returns the failure, to be passed on as another failed Result. Only a failed Result has one.
  Failure failure() const {
    RELAXC_CHECK(!value_.has_value(), "the failure of a Result that has a value was read");
    return Failure();
  }

 private:
  T& checked() {
    RELAXC_CHECK(value_.has_value(), "the value of a failed Result was read");
    return *value_;
  }
  std::optional<T> value_;
};

struct Done {};
/// The Result of a function without a value.
using Status = Result<Done>;

}  // namespace relaxc

#define RELAXC_CONCAT_(a, b) a##b
#define RELAXC_CONCAT(a, b)  RELAXC_CONCAT_(a, b)

/// RELAXC_TRY(auto x, f()); declares x, or returns the failure of the Result f().
#define RELAXC_TRY(declaration, expression) \
  RELAXC_TRY_IMPL_(RELAXC_CONCAT(relaxc_result_, __LINE__), declaration, expression)
#define RELAXC_TRY_IMPL_(result, declaration, expression) \
  auto result = (expression);                             \
  if (!result) return result.failure();                   \
  declaration = *std::move(result)

/// RELAXC_DO(f()); evaluates f(), and returns its failure if it fails.
#define RELAXC_DO(expression) RELAXC_DO_IMPL_(RELAXC_CONCAT(relaxc_done_, __LINE__), expression)
#define RELAXC_DO_IMPL_(done, expression)                       \
  do {                                                          \
    if (auto done = (expression); !done) return done.failure(); \
  } while (false)
