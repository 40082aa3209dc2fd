// string_parameters.h: strings as parameters of functions.
#pragma once

#include "frontends/relax/text/ast.h"
#include "frontends/relax/text/source_text.h"

namespace relaxc::frontend {

/// Gives each list of strings that calls pass to a function of the module a function of its own, in which the strings
/// stand in the place of the parameters. Nothing else has a string as its value when the object runs.
/// Reports a module that needs more than a thousand copies.
void specialize_strings(SourceText& source, ast::Tree& tree);

}  // namespace relaxc::frontend
