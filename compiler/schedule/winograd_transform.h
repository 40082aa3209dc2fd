// winograd_transform.h: the matrices of Winograd's F(m, r): m results of a filter of r taps by m + r - 1 products.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace relaxc::schedule {

using Matrix = std::vector<std::vector<double>>;  ///< rows

/// F(m, 3): m results of a filter of 3 taps, from m + 2 data, by m + 2 multiplications:
/// y = result * ((filter * w) . (data * x)), where . multiplies element by element.
struct WinogradTransform {
  static constexpr int64_t kTaps = 3;
  static constexpr int64_t kSteps = 16;  ///< the most roundings besides those of the sum, along one dim

  int64_t results = 0;  ///< m
  Matrix data;          ///< [m + 2, m + 2]
  Matrix filter;        ///< [m + 2, 3]
  Matrix result;        ///< [m, m + 2]

  int64_t points() const { return results + kTaps - 1; }
  /// By how much the bound of the rounding errors is greater than that of the three products themselves, for as many
  /// terms: the largest sum over the points of |result| times the sums of |filter| and |data|, by 3. With u = 2^-24, a
  /// sum of such filters over k channels and columns is off by at most
  ///     growth * 3 k * (k + 16) * u * max |w| * max |x|,
  /// where that of the 3 k products is off by 3 k * 3 k * u * max |w| * max |x|. Nested in both dims, over k channels,
  ///     growth * growth * 9 k * (k + 32) * u * max |w| * max |x|.
  double growth() const;
};

/// F(m, 3) for m of 2 or 4, with the points of evaluation that give the least growth of the simple ones: 8/3 and 22/3.
WinogradTransform winograd_transform(int64_t results);

/// Filters [outer, 3, inner] of float32 at the points: [outer, m + 2, inner], computed in float64 and rounded once.
std::vector<std::byte> at_points(const WinogradTransform& by, std::span<const std::byte> filters, int64_t inner);

}  // namespace relaxc::schedule
