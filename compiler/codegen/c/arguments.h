// arguments.h: calling a prim func from C text.
#pragma once

#include <string>
#include <vector>

#include "compiler/codegen/c/function.h"

namespace relaxc::codegen_c {

/// The C text of a call. `args` are the visible ones, in the order of the prim func's parameters and symbols.
inline std::string call_text(const std::string& prim_func, const Conventions& conventions, const std::string& context,
                             std::vector<std::string> args, const std::string& error) {
  const Convention& callee = conventions.at(prim_func);
  if (callee.context) args.insert(args.begin(), context);
  if (callee.fails) args.push_back(error);
  std::string text;
  for (const std::string& arg : args) text += (text.empty() ? "" : ", ") + arg;
  return callee.name + "(" + text + ")";
}

/// A statement that makes the call and leaves the function with its status if that is not 0.
inline std::string checked_call(const std::string& prim_func, const Conventions& conventions,
                                const std::string& context, std::vector<std::string> args, const std::string& error) {
  std::string call = call_text(prim_func, conventions, context, std::move(args), error);
  return conventions.at(prim_func).fails ? "if ((status = " + call + ") != 0) return status;" : call + ";";
}

}  // namespace relaxc::codegen_c
