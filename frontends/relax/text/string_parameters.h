// string_parameters.h: strings as parameters of functions.
#pragma once

#include "frontends/relax/text/ast.h"

namespace relaxc::frontend {

/// Gives each list of strings that calls pass to a function of the module a function of its own, in which the strings
/// stand in the place of the parameters. Nothing else has a string as its value when the object runs.
void specialize_strings(ast::Tree& tree);

}  // namespace relaxc::frontend
