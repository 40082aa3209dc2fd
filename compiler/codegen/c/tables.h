// tables.h: the tables of an object as C, and the functions that they point to.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "compiler/codegen/c/function.h"
#include "compiler/interface/object.h"
#include "compiler/interface/tables.h"

namespace relaxc::codegen_c {

/// What prints the functions that C calls.
struct EntryFunctionPrinter {
  const Conventions& conventions;
  FunctionStyle style;
  std::set<std::string>& helpers;  ///< that they call

  std::string print(const tir::PrimFunc& function) const {
    return function_text(function, conventions, style, helpers);
  }
};

/// In the order of the list; all but the last one, the model, are static.
std::string tables_text(const interface::Object& object, const std::vector<interface::Definition>& definitions,
                        const EntryFunctionPrinter& printer);

}  // namespace relaxc::codegen_c
