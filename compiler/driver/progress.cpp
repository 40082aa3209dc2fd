// progress.cpp: overwrites a line on the terminal.
#include "compiler/driver/progress.h"

#include <unistd.h>

#include <cstdio>

#include "compiler/support/tell.h"

namespace relaxc::driver {

Progress::Progress() : watched_(isatty(STDERR_FILENO) != 0), begin_(std::chrono::steady_clock::now()) {}

Progress::~Progress() {
  clear();
}

void Progress::at(std::string_view what) {
  if (!watched_ || std::chrono::steady_clock::now() - begin_ < std::chrono::seconds(1)) return;
  tell("\r\033[Krelaxc: {}", what);
  std::fflush(stderr);
  shown_ = true;
}

void Progress::clear() {
  if (shown_) tell("\r\033[K");
  shown_ = false;
}

}  // namespace relaxc::driver
