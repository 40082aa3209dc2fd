// check.cpp: formats internal errors.
#include "compiler/support/check.h"

#include <fmt/format.h>

#include <cstring>

namespace relaxc {
namespace {

/// Returns the path from the repository's root on, so that messages do not depend on where relaxc was built.
const char* short_path(const char* file) {
  for (const char* room : {"/compiler/", "/frontends/", "/targets/"})
    if (const char* found = std::strstr(file, room)) return found + 1;
  return file;
}

}  // namespace

InternalError::InternalError(std::string condition, const char* file, int line, std::string detail)
    : text_(fmt::format("{}:{}: check failed: {}{}{}", short_path(file), line, condition, detail.empty() ? "" : ": ",
                        detail)) {}

void check_failed(const char* condition, const char* file, int line, std::string detail) {
  throw InternalError(condition, file, line, std::move(detail));
}

}  // namespace relaxc
