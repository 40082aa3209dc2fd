// print.h: prints a module in the current syntax of the text IR.
#pragma once

#include <string>
#include <vector>

#include "compiler/relax/module.h"

namespace relaxc::relax {

/// Returns the text of the module; parsing it gives an equal module. Constants of at most 64 elements are printed in
/// place, larger ones as references: `metadata["relax.expr.Constant"][i]` is the i-th of large_constants(), which the
/// parser takes beside the text.
std::string to_string(const Module& module);
std::string to_string(const Function& function);

/// Returns the constants that the module's text refers to, in the order of their first appearance there.
std::vector<ConstantRef> large_constants(const Module& module);

}  // namespace relaxc::relax
