// term.h: what a cell of memory holds while a kernel runs over terms: a number, or the fingerprint of an expression.
//
// A fingerprint is the value of the expression at a random point of two finite fields. Functions that are not
// interpreted are random functions of their operands' values: hashes. So equal expressions have equal fingerprints
// always, and expressions that differ have different ones but with a probability that algebra.h states.
#pragma once

#include <cstdint>
#include <limits>

namespace relaxc::proof {

/// What a term stands for.
enum class TermKind : uint8_t {
  kReal,      ///< a float
  kRealMax,   ///< the largest of several floats: the sum of their hashes, so that order does not matter
  kRealMin,   ///< the smallest of several
  kWhole,     ///< an integer or a bool that depends on data
  kWholeMax,  ///< the largest of several integers
  kWholeMin,  ///< the smallest of several
  kNumber,    ///< an integer that is known: `x`
  kBits,      ///< an integer of the bits of the float with these fingerprints
  kSlice,     ///< an integer of neighbouring bytes of a word (algebra_words.cpp): `x` is the word, `y` says which bytes
  kAddress,   ///< byte `y` of memory `x`
  kUnwritten,  ///< what memory holds that nothing has written
  kOutside,    ///< what a load beyond its buffer gives
};

struct Term {
  uint64_t x = 0, y = 0;
  /// Bounds of an integer. Of a float: equal, if it is a constant of that value.
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
  TermKind kind = TermKind::kUnwritten;
  /// An integer's value is (x, y) wrapped to this many bits; 0 if it is not wrapped.
  uint8_t wrap_bits = 0;
  bool wrap_signed = false;

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
