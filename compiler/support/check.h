// check.h: checks of internal invariants.
//
// A failed RELAXC_CHECK is a bug of relaxc, never of the user's program: it throws InternalError, which only the driver
// catches and reports as "internal error", with the location, how to report it, and exit code 70.
#pragma once

#include <exception>
#include <string>

namespace relaxc {

/// A broken invariant inside of relaxc. `what()` has the condition and the location.
class InternalError : public std::exception {
 public:
  InternalError(std::string condition, const char* file, int line, std::string detail);
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

[[noreturn]] void check_failed(const char* condition, const char* file, int line, std::string detail = {});

}  // namespace relaxc

#define RELAXC_CHECK(condition, ...)                                                                     \
  do {                                                                                                   \
    if (!(condition)) ::relaxc::check_failed(#condition, __FILE__, __LINE__ __VA_OPT__(, ) __VA_ARGS__); \
  } while (false)

#define RELAXC_UNREACHABLE(...) ::relaxc::check_failed("unreachable", __FILE__, __LINE__ __VA_OPT__(, ) __VA_ARGS__)
