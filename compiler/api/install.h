// install.h: what was installed with this program.
#pragma once

#include <string>

namespace relaxc::api {

/// A path of the tree that this program runs from, PREFIX/lib/… beside PREFIX/bin; empty if it is not there.
std::string installed(const char* path);

}  // namespace relaxc::api
