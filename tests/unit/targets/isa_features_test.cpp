// What named machines have instructions for.
#include "targets/isa_features.h"

#include <catch2/catch.hpp>
#include <initializer_list>
#include <string>

namespace relaxc {
namespace {

Target with_dots(DotProduct dots, bool matrices) {
  Target target;
  target.triple = "aarch64-unknown-linux-gnu", target.vector_bits = 128;
  target.dots.bits128 = dots, target.byte_matrices = matrices;
  return target;
}

TEST_CASE("machines with products of signed by signed bytes are known") {
  CHECK(has_signed_byte_dot_product(with_dots(DotProduct::kSameSign, false)));  // sdot alone
  CHECK(has_signed_byte_dot_product(with_dots(DotProduct::kSameSign, true)));   // smmla as well
  CHECK_FALSE(has_signed_byte_dot_product(with_dots(DotProduct::kNone, false)));
  CHECK_FALSE(has_signed_byte_dot_product(with_dots(DotProduct::kMixed, false)));  // vpdpbusd
  CHECK_FALSE(has_signed_byte_dot_product(with_dots(DotProduct::kPairs, false)));  // vpmaddubsw
  Target helium;
  helium.triple = "thumbv8.1m.main-unknown-none-eabihf", helium.vector_bits = 128;
  CHECK(has_multiply_accumulate_across_vector(helium));
  CHECK(has_signed_byte_dot_product(helium));
}

}  // namespace
}  // namespace relaxc
