// reserved_names.h: names that a generated header must not use.
#pragma once

#include <string_view>

namespace relaxc::interface {

/// Returns whether `name` is a keyword of C99 to C23, of C++11 to C++26, or of GNU C.
bool is_keyword(std::string_view name);

/// Returns whether some C or C++ compiler, standard header or relax_rt.h may use `name`: a keyword, a type, a macro, or
/// a name that the standards reserve for those (`__x`, `_X`, `INT…_MAX`). Includes macros of other system headers,
/// except those that `looks_like_a_macro` finds.
bool is_reserved(std::string_view name);

/// Returns whether `name` has the form of macros in C programs and systems: two or more capitals, with digits and
/// underscores (`MAP_SHARED`, `EOF`, but not `N` or `H_0`), and no underscore at the end.
bool looks_like_a_macro(std::string_view name);

}  // namespace relaxc::interface
