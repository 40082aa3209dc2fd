// save_and_restore.h: sets a variable for a scope.
#pragma once

#include <utility>

namespace relaxc::frontend {

/// Sets `variable` to `value` while it lives, and restores it afterwards.
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
