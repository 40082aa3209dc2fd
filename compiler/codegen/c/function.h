// function.h: prim funcs as C functions.
#pragma once

#include <map>
#include <set>
#include <string>

#include "compiler/interface/object.h"

namespace relaxc::codegen_c {

/// How a function is called: parameters that it has beside those of its prim func.
struct Convention {
  bool fails = false;    ///< returns an int32_t status and takes `rlx_error* error` last
  bool context = false;  ///< takes `rlx_context* context` first
};
using Conventions = std::map<std::string, Convention>;

/// The convention of `function`, given those of its callees: it fails if it has a guard, checks index arithmetic, or
/// calls what fails; it needs the context if it calls an external function or a hook.
Convention convention_of(const tir::PrimFunc& function, const Conventions& callees, interface::Hooks hooks);

/// The C name of a prim func inside the file.
std::string function_name(const std::string& prim_func);

/// The declaration, for a function that is called before it is defined.
std::string prototype_text(const tir::PrimFunc& function, const Conventions& conventions);

/// The definition, `static`. Collects the helpers it calls.
std::string function_text(const tir::PrimFunc& function, const Conventions& conventions, interface::Hooks hooks,
                          std::set<std::string>& helpers);

}  // namespace relaxc::codegen_c
