// identifiers.h: names of a model as names that a person writes in C.
//
// `identifier` of object.h gives every name another identifier, readable or not; what is declared here makes readable
// ones, which may coincide, and settles that for all names of an object.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/interface/object.h"

namespace relaxc::interface {

/// The name itself if it is an identifier that no dialect of C or C++ and no header of a system takes for something
/// else (`x`, `conv_1`); else its letters and digits, with an underscore in place of all between them (`a.b` gives
/// `a_b`) and one at the end of a reserved word and of what is in capitals (`class_`, `MAP_SHARED_`). What begins with
/// a digit gets `role` in front (`input_0`); a name with nothing readable becomes role and `index`. Names may become
/// one.
std::string readable_identifier(std::string_view name, std::string_view role, size_t index);
/// Whether `readable_identifier` gives `name` itself.
bool is_identifier(std::string_view name);
/// Whether a C function of the program may be called `name`: the same, but capitals are its author's affair.
bool is_function_name(std::string_view name);

/// A name from a model inside a comment of C or JavaScript: visible, unable to end or nest it, without trigraphs and
/// backslashes.
std::string comment_text(std::string_view name);

/// Gives tensors their identifiers, which depend on the object's name and on each other. Names that are identifiers
/// keep them; of others that become one, the later get a number.
void assign_identifiers(Object& object);

/// Whether the name of a dim is longer than what C distinguishes in a file (63 characters, C99 5.2.4.1). Exporters make
/// such names of expressions; C calls the dim by its position, and the header says what it is.
bool is_long_dim(std::string_view name);
/// For each symbol the name of its field or macro, for each output that of the field of its dims. By the rule of
/// `assign_identifiers`, and none is that of a tensor.
struct DimIdentifiers {
  std::vector<std::string> symbols, outputs;
};
DimIdentifiers dim_identifiers(const Object& object, const Entry& entry);

/// What global names of entries and of public prim funcs hold, in the order of the object; "" of the entry "main".
struct GlobalIdentifiers {
  std::vector<std::string> entries, public_prim_funcs;
};
GlobalIdentifiers global_identifiers(const Object& object);

}  // namespace relaxc::interface
