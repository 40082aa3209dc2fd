// identifiers.h: readable C names for the names of a model.
//
// `identifier` of object.h is injective but not always readable; the functions here make readable names, which may
// coincide, and make them unique among all names of an object.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/interface/object.h"

namespace relaxc::interface {

/// Returns the name itself if it is an identifier that no dialect of C or C++ and no system header uses otherwise (`x`,
/// `conv_1`); else its letters and digits, with underscores for everything between them (`a.b` gives `a_b`), and one at
/// the end of a reserved word or of a name in capitals (`class_`, `MAP_SHARED_`). A name that begins with a digit is
/// prefixed with `role` (`input_0`); one without letters and digits becomes role and `index`. Different names may have
/// the same result.
std::string readable_identifier(std::string_view name, std::string_view role, size_t index);
/// Returns whether `readable_identifier` returns `name` itself.
bool is_identifier(std::string_view name);
/// Returns whether a C function of the program may be called `name`: like is_identifier, but capitals are allowed.
bool is_function_name(std::string_view name);

/// Returns a name from a model for a comment of C or JavaScript: visible characters, which cannot end or nest the
/// comment, without trigraphs and backslashes.
std::string comment_text(std::string_view name);

/// Sets all identifiers in `object`: of entries and public prim funcs, tensors, their dims and symbols. They depend on
/// the object's name and on each other. Names that are identifiers keep them; where others coincide, the later ones get
/// a number.
void assign_identifiers(Object& object);

/// Returns whether the name of a dim is longer than C distinguishes in a file (63 characters, C99 5.2.4.1). Exporters
/// make such names from expressions; C names the dim by its position, and a comment of the header describes it.
bool is_long_dim(std::string_view name);

}  // namespace relaxc::interface
