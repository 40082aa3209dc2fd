// algebra.h: the interpreter's operations on terms (term.h).
//
// Integers are known numbers if possible (subscripts, bounds of loops, conditions), else elements of the fields: sums,
// differences and products are those of mathematical integers, and a result that wraps at some width records the width,
// so that any order of a sum that finally wraps gives the same term. Divisions, right shifts, comparisons and functions
// are hashes. Floats are treated in one of three ways:
//
// - kExact: every operation is a hash, so two terms are equal only if they are the same expression, evaluated in
//   the same order. Equal terms have equal bits.
// - kField: +, -, *, / and fma are those of a field, constants are rational numbers, and rounding is the identity. For
//   schedules that change the order or the rounding of sums.
// - kExponential: as kField, with exp(a + b) = exp(a) * exp(b), in the second field only.
//
// A maximum or minimum of several values is the sum of their hashes, so that order does not matter; with
// `Operands::kOnce`, of the different ones, so that it does not matter either how often one occurs (extremes.h). This
// takes for granted that maxima are associative, commutative and idempotent. They are, bit by bit, for numbers that are
// not zero, and a NaN of any operand makes the result a NaN (docs/numerics.md, `maximum` and `max`); which zero of
// max(0, -0) and which of several NaN is the result, docs/numerics.md leaves open, and it is not distinguished here.
//
// The probability that two different terms have the same fingerprint: two polynomials of degree d agree at a random
// point of a field of p elements with a probability of at most d / p (Schwartz 1980), and a hash collides with 1 / p,
// where d and the number of hashes count along one expression. For two independent fields of 2^61 - 1 and an expression
// of n operations this is at most (n / 2^61)^2; for the one field of kExponential, n / 2^61.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "compiler/proof/kernels/extremes.h"
#include "compiler/proof/kernels/residues.h"
#include "compiler/proof/kernels/term.h"
#include "compiler/tir/interpreter_code.h"

namespace relaxc::proof {

enum class Meaning : uint8_t { kExact, kField, kExponential };

/// How often an operand of a maximum or minimum counts: as often as it occurs, which is faster and never makes
/// different terms equal, or once.
enum class Operands : uint8_t { kAll, kOnce };

/// Adjacent bytes of a word: `count` bytes from `begin` on, with the lowest `zeros` of them cleared. Bytes outside of
/// the word are zero.
struct Slice {
  int8_t begin = 0;
  uint8_t count = 0, zeros = 0;
  bool is_signed = true;
};

class Algebra {
 public:
  Algebra(Meaning meaning, uint64_t seed, Operands operands = Operands::kAll)
      : meaning_(meaning), counted_(operands), residues_(meaning == Meaning::kExponential, seed) {}

  Meaning meaning() const { return meaning_; }
  /// Returns whether a term of `kAll` was a maximum or minimum of several, which `kOnce` may find equal to another.
  bool has_extremes() const { return has_extremes_; }
  /// Returns whether there were too many maxima to record their operands, so that equal terms may seem different.
  bool over_limit() const { return operands_.over_limit(); }

  /// Returns the term for element `index` of an input, about which nothing else is known.
  Term input(uint64_t buffer, uint64_t index, DType dtype) const;
  /// Returns the term for a constant of a float dtype.
  Term constant(double value) const;
  /// Returns rational * t for a float t.
  Term scaled(double rational, const Term& t) const;

  /// Returns the result of an instruction that only computes, except for Move and Select.
  ///
  /// \param wrapped_bits width to which the next instruction wraps the result; 64 if it does not
  Term apply(const tir::interpreter::Instruction& n, const Term& a, const Term& b, const Term& c, uint8_t wrapped_bits);
  Term add(const Term& a, const Term& b, bool negated, uint8_t wrapped_bits);
  Term multiply(const Term& a, const Term& b, uint8_t wrapped_bits);
  Term select(const Term& condition, const Term& then_value, const Term& else_value);
  /// Applies a function that is known only by its name.
  Term call(const std::string& name, std::span<const Term> args, DType dtype);

  Term add_real(tir::interpreter::Op op, const Term& a, const Term& b, bool negated);
  Term multiply_real(tir::interpreter::Op op, const Term& a, const Term& b);
  Term fma_real(tir::interpreter::Op op, const Term& a, const Term& b, const Term& c);

  // The same of operands that are kReal, where floats are a field. Most instructions are one of these.
  Term field_sum(const Term& a, const Term& b) const {
    return field_term(residues_.add_x(a.x, b.x), residues_.add_y(a.y, b.y));
  }
  Term field_product(const Term& a, const Term& b) const {
    return field_term(residues_.multiply_x(a.x, b.x), residues_.multiply_y(a.y, b.y));
  }
  Term field_fma(const Term& a, const Term& b, const Term& c) const {
    return field_term(residues_.add_x(residues_.multiply_x(a.x, b.x), c.x),
                      residues_.add_y(residues_.multiply_y(a.y, b.y), c.y));
  }

  /// Returns the integer whose bytes are those of `elements`, which are adjacent in memory, the first one lowest.
  Term word(std::vector<Term> elements, int64_t element_bytes, bool is_signed);
  /// Returns `count` bytes of an integer or a float as an integer, starting at byte `begin`.
  Term bytes_of(const Term& t, int64_t bytes, int64_t begin, int64_t count, bool is_signed);
  /// Returns the result of a load with `dtype` of the value `stored`.
  Term loaded(const Term& stored, DType dtype);

  /// Returns whether both terms have the same value for all inputs.
  bool equal(const Term& a, const Term& b);
  /// Returns the number, or digits of the fingerprint, for messages.
  std::string text(const Term& t);

 private:
  struct Word {
    std::vector<Term> elements;
    int64_t element_bytes = 1;
  };

  static Term field_term(uint64_t x, uint64_t y) { return {.x = x, .y = y, .kind = TermKind::kReal}; }
  Term hashed(TermKind kind, uint64_t what, const Term& a, const Term& b = {}, const Term& c = {}) const;
  Term real(uint64_t what, const Term& a, const Term& b = {}, const Term& c = {});
  Term whole(uint64_t what, const Term& a, const Term& b, double low, double high);
  /// Returns the term as residues only: kReal or kWhole, without a recorded wrapping.
  Term data(const Term& t);
  /// Returns a maximum or minimum with the sums of the hashes of those operands that count.
  Term summed(const Term& t);
  Term wrap(const Term& t, DType dtype);
  /// Returns a term as operand of arithmetic in `bits` bits.
  Term operand(const Term& t, uint8_t bits);
  Term extreme(bool largest, bool is_real, const Term& a, const Term& b);
  /// Returns whether two operands of a maximum or minimum are known to be equal.
  bool has_same_operands(TermKind kind, const Term& a, const Term& b);
  /// Returns a term as a maximum or minimum of this kind, of one operand if it is not one yet.
  Term as_extreme(TermKind kind, const Term& t);
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
  Operands counted_;
  bool has_extremes_ = false;
  Residues residues_;
  Extremes operands_;  ///< of maxima and minima, for Operands::kOnce
  std::vector<Word> words_;
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> word_places_;  ///< index in words_, by the fingerprint
};

/// Returns the bounds of an integer or bool dtype.
std::pair<double, double> bounds_of(DType dtype);

}  // namespace relaxc::proof
