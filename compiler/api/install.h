// install.h: what was installed with this program or library.
#pragma once

#include <string>

namespace relaxc::api {

/// A path of the tree that this program, or the library that this code is in, is in: PREFIX/lib/… beside PREFIX/bin;
/// empty if it is not there.
std::string installed(const char* path);

}  // namespace relaxc::api
