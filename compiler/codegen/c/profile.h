// profile.h: what a profile of C keeps out of the text.
#pragma once

#include <string>
#include <vector>

#include "compiler/interface/object.h"

namespace relaxc::codegen_c {

/// kPlain: C99. kMisra: for static models and in the spirit of MISRA C:2012: no pointers to functions (so no tables and
/// no generic call), no recursion, goto or unions, and loops whose bounds are numbers.
enum class Profile { kPlain, kMisra };

/// Why the object cannot be written so, as the rest of a sentence that begins with what has the fault; empty: it can.
std::string misra_obstacle(const interface::Object& object);

/// The functions that the object's entries and public functions need, in its order: a static function without callers
/// would be a warning.
std::vector<const tir::PrimFunc*> called_functions(const interface::Object& object, Profile profile);

}  // namespace relaxc::codegen_c
