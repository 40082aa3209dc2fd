// residues.cpp: see residues.h.
#include "compiler/proof/kernels/residues.h"

namespace relaxc::proof {

Residues::Residues(bool exponentials, uint64_t seed) : exponentials_(exponentials) {
  for (uint64_t& one : seeds_) {  // splitmix64 (Steele, Lea, Flood 2014)
    seed += 0x9E3779B97F4A7C15;
    one = (seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9;
    one = (one ^ (one >> 27)) * 0x94D049BB133111EB;
    one ^= one >> 31;
  }
}

uint64_t Residues::power(uint64_t a, uint64_t exponent) {
  uint64_t result = 1;
  for (; exponent != 0; exponent >>= 1, a = product(a, a))
    if ((exponent & 1) != 0) result = product(result, a);
  return result;
}

uint64_t Residues::power(uint64_t a, uint64_t exponent, uint64_t modulus) {
  uint64_t result = 1;
  for (; exponent != 0; exponent >>= 1, a = product(a, a, modulus))
    if ((exponent & 1) != 0) result = product(result, a, modulus);
  return result;
}

}  // namespace relaxc::proof
