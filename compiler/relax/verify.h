// verify.h: checks the invariants of modules, which hold after every pass.
#pragma once

#include <string>

#include "compiler/relax/module.h"

namespace relaxc::relax {

/// Returns the first broken rule with its location; empty if the module is well formed: use-lists match operands,
/// definitions dominate uses, symbols are bound before use, dataflow blocks are pure, callees exist, prim funcs verify.
std::string first_fault(const Module& module);

}  // namespace relaxc::relax
