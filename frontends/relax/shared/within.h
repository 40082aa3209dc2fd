// within.h: a variable that has another value for a while.
#pragma once

#include <utility>

namespace relaxc::frontend {

/// `variable` is `value` while it lives, and afterwards what it was.
template <typename T>
class Within {
 public:
  Within(T& variable, T value) : variable_(variable), outer_(std::exchange(variable, std::move(value))) {}
  Within(const Within&) = delete;
  ~Within() { variable_ = std::move(outer_); }

 private:
  T& variable_;
  T outer_;
};

}  // namespace relaxc::frontend
