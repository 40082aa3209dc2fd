// emit.h: an object as one or several files of C99.
#pragma once

#include "compiler/codegen/c/style.h"
#include "compiler/codegen/c/weights.h"

namespace relaxc::codegen_c {

/// Opens the file that is named as the output's stem with `extension`: ".c" is the first, "_1.c", "_2.c" … and
/// "_weights.c" are parts of it, and ".weights.bin" holds bytes. What was opened before is complete.
using OpenFile = std::function<Write(const std::string& extension)>;

/// Writes `object` as C99: prim funcs as functions, adapters and tables as in docs/abi.md, weights. `stem` is the
/// output's name without folder and extension: `stem`.h is what the text includes for the typed calls. Needs relax_rt.h
/// and rlx_internal.h, and must be compiled with -ffp-contract=off to give the bits that the other backend gives. False
/// if a file could not be written. An object with a misra_obstacle cannot be written as kMisra, and that profile goes
/// with no other choice of style. `tables`, if given, is the object as its tables are to show it, with other names of
/// tensors and dims; the typed calls name those that the header has. `runs`: the elements of the weights.
/// `narrow_indices`: the text is for machines of 32 bits (compiler/tir/index_widths.h); it is right on all others, too.
bool emit_c(const interface::Object& object, const std::string& stem, const OpenFile& open, const Style& style = {},
            const interface::Object* tables = nullptr, const std::vector<ElementRun>& runs = {},
            bool narrow_indices = false);

}  // namespace relaxc::codegen_c
