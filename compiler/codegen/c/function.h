// function.h: prints prim funcs as C functions.
#pragma once

#include <map>
#include <set>
#include <string>

#include "compiler/codegen/c/conventions.h"
#include "compiler/interface/object.h"

namespace relaxc::codegen_c {

/// The options that all functions of an object share.
struct FunctionStyle {
  interface::Hooks hooks;
  std::string linkage = "static";  ///< what precedes a function's return type
  std::string prefix = "k_";       ///< of a function's name
  std::string macro_prefix;        ///< of the macros in the header
  bool vectors = false;            ///< Style::vectors
  bool dots = false;               ///< whether sums of products of bytes use dot product instructions where available
  bool contracts = false;          ///< whether functions and loops have contracts (contracts.h)
  /// Functions whose callers keep each buffer that is stored into apart from all others, by name.
  std::set<std::string> apart;
  bool narrow_indices = false;  ///< whether kernels keep indices in 32 bits where these fit
  /// The C text of the addresses that functions which C calls name in CFunction::data, by name.
  std::map<std::string, std::string> data;
};

/// Returns the convention of `function`, given those of its callees. It fails if it has a guard, checks index
/// arithmetic, or calls a function that fails; it takes the context if it calls an external function or a hook.
Convention convention_of(const tir::PrimFunc& function, const Conventions& callees, const FunctionStyle& style);

/// Returns the C name of a prim func.
std::string function_name(const FunctionStyle& style, const std::string& prim_func);

/// Returns the declaration, for a function that is called before its definition or from another file.
std::string prototype_text(const tir::PrimFunc& function, const Conventions& conventions, const FunctionStyle& style);

/// Returns the definition; adds the helpers that it calls to `helpers`.
std::string function_text(const tir::PrimFunc& function, const Conventions& conventions, const FunctionStyle& style,
                          std::set<std::string>& helpers);

}  // namespace relaxc::codegen_c
