// isa_features.h: which instructions a machine has, where passes and schedules depend on them.
#pragma once

#include "targets/target.h"

namespace relaxc {

/// Whether float32 arithmetic is calls of functions (__aeabi_fmul, __mulsf3): ARM by a triple without "hf", and RISC-V
/// without F. Where the triple does not say it, as of a CPU that has a unit and passes floats in integer registers, the
/// answer is yes: integers are then as good.
bool uses_soft_float(const Target& target);

/// Whether there is an instruction for the upper half of a product of 64 bits (smull, mulh). Cortex-M0, M0+ and M23
/// have none, and RISC-V without M.
bool has_high_multiply(const Target& target);

/// Whether an instruction gives the upper half of a product of two int32, rounded: smmulr of cores with DSP
/// instructions (Cortex-M4, M7, M33), Helium's vrmulh.
bool has_rounding_high_multiply(const Target& target);

/// Whether an instruction adds the products of all lanes of two vectors to a general register (Helium's vmladava):
/// sixteen of bytes of one sign, eight of 16-bit numbers.
bool has_multiply_accumulate_across_vector(const Target& target);

/// Whether an instruction adds products of signed by signed bytes (sdot, smmla, Helium's vmladava). Those of other
/// machines take unsigned data.
bool has_signed_byte_dot_product(const Target& target);

/// Whether threads of a WebAssembly module run on one memory, which its loader makes (the feature atomics).
bool has_shared_wasm_memory(const Target& target);

}  // namespace relaxc
