// entry.h: what an object holds besides its functions, as C: tables, and functions that C calls.
#pragma once

#include <set>
#include <string>

#include "compiler/codegen/c/function.h"
#include "compiler/interface/entry_functions.h"
#include "compiler/interface/object.h"

namespace relaxc::codegen_c {

/// What prints the functions that C calls.
struct EntryFunctionPrinter {
  interface::EntryFunctions& made;
  const Conventions& conventions;
  FunctionStyle style;
  std::set<std::string>& helpers;  ///< that they call

  std::string print(const tir::PrimFunc& function) const {
    return function_text(function, conventions, style, helpers);
  }
};

/// The functions that rlx_function_private points to, the four generic wrappers, and the records of one entry. The
/// rlx_function record itself is an element of `<name>_functions`, see model_text.
std::string entry_text(const interface::Object& object, const interface::Entry& entry, size_t index,
                       EntryFunctionPrinter& printer);
/// The call that the generated header declares, and that of the arena's size.
std::string called_text(const interface::Entry& entry, EntryFunctionPrinter& printer);
/// The array of functions and the rlx_model record.
std::string model_text(const interface::Object& object, const std::string& target);

}  // namespace relaxc::codegen_c
