// progress.h: shows the progress of long work on a terminal.
#pragma once

#include <chrono>
#include <string_view>

namespace relaxc::driver {

/// A line on stderr that is overwritten repeatedly and erased at the end. Shows nothing if stderr is no terminal, and
/// nothing in the first second.
class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;

  /// Shows the current step, such as "fuse_ops" or "value 3 of 17".
  void at(std::string_view what);
  /// Erases the line before other output.
  void clear();

 private:
  bool watched_, shown_ = false;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace relaxc::driver
