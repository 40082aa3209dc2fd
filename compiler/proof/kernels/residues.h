// residues.h: arithmetic in the two fields over which expressions are evaluated, and hashes into them.
#pragma once

#include <cstdint>
#include <utility>

namespace relaxc::proof {

__extension__ using uint128 = unsigned __int128;

/// The two fields. By default both are the residues modulo 2^61 - 1. For exponentials, the second field has a subgroup
/// whose order is the first field's size, so that exp from the first to the second has exp(a + b) = exp(a) * exp(b).
class Residues {
 public:
  static constexpr uint64_t kMersenne = (uint64_t{1} << 61) - 1;
  static constexpr uint64_t kOrder = 2305843009213688669, kSafe = 2 * kOrder + 1;  ///< both are prime

  Residues(bool exponentials, uint64_t seed);

  uint64_t add_x(uint64_t a, uint64_t b) const { return reduced(a + b, exponentials_ ? kOrder : kMersenne); }
  uint64_t add_y(uint64_t a, uint64_t b) const { return reduced(a + b, exponentials_ ? kSafe : kMersenne); }
  uint64_t negated_x(uint64_t a) const { return a == 0 ? 0 : (exponentials_ ? kOrder : kMersenne) - a; }
  uint64_t negated_y(uint64_t a) const { return a == 0 ? 0 : (exponentials_ ? kSafe : kMersenne) - a; }
  uint64_t multiply_x(uint64_t a, uint64_t b) const { return exponentials_ ? product(a, b, kOrder) : product(a, b); }
  uint64_t multiply_y(uint64_t a, uint64_t b) const { return exponentials_ ? product(a, b, kSafe) : product(a, b); }
  /// The inverse of 0 is 0.
  uint64_t inverse_x(uint64_t a) const {
    return exponentials_ ? power(a, kOrder - 2, kOrder) : power(a, kMersenne - 2);
  }
  uint64_t inverse_y(uint64_t a) const { return exponentials_ ? power(a, kSafe - 2, kSafe) : power(a, kMersenne - 2); }
  uint64_t whole_x(int64_t value) const { return whole(value, exponentials_ ? kOrder : kMersenne); }
  uint64_t whole_y(int64_t value) const { return whole(value, exponentials_ ? kSafe : kMersenne); }
  /// Returns exp(x) in the second field for an element x of the first one.
  static uint64_t exponential(uint64_t x) { return power(4, x, kSafe); }

  /// Random functions of residues; `what` selects the function.
  uint64_t hash_x(uint64_t what, uint64_t a, uint64_t b, uint64_t c) const {
    return mixed(what, a, b, c, seeds_, exponentials_ ? kOrder : kMersenne);
  }
  uint64_t hash_y(uint64_t what, uint64_t a, uint64_t b, uint64_t c) const {
    return mixed(what, a, b, c, seeds_ + 5, exponentials_ ? kSafe : kMersenne);
  }

 private:
  static uint64_t reduced(uint64_t sum, uint64_t modulus) { return sum >= modulus ? sum - modulus : sum; }
  static uint64_t product(uint64_t a, uint64_t b) {
    const uint128 wide = uint128{a} * b;
    return reduced((static_cast<uint64_t>(wide) & kMersenne) + static_cast<uint64_t>(wide >> 61), kMersenne);
  }
  static uint64_t product(uint64_t a, uint64_t b, uint64_t modulus) {
    return static_cast<uint64_t>(uint128{a} * b % modulus);
  }
  static uint64_t power(uint64_t a, uint64_t exponent);
  static uint64_t power(uint64_t a, uint64_t exponent, uint64_t modulus);
  static uint64_t whole(int64_t value, uint64_t modulus) {
    const uint64_t size = value < 0 ? uint64_t{0} - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
    const uint64_t rest = size % modulus;
    return value < 0 && rest != 0 ? modulus - rest : rest;
  }
  static uint64_t fold(uint64_t a, uint64_t b) {
    const uint128 wide = uint128{a} * b;
    return static_cast<uint64_t>(wide) ^ static_cast<uint64_t>(wide >> 64);
  }
  static uint64_t mixed(uint64_t what, uint64_t a, uint64_t b, uint64_t c, const uint64_t* seeds, uint64_t modulus) {
    const uint64_t first = fold(a ^ seeds[0], b ^ seeds[1]), second = fold(c ^ seeds[2], what ^ seeds[3]);
    const uint64_t all = fold(first ^ seeds[4], second ^ seeds[1]);
    const uint64_t bits = all & kMersenne;
    return modulus == kMersenne ? reduced(bits, modulus) : bits % modulus;
  }

  bool exponentials_;
  uint64_t seeds_[10];
};

}  // namespace relaxc::proof
