// install.h: finds files that were installed with this program or library.
#pragma once

#include <string>

namespace relaxc::api {

/// Returns `path` in the installation of this program, or of the library that contains this code: PREFIX/lib/… beside
/// PREFIX/bin; empty if it is not there.
std::string installed(const char* path);

}  // namespace relaxc::api
