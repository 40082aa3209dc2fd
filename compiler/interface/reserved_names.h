// reserved_names.h: words that a name in a header cannot be.
#pragma once

#include <string_view>

namespace relaxc::interface {

/// Keywords of C99 to C23 and of C++11 to C++26, and GNU's in C.
bool is_keyword(std::string_view name);

/// Whether some C or C++ compiler, one of the standard headers or relax_rt.h may take `name` for something else: a
/// keyword, a type, a macro, or what the standards reserve for those (`__x`, `_X`, `INT…_MAX`).
bool is_reserved(std::string_view name);

}  // namespace relaxc::interface
