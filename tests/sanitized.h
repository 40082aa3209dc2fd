// sanitized.h: how much of a long test a build with sanitizers runs.
//
// Instrumented code takes five to ten times as long, and what sanitizers see of a loop over sizes or seeds they mostly
// see in its first turns; that the numbers are right at all of them is for the other build. So tests that take seconds
// there are a sample here. The long run (RELAXC_LONG_TESTS) takes all.
#pragma once

namespace relaxc::testing {

#if defined(__SANITIZE_ADDRESS__) && !defined(RELAXC_LONG_TESTS)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

/// `all`, or a `share`th of it under sanitizers, at least 1.
constexpr int sample(int all, int share = 4) {
  return !kSanitized ? all : all < share ? 1 : all / share;
}

/// The step of a loop over sizes or cases: 1, or `share` under sanitizers.
constexpr int stride(int share = 3) {
  return kSanitized ? share : 1;
}

}  // namespace relaxc::testing
