// Transposes of constants that are made when bytes are asked for, against the definition.
#include "compiler/transform/graph/moves/lazy_constant_transpose.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <random>

namespace relaxc::test {
namespace {

using relax::ConstantData;

/// Result element i is the source element whose index along axes[k] is i's along k.
std::vector<std::byte> by_definition(const ConstantData& source, const std::vector<size_t>& axes,
                                     const std::vector<int64_t>& shape) {
  auto size = static_cast<size_t>(source.dtype().bytes());
  std::vector<std::byte> from = source.to_vector(), to(from.size());
  for (int64_t n = 0; n < source.elements(); ++n) {
    std::vector<int64_t> index(axes.size());
    int64_t rest = n;
    for (size_t k = axes.size(); k-- > 0; rest /= shape[k]) index[axes[k]] = rest % shape[k];
    int64_t at = 0;
    for (size_t k = 0; k < index.size(); ++k) at = at * source.shape()[k] + index[k];
    std::copy_n(from.begin() + at * static_cast<int64_t>(size), size, to.begin() + n * static_cast<int64_t>(size));
  }
  return to;
}

TEST_CASE("a lazily transposed constant has the elements of the definition") {
  std::mt19937 random(7);
  for (DType dtype : {DType::u(8), DType::f(16), DType::f(32), DType::i(64), DType{TypeCode::kComplex, 128}})
    for (size_t rank = 0; rank <= 5; ++rank)
      for (int repeat = 0; repeat < 8; ++repeat) {
        std::vector<int64_t> shape;
        for (size_t i = 0; i < rank; ++i) shape.push_back(random() % 8 == 0 ? 0 : 1 + random() % 21);
        std::vector<size_t> axes(rank);
        std::iota(axes.begin(), axes.end(), size_t{0});
        std::shuffle(axes.begin(), axes.end(), random);
        int64_t elements = 1;
        for (int64_t dim : shape) elements *= dim;
        if (elements > 1'000'000) continue;
        std::vector<std::byte> bytes(static_cast<size_t>(elements * dtype.bytes()));
        for (std::byte& b : bytes) b = static_cast<std::byte>(random());
        auto source = ConstantData::inline_bytes(dtype, shape, bytes);
        auto result = lazy_constant_transpose(source, axes);
        std::vector<int64_t> expected;
        for (size_t axis : axes) expected.push_back(shape[axis]);
        REQUIRE(result->shape() == expected);
        REQUIRE(result->to_vector() == by_definition(*source, axes, expected));
      }
}

}  // namespace
}  // namespace relaxc::test
