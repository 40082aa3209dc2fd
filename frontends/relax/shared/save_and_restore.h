// save_and_restore.h: a variable that has another value for a while.
#pragma once

#include <utility>

namespace relaxc::frontend {

/// `variable` is `value` while it lives, and afterwards what it was.
template <typename T>
class SaveAndRestore {
 public:
  SaveAndRestore(T& variable, T value) : variable_(variable), outer_(std::exchange(variable, std::move(value))) {}
  SaveAndRestore(const SaveAndRestore&) = delete;
  ~SaveAndRestore() { variable_ = std::move(outer_); }

 private:
  T& variable_;
  T outer_;
};

}  // namespace relaxc::frontend
