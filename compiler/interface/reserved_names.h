// reserved_names.h: words that a name in a header cannot be.
#pragma once

#include <string_view>

namespace relaxc::interface {

/// Keywords of C99 to C23 and of C++11 to C++26, and GNU's in C.
bool is_keyword(std::string_view name);

/// Whether some C or C++ compiler, one of the standard headers or relax_rt.h may take `name` for something else: a
/// keyword, a type, a macro, or what the standards reserve for those (`__x`, `_X`, `INT…_MAX`). Also macros of other
/// headers of a system, except those that `looks_like_a_macro` finds.
bool is_reserved(std::string_view name);

/// Whether `name` is written as C programs and systems write macros: in capitals, two or more, with digits and
/// underscores (`MAP_SHARED`, `EOF`, but not `N` or `H_0`), and without an underscore at the end, which macros lack.
bool looks_like_a_macro(std::string_view name);

}  // namespace relaxc::interface
