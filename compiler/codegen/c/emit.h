// emit.h: an object as one file of C99.
#pragma once

#include <functional>
#include <string_view>

#include "compiler/codegen/c/profile.h"
#include "compiler/interface/object.h"
#include "targets/target.h"

namespace relaxc::codegen_c {

/// Receives the text, piece by piece; false when it cannot be written (the file system's error is the caller's to
/// report).
using Write = std::function<bool(std::string_view text)>;

/// Writes `object` as C99: prim funcs as static functions, adapters and tables as in docs/abi.md, weights as an array.
/// `header` is the file name that the text includes for the typed calls ("model.h"). Needs relax_rt.h and
/// rlx_internal.h, and must be compiled with -ffp-contract=off to give the bits that the other backend gives. False if
/// `write` failed. An object with a misra_obstacle cannot be written as kMisra.
bool emit_c(const interface::Object& object, std::string_view header, const Write& write,
            Profile profile = Profile::kPlain);

}  // namespace relaxc::codegen_c
