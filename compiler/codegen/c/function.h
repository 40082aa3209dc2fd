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
  std::string name;      ///< in C
};
using Conventions = std::map<std::string, Convention>;

/// What all functions of an object have in common.
struct FunctionStyle {
  interface::Hooks hooks;
  std::string linkage = "static";  ///< what precedes a function
  std::string prefix = "k_";       ///< of its name
  std::string macro_prefix;        ///< of macros of the header
  bool vectors = false;            ///< Style::vectors
  bool dots = false;               ///< sums of products of bytes by instructions for them, where the compiler has them
  bool narrow_indices = false;     ///< kernels keep indices in 32 bits where those hold them
  /// Addresses of what functions that C calls name in CFunction::data.
  std::map<std::string, std::string> data;
};

/// The convention of `function`, given those of its callees: it fails if it has a guard, checks index arithmetic, or
/// calls what fails; it needs the context if it calls an external function or a hook.
Convention convention_of(const tir::PrimFunc& function, const Conventions& callees, const FunctionStyle& style);

/// The C name of a prim func.
std::string function_name(const FunctionStyle& style, const std::string& prim_func);

/// The declaration, for a function that is called before it is defined or in another file.
std::string prototype_text(const tir::PrimFunc& function, const Conventions& conventions, const FunctionStyle& style);

/// The definition. Collects the helpers it calls.
std::string function_text(const tir::PrimFunc& function, const Conventions& conventions, const FunctionStyle& style,
                          std::set<std::string>& helpers);

}  // namespace relaxc::codegen_c
