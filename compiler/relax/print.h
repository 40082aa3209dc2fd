// print.h: a module in the newest settled spelling of the text IR.
#pragma once

#include <string>

#include "compiler/relax/module.h"

namespace relaxc::relax {

/// The text of the module; parsing it gives an equal module. Constants of at most 64 elements print in place, larger
/// ones by reference.
std::string to_string(const Module& module);
std::string to_string(const Function& function);

}  // namespace relaxc::relax
