// tables.h: prints the tables of an object, and the functions that they point to, as C.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "compiler/codegen/c/function.h"
#include "compiler/interface/object.h"
#include "compiler/interface/tables.h"

namespace relaxc::codegen_c {

/// Prints the functions that C calls.
struct EntryFunctionPrinter {
  const Conventions& conventions;
  FunctionStyle style;
  std::set<std::string>& helpers;  ///< receives the helpers that the functions call

  std::string print(const tir::PrimFunc& function) const {
    return function_text(function, conventions, style, helpers);
  }
};

/// Returns the definitions in the order of the list; all but the last one, the model, are static.
std::string tables_text(const interface::Object& object, const std::vector<interface::Definition>& definitions,
                        const EntryFunctionPrinter& printer);

}  // namespace relaxc::codegen_c
