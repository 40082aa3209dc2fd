// algebra_words.cpp: integers that consist of several adjacent elements in memory, and their bytes.
#include <cmath>

#include "compiler/arith/float_bits.h"
#include "compiler/proof/kernels/algebra.h"
#include "compiler/proof/kernels/hash_names.h"
#include "compiler/tir/interpreter_ops.h"

namespace relaxc::proof {

namespace {

constexpr Term slice_term(uint64_t word, Slice slice) {
  Term t;
  t.kind = TermKind::kSlice, t.x = word;
  t.y = static_cast<uint64_t>(static_cast<uint8_t>(slice.begin)) | uint64_t{slice.count} << 8 |
        uint64_t{slice.zeros} << 16 | uint64_t{slice.is_signed} << 24;
  return t;
}

}  // namespace

Slice Algebra::slice_of(const Term& t) {
  return {static_cast<int8_t>(t.y & 255), static_cast<uint8_t>(t.y >> 8), static_cast<uint8_t>(t.y >> 16),
          ((t.y >> 24) & 1) != 0};
}

/// Returns the value of a slice; if it covers exactly one element, that is the element's value.
Term Algebra::sliced(uint64_t word, Slice slice) {
  const Word& of = words_[word];
  const DType dtype = {slice.is_signed ? TypeCode::kInt : TypeCode::kUInt, static_cast<uint8_t>(slice.count * 8)};
  if (slice.zeros == 0 && slice.begin >= 0 && slice.begin % of.element_bytes == 0 && slice.count == of.element_bytes) {
    const auto at = static_cast<size_t>(slice.begin / of.element_bytes);
    if (at >= of.elements.size()) return number_term(0);
    const Term element = of.elements[at];
    if (element.is_number()) return number_term(tir::interpreter::wrap(element.number(), dtype));
    if (!element.is_real()) return dtype.bits < 64 ? wrap(element, dtype) : element;
    Term bits = data(element);
    bits.kind = TermKind::kBits;
    return bits;
  }
  Term t = slice_term(word, slice);
  std::tie(t.low, t.high) = bounds_of(dtype);
  return t;
}

Term Algebra::slice_data(const Term& t) {
  const Slice slice = slice_of(t);
  const Word of = words_[t.x];
  Term all;
  all.x = all.y = slice.is_signed ? 1 : 0;
  for (uint8_t i = 0; i < slice.count; ++i) {
    const int64_t at = slice.begin + i;
    Term place;
    const bool zero = i < slice.zeros || at < 0 || at / of.element_bytes >= static_cast<int64_t>(of.elements.size());
    const Term element = zero ? data(number_term(0)) : data(of.elements[static_cast<size_t>(at / of.element_bytes)]);
    place.x = place.y = zero ? 0 : static_cast<uint64_t>(at % of.element_bytes) + 1;
    all = hashed(TermKind::kWhole, kBytes, all, element, place);
  }
  return all;
}

Term Algebra::word(std::vector<Term> elements, int64_t element_bytes, bool is_signed) {
  bool numbers = true;
  int64_t number = 0;
  for (size_t i = 0; i < elements.size(); ++i) {
    if (elements[i].is_poison()) return elements[i];
    numbers = numbers && elements[i].is_number();
    const int64_t mask = element_bytes >= 8 ? -1 : (int64_t{1} << (8 * element_bytes)) - 1;
    if (numbers) number |= (elements[i].number() & mask) << (8 * element_bytes * static_cast<int64_t>(i));
  }
  const auto bytes = static_cast<uint8_t>(element_bytes * static_cast<int64_t>(elements.size()));
  const DType dtype = {is_signed ? TypeCode::kInt : TypeCode::kUInt, static_cast<uint8_t>(bytes * 8)};
  if (numbers) return number_term(tir::interpreter::wrap(number, dtype));
  const Term& first = elements[0];
  if (first.kind == TermKind::kSlice) {  // all bytes of one word, joined again
    bool joined = true;
    const Slice begin = slice_of(first);
    for (size_t i = 0; i < elements.size(); ++i) {
      const Slice next = slice_of(elements[i]);
      joined = joined && elements[i].kind == TermKind::kSlice && elements[i].x == first.x && next.zeros == 0 &&
               next.count == element_bytes && next.begin == begin.begin + static_cast<int64_t>(i) * element_bytes;
    }
    if (joined) return sliced(first.x, {begin.begin, bytes, 0, is_signed});
  }
  return sliced(interned(std::move(elements), element_bytes), {0, bytes, 0, is_signed});
}

/// Returns the index of a word in `words_`; words with the same elements have one index.
uint64_t Algebra::interned(std::vector<Term> elements, int64_t element_bytes) {
  Term all;
  all.x = all.y = static_cast<uint64_t>(element_bytes);
  for (const Term& element : elements) {
    Term kind;
    kind.x = kind.y = static_cast<uint64_t>(element.kind);
    all = hashed(TermKind::kWhole, kBytes, all, data(element), kind);
  }
  const auto [at, fresh] = word_places_.try_emplace({all.x, all.y}, words_.size());
  if (fresh) words_.push_back({std::move(elements), element_bytes});
  return at->second;
}

Term Algebra::bytes_of(const Term& t, int64_t bytes, int64_t begin, int64_t count, bool is_signed) {
  if (t.is_poison()) return t;
  const DType dtype = {is_signed ? TypeCode::kInt : TypeCode::kUInt, static_cast<uint8_t>(count * 8)};
  if (t.is_number()) return number_term(tir::interpreter::wrap(t.number() >> (8 * begin), dtype));
  if (t.kind == TermKind::kSlice) {
    Slice slice = slice_of(t);
    if (slice.zeros == 0 && begin + count <= slice.count) {
      slice.begin = static_cast<int8_t>(slice.begin + begin), slice.count = static_cast<uint8_t>(count);
      slice.is_signed = is_signed;
      return sliced(t.x, slice);
    }
  }
  return sliced(interned({t}, bytes), {static_cast<int8_t>(begin), static_cast<uint8_t>(count), 0, is_signed});
}

/// Returns the float whose bits an integer has.
Term Algebra::from_bits(const Term& t, DType dtype) {
  if (t.kind == TermKind::kBits) {
    Term value = t;
    value.kind = TermKind::kReal, value.low = -INFINITY, value.high = INFINITY;
    return value;
  }
  if (t.is_number()) return constant(arith::decode_float(dtype, t.x & tir::interpreter::mask_of(dtype)));
  if (t.kind == TermKind::kSlice && dtype == DType::f(32)) {
    const Slice slice = slice_of(t);
    const Word& of = words_[t.x];
    const int64_t upper = slice.begin + 2;  // a bfloat16 is the upper half of a float32
    if (slice.count == 4 && slice.zeros == 2 && of.element_bytes == 2 && upper >= 0 && upper % 2 == 0) {
      const auto at = static_cast<size_t>(upper / 2);
      if (at >= of.elements.size()) return constant(0);
      const Term& element = of.elements[at];
      if (element.is_real()) return element;
      if (element.is_number()) return constant(arith::decode_float(DType::bf16(), element.x & 0xFFFF));
    }
  }
  return real(proof::of(tir::interpreter::Op::kBitsToF, dtype), t);
}

Term Algebra::loaded(const Term& stored, DType dtype) {
  if (stored.is_poison()) return stored;
  if (dtype.is_float()) return stored.is_real() ? stored : from_bits(stored, dtype);
  if (!stored.is_real()) {
    if (stored.kind == TermKind::kBits || dtype.bits >= 64 || dtype.is_index()) return stored;
    if (stored.is_number()) return number_term(tir::interpreter::wrap(stored.number(), dtype));
    return wrap(stored, dtype.is_bool() ? DType::u(8) : dtype);
  }
  Term bits = data(stored);
  bits.kind = TermKind::kBits;
  std::tie(bits.low, bits.high) = bounds_of(dtype);
  return bits;
}

}  // namespace relaxc::proof
