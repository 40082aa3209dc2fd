// random.h: choices that are the same on every machine for one seed.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <vector>

#include "compiler/support/dtype.h"

namespace relaxc::property {

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}

  /// 0 .. n - 1; 0 for n = 0.
  size_t below(size_t n) { return n == 0 ? 0 : static_cast<size_t>(engine_() % n); }
  int64_t between(int64_t from, int64_t to) {
    return from + static_cast<int64_t>(below(static_cast<size_t>(to - from + 1)));
  }
  bool chance(int percent) { return below(100) < static_cast<size_t>(percent); }
  template <typename T>
  T of(std::initializer_list<T> list) {
    return list.begin()[below(list.size())];
  }
  template <typename T>
  const T& of(const std::vector<T>& list) {
    return list.at(below(list.size()));
  }

 private:
  std::mt19937_64 engine_;
};

/// The dtypes of the language's tensors, the common ones more often.
inline DType random_dtype(Random& random) {
  static const std::array kDTypes = {DType::f(32), DType::f(32),  DType::f(32),     DType::f(64),
                                     DType::f(16), DType::bf16(), DType::boolean(), DType::i(8),
                                     DType::i(16), DType::i(32),  DType::i(64),     DType::i(64),
                                     DType::u(8),  DType::u(16),  DType::u(32),     DType::u(64)};
  return kDTypes[random.below(kDTypes.size())];
}

}  // namespace relaxc::property
