// algebra.h: the operations of the interpreter's code on terms (term.h).
//
// Integers are known numbers where they can be (subscripts, bounds of loops, conditions), else elements of the fields:
// sums, differences and products are those of mathematical integers, and what wraps at some width keeps a note of it,
// so that any order of a sum that wraps in the end gives one term. Divisions, shifts to the right, comparisons and
// functions are hashes. Floats have one of three meanings:
//
// - kExact: every operation is a hash, so that two terms are equal only if they are the same expression, evaluated in
//   the same order. Equal terms have equal bits.
// - kField: +, -, *, / and fma are those of a field, constants rational numbers, and rounding is the identity. For
//   schedules that change the order or the rounding of sums.
// - kExponential: the same with exp(a + b) = exp(a) * exp(b), in the second field alone.
//
// The largest and the smallest of several values are the sum of their hashes, so that no order counts; the signs of
// zeros and what NaN is chosen of several are not told apart.
//
// The probability that two terms which differ have one fingerprint: two polynomials of degree d agree at a random point
// of a field of p elements with at most d / p (Schwartz 1980), and a hash collides with 1 / p, where d and the number
// of hashes count along one expression. Two independent fields of 2^61 - 1: for an expression of n operations at most
// (n / 2^61)^2; the one field of kExponential: n / 2^61.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "compiler/proof/kernels/residues.h"
#include "compiler/proof/kernels/term.h"
#include "compiler/tir/interpreter_code.h"

namespace relaxc::proof {

enum class Meaning : uint8_t { kExact, kField, kExponential };

/// Neighbouring bytes of a word: `count` from `begin` on, the lowest `zeros` of them cleared. Bytes before the word's
/// are zero.
struct Slice {
  int8_t begin = 0;
  uint8_t count = 0, zeros = 0;
  bool is_signed = true;
};

class Algebra {
 public:
  Algebra(Meaning meaning, uint64_t seed) : meaning_(meaning), residues_(meaning == Meaning::kExponential, seed) {}

  Meaning meaning() const { return meaning_; }

  /// Element `index` of an input, of which nothing else is known.
  Term input(uint64_t buffer, uint64_t index, DType dtype) const;
  /// A constant of a float dtype.
  Term constant(double value) const;
  /// rational * t: of a float.
  Term scaled(double rational, const Term& t) const;

  /// What the instruction computes, which only computes and is no Move or Select.
  ///
  /// \param wrapped_bits  of the dtype that the next instruction brings the result back into; 64: of none
  Term apply(const tir::interpreter::Instruction& n, const Term& a, const Term& b, const Term& c, uint8_t wrapped_bits);
  Term add(const Term& a, const Term& b, bool negated, uint8_t wrapped_bits);
  Term multiply(const Term& a, const Term& b, uint8_t wrapped_bits);
  Term select(const Term& condition, const Term& then_value, const Term& else_value);
  /// A function that is known by its name only.
  Term call(const std::string& name, std::span<const Term> args, DType dtype);

  Term add_real(tir::interpreter::Op op, const Term& a, const Term& b, bool negated);
  Term multiply_real(tir::interpreter::Op op, const Term& a, const Term& b);
  Term fma_real(tir::interpreter::Op op, const Term& a, const Term& b, const Term& c);

  /// An integer of elements side by side in memory, the first in the lowest bytes.
  Term word(std::vector<Term> elements, int64_t element_bytes, bool is_signed);
  /// `count` bytes of an integer or a float from `begin` on.
  Term bytes_of(const Term& t, int64_t bytes, int64_t begin, int64_t count, bool is_signed);
  /// A value of memory as a load of `dtype` gives it.
  Term loaded(const Term& stored, DType dtype);

  /// Whether both are the same value for all inputs.
  bool equal(const Term& a, const Term& b);
  /// For messages: the number, or digits of the fingerprint.
  std::string text(const Term& t);

 private:
  struct Word {
    std::vector<Term> elements;
    int64_t element_bytes = 1;
  };

  Term hashed(TermKind kind, uint64_t what, const Term& a, const Term& b = {}, const Term& c = {}) const;
  Term real(uint64_t what, const Term& a, const Term& b = {}, const Term& c = {});
  Term whole(uint64_t what, const Term& a, const Term& b, double low, double high);
  /// The term as residues alone: kReal or kWhole without a note of wrapping.
  Term data(const Term& t);
  Term wrap(const Term& t, DType dtype);
  /// The operand of arithmetic in `bits` bits.
  Term operand(const Term& t, uint8_t bits);
  Term extreme(bool largest, bool is_real, const Term& a, const Term& b);
  Term integer(const tir::interpreter::Instruction& n, const Term& a, const Term& b);
  Term shift(const tir::interpreter::Instruction& n, const Term& a, const Term& b);
  Term masked(const Term& a, const Term& b);
  Term logical(bool conjunction, const Term& a, const Term& b);
  Term divided(const Term& a, const Term& b, bool remainder, bool down);
  Term of_reals(const tir::interpreter::Instruction& n, const Term& a, const Term& b, const Term& c);
  Term converted(const tir::interpreter::Instruction& n, const Term& a);
  Term from_bits(const Term& t, DType dtype);
  Term quotient(uint64_t what, const Term& a, const Term& b);

  static Slice slice_of(const Term& t);
  Term sliced(uint64_t word, Slice slice);
  uint64_t interned(std::vector<Term> elements, int64_t element_bytes);
  Term slice_data(const Term& t);

  Meaning meaning_;
  Residues residues_;
  std::vector<Word> words_;
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> word_places_;  ///< by the fingerprint of the elements
};

/// The bounds of an integer or bool dtype.
std::pair<double, double> bounds_of(DType dtype);

}  // namespace relaxc::proof
