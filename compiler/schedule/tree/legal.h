// legal.h: a value, or the reason why there is none.
//
// A step that would change what a kernel computes is an everyday answer and no error: a strategy goes on with the next
// one, and a step that was written by hand gets the reason as a message. So it travels as a value, as failures that
// were reported do (support/result.h).
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "compiler/support/result.h"

namespace relaxc::schedule {

/// Why a step is refused, or a strategy does not fit: a sentence without a period.
struct Illegal {
  std::string reason;
  bool is_step = true;  ///< a step was refused that was expected to be legal
};

/// The answer of a strategy that is for other kernels.
inline Illegal does_not_fit(std::string reason) {
  return {std::move(reason), false};
}

/// A T, or why there is none.
template <typename T = Done>
class [[nodiscard]] Legal {
 public:
  Legal(T value) : value_(std::move(value)) {}
  Legal(Illegal illegal) : illegal_(std::move(illegal)) {}

  explicit operator bool() const { return value_.has_value(); }
  const Illegal& illegal() const { return illegal_; }
  T& operator*() { return checked(); }
  const T& operator*() const { return const_cast<Legal*>(this)->checked(); }
  T* operator->() { return &checked(); }
  const T* operator->() const { return &const_cast<Legal*>(this)->checked(); }

 private:
  T& checked() {
    RELAXC_CHECK(value_.has_value(), "a schedule's step is legal: " + illegal_.reason);
    return *value_;
  }
  std::optional<T> value_;
  Illegal illegal_;
};

}  // namespace relaxc::schedule

/// Returns `reason`, which is computed only then, unless the condition holds.
#define RELAXC_REQUIRE(condition, reason)                           \
  do {                                                              \
    if (!(condition)) return ::relaxc::schedule::Illegal{(reason)}; \
  } while (false)

/// The same in a strategy: `reason` says why it is not for this kernel.
#define RELAXC_FITS(condition, reason)                                 \
  do {                                                                 \
    if (!(condition)) return ::relaxc::schedule::does_not_fit(reason); \
  } while (false)

/// RELAXC_STEP(const SplitLoops made, apply(tree, Split{…})); declares what a step made, or returns why it is refused.
#define RELAXC_STEP(declaration, expression) \
  RELAXC_STEP_IMPL_(RELAXC_CONCAT(relaxc_legal_, __LINE__), declaration, expression)
#define RELAXC_STEP_IMPL_(legal, declaration, expression) \
  auto legal = (expression);                              \
  if (!legal) return legal.illegal();                     \
  declaration = *std::move(legal)

/// The same where nothing is to be declared.
#define RELAXC_LEGAL(expression)                                                        \
  do {                                                                                  \
    if (auto relaxc_legal = (expression); !relaxc_legal) return relaxc_legal.illegal(); \
  } while (false)
