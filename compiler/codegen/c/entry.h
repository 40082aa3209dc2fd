// entry.h: what an object holds besides its functions, as C: adapters, tables, the typed call.
#pragma once

#include <string>
#include <vector>

#include "compiler/codegen/c/function.h"
#include "compiler/interface/object.h"

namespace relaxc::codegen_c {

/// Where the weights begin, in a function that has a `context`.
std::string weights_text(const interface::Object& object);
/// Where the pools of a call lie; NULL for one of which the call needs nothing.
std::vector<std::string> pools_text(const interface::Entry& entry);
/// The functions that rlx_function_private points to, the four generic wrappers, and the records of one entry. The
/// rlx_function record itself is an element of `<name>_functions`, see model_text.
std::string entry_text(const interface::Object& object, const interface::Entry& entry, size_t index,
                       const Conventions& conventions);
/// The call that the generated header declares, and that of the arena's size.
std::string typed_call_text(const interface::Object& object, const interface::Entry& entry,
                            const Conventions& conventions);
/// A public prim func under its global name.
std::string public_function_text(const interface::Object& object, const std::string& prim_func,
                                 const Conventions& conventions);
/// The array of functions and the rlx_model record.
std::string model_text(const interface::Object& object, const std::string& target);

}  // namespace relaxc::codegen_c
