// isa_features.cpp: see isa_features.h. A Target has LLVM's description of a machine, a triple and a list of features,
// which answers these questions: ARM's triples contain the float ABI and the version of Thumb, RISC-V's features are
// its extensions.
#include "targets/isa_features.h"

#include <algorithm>
#include <string_view>

#include "targets/byte_tile.h"

namespace relaxc {
namespace {

bool begins(std::string_view text, std::string_view with) {
  return text.substr(0, with.size()) == with;
}

/// Returns whether the machine is a 32-bit ARM.
bool is_arm(const Target& target) {
  return begins(target.triple, "thumb") || begins(target.triple, "arm");
}

/// Returns whether the list has the feature; the last "+name" or "-name" decides.
bool has_feature(const Target& target, std::string_view name) {
  bool has = false;
  const std::string_view all = target.features;
  for (size_t at = 0; at < all.size();) {
    const size_t end = std::min(all.find(',', at), all.size());
    const std::string_view one = all.substr(at, end - at);
    if (one.size() > 1 && one.substr(1) == name) has = one.front() == '+';
    at = end + 1;
  }
  return has;
}

}  // namespace

bool uses_soft_float(const Target& target) {
  if (is_arm(target)) {
    const std::string_view triple = target.triple;
    return triple.size() < 2 || triple.substr(triple.size() - 2) != "hf";
  }
  return begins(target.triple, "riscv") && !has_feature(target, "f") && !has_feature(target, "d");
}

bool has_high_multiply(const Target& target) {
  if (begins(target.triple, "riscv")) return has_feature(target, "m");
  return !begins(target.triple, "thumbv6m") && !begins(target.triple, "thumbv8m.base");
}

bool has_rounding_high_multiply(const Target& target) {
  if (has_multiply_accumulate_across_vector(target)) return true;
  // A CPU such as the Cortex-M33 has the extension without a word of it in its triple or its features.
  const bool dsp =
      target.dots.bits128 == DotProduct::kPairs || begins(target.triple, "thumbv7em") || has_feature(target, "dsp");
  return is_arm(target) && target.lanes(32) <= 1 && dsp;
}

bool has_signed_byte_dot_product(const Target& target) {
  return has_multiply_accumulate_across_vector(target) || target.byte_matrices ||
         target.dots.bits128 == DotProduct::kSameSign;
}

bool has_shared_wasm_memory(const Target& target) {
  return begins(target.triple, "wasm") && has_feature(target, "atomics");
}

std::vector<std::string> wasm_features_to_test(const Target& target) {
  std::vector<std::string> found;
  for (const char* feature : {"simd128", "relaxed-simd"})
    if (begins(target.triple, "wasm") && has_feature(target, feature)) found.emplace_back(feature);
  return found;
}

ByteTileForm byte_tile_form(const Target& target) {
  if (target.vector_bits != 0) return ByteTileForm::kNone;
  if (begins(target.triple, "thumbv6m") || begins(target.triple, "thumbv8m.base")) return ByteTileForm::kThumb;
  const bool dsp = has_rounding_high_multiply(target);  // which is of the same extension
  if (dsp && !uses_soft_float(target)) return ByteTileForm::kHalves;
  const bool riscv = begins(target.triple, "riscv32") && has_feature(target, "m") && !has_feature(target, "e");
  return riscv ? ByteTileForm::kRiscv : ByteTileForm::kNone;
}

bool has_multiply_accumulate_across_vector(const Target& target) {
  return begins(target.triple, "thumbv8.1m") && target.vector_bits == 128;
}

}  // namespace relaxc
