// progress.h: where long work is, for who watches a terminal.
#pragma once

#include <chrono>
#include <string_view>

namespace relaxc::driver {

/// A line on stderr that is written over again and again, and wiped at the end. Shows nothing in a pipe, and nothing of
/// work that takes less than a second.
class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;

  /// What is done now, "fuse_ops" or "value 3 of 17".
  void at(std::string_view what);
  /// Wipes the line, before something else is printed.
  void clear();

 private:
  bool watched_, shown_ = false;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace relaxc::driver
