// print.h: a module in the newest settled spelling of the text IR.
#pragma once

#include <string>
#include <vector>

#include "compiler/relax/module.h"

namespace relaxc::relax {

/// The text of the module; parsing it gives an equal module. Constants of at most 64 elements print in place, larger
/// ones by reference: `metadata["relax.expr.Constant"][i]` is the i-th of large_constants(), which the parser takes
/// beside the text.
std::string to_string(const Module& module);
std::string to_string(const Function& function);

/// The constants that the module's text only refers to, in the order of their first appearance there.
std::vector<ConstantRef> large_constants(const Module& module);

}  // namespace relaxc::relax
