// term.h: the value of a cell while a kernel runs over terms: a number, or the fingerprint of an expression.
//
// A fingerprint is the value of the expression at a random point of two finite fields. Functions that are not
// interpreted are random functions of their operands' values: hashes. So equal expressions always have equal
// fingerprints, and different ones have different fingerprints except with the probability that algebra.h states.
#pragma once

#include <cstdint>
#include <limits>

namespace relaxc::proof {

/// The kinds of terms.
enum class TermKind : uint8_t {
  kReal,       ///< a float
  kRealMax,    ///< a maximum of several floats: the sum of their hashes, so that order does not matter (extremes.h)
  kRealMin,    ///< a minimum of several floats
  kWhole,      ///< an integer or a bool that depends on data
  kWholeMax,   ///< a maximum of several integers
  kWholeMin,   ///< a minimum of several integers
  kNumber,     ///< a known integer, in `x`
  kBits,       ///< the bits, as an integer, of the float with these fingerprints
  kSlice,      ///< adjacent bytes of a word as an integer (algebra_words.cpp): `x` is the word, `y` encodes the bytes
  kAddress,    ///< byte `y` of memory `x`
  kUnwritten,  ///< the contents of unwritten memory
  kOutside,    ///< the result of a load beyond its buffer
};

struct Term {
  uint64_t x = 0, y = 0;
  /// Inclusive bounds of an integer. For a float, they are equal if it is a constant with that value.
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
  TermKind kind = TermKind::kUnwritten;
  /// If not 0, an integer's value is (x, y) wrapped to this many bits.
  uint8_t wrap_bits = 0;
  bool wrap_signed = false;
  uint32_t operands = 0;  ///< of a maximum or minimum, its operands in Algebra's `operands_`, if that records them

  bool is_number() const { return kind == TermKind::kNumber; }
  int64_t number() const { return static_cast<int64_t>(x); }
  bool is_poison() const { return kind >= TermKind::kUnwritten; }
  bool is_real() const { return kind <= TermKind::kRealMin; }
  bool is_constant_real() const { return kind == TermKind::kReal && low == high; }
};

inline Term number_term(int64_t value) {
  const auto bound = static_cast<double>(value);
  return {static_cast<uint64_t>(value), 0, bound, bound, TermKind::kNumber, 0, false};
}

}  // namespace relaxc::proof
