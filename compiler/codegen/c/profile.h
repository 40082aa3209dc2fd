// profile.h: the profiles of C, and what each forbids.
#pragma once

#include <string>
#include <vector>

#include "compiler/interface/object.h"

namespace relaxc::codegen_c {

/// kPlain: C99. kMisra: for static models and in the spirit of MISRA C:2012: no pointers to functions (so no tables and
/// no generic call), no recursion, goto or unions, and loops whose bounds are numbers.
enum class Profile { kPlain, kMisra };

/// Returns why the object cannot be kMisra, as the rest of a sentence that begins with the culprit; empty if it can.
std::string misra_obstacle(const interface::Object& object);

/// Returns the functions that the object's entries and public functions call, in the object's order. Others are left
/// out, since compilers warn of a static function without callers.
std::vector<const tir::PrimFunc*> called_functions(const interface::Object& object, Profile profile);

}  // namespace relaxc::codegen_c
