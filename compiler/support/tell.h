// tell.h: prints to stderr and ignores failures.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>

namespace relaxc {

/// Prints to stderr. A stderr that is closed or full has no effect on the program.
template <typename... Args>
void tell(fmt::format_string<Args...> text, Args&&... args) {
  std::string made = fmt::format(text, std::forward<Args>(args)...);
  static_cast<void>(std::fwrite(made.data(), 1, made.size(), stderr));
}

}  // namespace relaxc
