// emit.h: writes an object as one or several files of C99.
#pragma once

#include "compiler/codegen/c/style.h"
#include "compiler/codegen/c/weights.h"

namespace relaxc::codegen_c {

/// Opens the file that is named as the output's stem with `extension`: first ".c", then its parts "_1.c", "_2.c" … and
/// "_weights.c"; ".weights.bin" holds the bytes of weights. The file that was open before is complete.
using OpenFile = std::function<Write(const std::string& extension)>;

/// Writes `object` as C99: prim funcs as functions, adapters and tables as in docs/abi.md, weights. Returns false if a
/// file could not be written. The text includes `stem`.h for the typed calls; `stem` is the output's name without
/// folder and extension. It needs relax_rt.h and rlx_internal.h, and -ffp-contract=off to give the same bits as the
/// LLVM backend. An object with a misra_obstacle cannot be written as kMisra, and kMisra allows no other option of
/// Style. `tables`, if given, is the object as its tables show it, with other names of tensors and dims; the typed
/// calls use the names of the header. `runs` are the weights' elements of several bytes. `narrow_indices` keeps indices
/// in 32 bits where these hold them (compiler/tir/index_widths.h): faster on 32-bit machines, correct on all.
bool emit_c(const interface::Object& object, const std::string& stem, const OpenFile& open, const Style& style = {},
            const interface::Object* tables = nullptr, const std::vector<ElementRun>& runs = {},
            bool narrow_indices = false);

}  // namespace relaxc::codegen_c
