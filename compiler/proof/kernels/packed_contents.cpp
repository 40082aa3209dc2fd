// packed_contents.cpp: see packed_contents.h.
//
// The packing itself tells where elements go: it is applied to their numbers, a few bytes at a time. Transformed
// filters for Winograd are sums of three taps by the matrix of winograd_transform.h, whose numbers are fractions.
#include "compiler/proof/kernels/packed_contents.h"

#include <cstring>

#include "compiler/schedule/winograd_transform.h"

namespace relaxc::proof {

namespace {

constexpr int64_t kMostElements = int64_t{1} << 24;

/// Returns, for each element of the packed tensor, 1 + its index in the original tensor; 0 for padding.
std::vector<uint32_t> numbers_of(const schedule::Packing& packing, int64_t count, int64_t bytes) {
  const bool words = packing.words_axis >= 0;
  const int64_t plane_bytes = words && bytes < 4 ? bytes : 4;
  std::vector<uint32_t> numbers;
  for (int64_t begin = 0; begin < 4; begin += plane_bytes) {
    std::vector<std::byte> plane(static_cast<size_t>(count * plane_bytes));
    for (int64_t i = 0; i < count; ++i) {
      const uint32_t part = static_cast<uint32_t>(i + 1) >> (8 * begin);
      std::memcpy(plane.data() + i * plane_bytes, &part, static_cast<size_t>(plane_bytes));
    }
    const std::vector<std::byte> moved = packing.apply(plane, plane_bytes);
    numbers.resize(moved.size() / static_cast<size_t>(plane_bytes));
    for (size_t i = 0; i < numbers.size(); ++i) {
      uint32_t part = 0;
      std::memcpy(&part, moved.data() + i * static_cast<size_t>(plane_bytes), static_cast<size_t>(plane_bytes));
      numbers[i] |= part << (8 * begin);
    }
  }
  return numbers;
}

/// Transforms filters of floats [outer, 3, inner] to the points of a Winograd transform, like schedule::at_points.
std::vector<Term> at_points(Algebra& algebra, const schedule::WinogradTransform& by, const std::vector<Term>& taps,
                            size_t inner) {
  constexpr size_t kTaps = schedule::WinogradTransform::kTaps;
  const auto points = static_cast<size_t>(by.points());
  const size_t outer = taps.size() / kTaps / inner;
  std::vector<Term> out(outer * points * inner);
  for (size_t o = 0; o < outer; ++o)
    for (size_t p = 0; p < points; ++p)
      for (size_t i = 0; i < inner; ++i) {
        Term sum = algebra.constant(0);
        for (size_t k = 0; k < kTaps; ++k) {
          const Term product = algebra.scaled(by.filter[p][k], taps[(o * kTaps + k) * inner + i]);
          sum = algebra.add_real(tir::interpreter::Op::kAddF, sum, product, false);
        }
        out[(o * points + p) * inner + i] = sum;
      }
  return out;
}

}  // namespace

Contents packed_contents(Algebra& algebra, const schedule::Packing& packing, DType dtype, const Contents& source) {
  schedule::Packing moves = packing;
  moves.filtered.clear();
  int64_t count = 1;
  for (size_t i = 0; i < packing.shape.size(); ++i)
    count *= static_cast<int64_t>(i) == packing.words_axis ? packing.words_extent : packing.shape[i];
  if (count > kMostElements) return nullptr;
  auto numbers = std::make_shared<std::vector<uint32_t>>(numbers_of(moves, count, dtype.bytes()));
  auto zero = [dtype, &algebra] { return dtype.is_float() ? algebra.constant(0) : number_term(0); };
  Contents plain = source;
  if (!packing.filtered.empty()) {
    int64_t before = count;
    for (const schedule::Packing::Taps& taps : packing.filtered) before = before / (taps.results + 2) * 3;
    std::vector<Term> terms;
    for (int64_t i = 0; i < before; ++i) terms.push_back(source(i));
    for (size_t i = packing.filtered.size(); i-- > 0;)
      terms = at_points(algebra, schedule::winograd_transform(packing.filtered[i].results), terms,
                        static_cast<size_t>(packing.filtered[i].inner));
    plain = [all = std::make_shared<std::vector<Term>>(std::move(terms))](int64_t i) {
      return (*all)[static_cast<size_t>(i)];
    };
  }
  auto element = [numbers, plain, zero](size_t i) {
    const uint32_t number = (*numbers)[i];
    return number == 0 ? zero() : plain(static_cast<int64_t>(number) - 1);
  };
  if (packing.words_axis < 0) return [element](int64_t i) { return element(static_cast<size_t>(i)); };
  auto terms = std::make_shared<std::vector<Term>>();
  const auto parts = static_cast<size_t>(packing.word_bytes / dtype.bytes());
  for (size_t i = 0; i < numbers->size(); i += parts) {
    std::vector<Term> elements;
    for (size_t k = 0; k < parts; ++k) elements.push_back(element(i + k));
    terms->push_back(algebra.word(std::move(elements), dtype.bytes(), true));
  }
  return [terms](int64_t i) { return (*terms)[static_cast<size_t>(i)]; };
}

}  // namespace relaxc::proof
