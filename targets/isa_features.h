// isa_features.h: which instructions a machine has, for passes and schedules that depend on them.
#pragma once

#include <string>
#include <vector>

#include "targets/target.h"

namespace relaxc {

/// Returns whether float32 arithmetic is done by calls (__aeabi_fmul, __mulsf3): ARM with a triple without "hf", and
/// RISC-V without F. Also true if the triple does not tell, as for a CPU that has a float unit but passes floats in
/// integer registers; the integer arithmetic chosen then is no slower.
bool uses_soft_float(const Target& target);

/// Returns whether an instruction computes the upper half of a 64-bit product (smull, mulh). Cortex-M0, M0+, M23 and
/// RISC-V without M have none.
bool has_high_multiply(const Target& target);

/// Returns whether an instruction computes the rounded upper half of a product of two int32: smmulr on cores with DSP
/// instructions (Cortex-M4, M7, M33), Helium's vrmulh.
bool has_rounding_high_multiply(const Target& target);

/// Returns whether an instruction adds the products of all lanes of two vectors to a general register (Helium's
/// vmladava): of sixteen bytes of the same signedness, or of eight 16-bit numbers.
bool has_multiply_accumulate_across_vector(const Target& target);

/// Returns whether an instruction adds products of signed by signed bytes (sdot, smmla, Helium's vmladava). Other
/// machines need one operand to be unsigned.
bool has_signed_byte_dot_product(const Target& target);

/// Returns whether threads of a WebAssembly module share a memory, which its loader creates (the feature atomics).
bool has_shared_wasm_memory(const Target& target);

/// Returns the features of the target that not every engine of WebAssembly has, and that relax_rt.mjs can test for.
std::vector<std::string> wasm_features_to_test(const Target& target);

}  // namespace relaxc
