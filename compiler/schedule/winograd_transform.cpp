// winograd_transform.cpp: the matrices of F(m, r) (Winograd 1980), by interpolation at points (Toom and Cook).
//
// Filtering is the transpose of multiplying polynomials: evaluate at as many points as the product has coefficients,
// one of them infinity, multiply there, interpolate. Any points are exact in exact arithmetic; in floats they decide
// how much errors grow. The usual 0, 1, -1, 2, -2 give F(4, 3) a growth of 16; with 1/2 in place of 1 it is 22/3, and
// all factors of data and results are sums of few powers of two, hence exact (Barabasz et al. 2020 look for better
// ones; tests/unit/schedule/winograd_test.cpp checks the bound).
#include "compiler/schedule/winograd_transform.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "compiler/support/check.h"

namespace relaxc::schedule {
namespace {

/// The coefficients, lowest first, of the product of (x - p) over all points except for the one at index `without`.
std::vector<double> product_of_roots(const std::vector<double>& points, size_t without) {
  std::vector<double> product{1};
  for (size_t i = 0; i < points.size(); ++i) {
    if (i == without) continue;
    product.push_back(0);
    for (size_t k = product.size() - 1; k > 0; --k) product[k] = product[k - 1] - points[i] * product[k];
    product[0] *= -points[i];
  }
  return product;
}

double evaluate(const std::vector<double>& polynomial, double x) {
  double value = 0;
  for (size_t k = polynomial.size(); k-- > 0;) value = value * x + polynomial[k];
  return value;
}

std::vector<double> powers(double x, int64_t count) {
  std::vector<double> all{1};
  while (static_cast<int64_t>(all.size()) < count) all.push_back(all.back() * x);
  return all;
}

double sum_of_sizes(const std::vector<double>& row) {
  double sum = 0;
  for (double x : row) sum += std::abs(x);
  return sum;
}

}  // namespace

WinogradTransform winograd_transform(int64_t results) {
  RELAXC_CHECK(results == 2 || results == 4, "no points are known for this filter");
  std::vector<double> points{0, 1, -1};
  if (results == 4) points = {0, 0.5, -0.5, 2, -2};
  WinogradTransform f;
  f.results = results;
  auto count = static_cast<size_t>(f.points());
  f.result.assign(static_cast<size_t>(results), std::vector<double>(count, 0));
  for (size_t i = 0; i < points.size(); ++i) {
    std::vector<double> others = product_of_roots(points, i);
    double scale = evaluate(others, points[i]);
    others.resize(count, 0);
    f.data.push_back(std::move(others));
    f.filter.push_back(powers(points[i], WinogradTransform::kTaps));
    for (double& x : f.filter.back()) x /= scale;
    std::vector<double> at = powers(points[i], results);
    for (size_t k = 0; k < at.size(); ++k) f.result[k][i] = at[k];
  }
  f.data.push_back(product_of_roots(points, points.size()));
  f.filter.push_back({0, 0, 1});
  f.result.back().back() = 1;
  return f;
}

double WinogradTransform::growth() const {
  double most = 0;
  for (const std::vector<double>& row : result) {
    double sum = 0;
    for (size_t i = 0; i < row.size(); ++i) sum += std::abs(row[i]) * sum_of_sizes(filter[i]) * sum_of_sizes(data[i]);
    most = std::max(most, sum);
  }
  return most / kTaps;
}

std::vector<std::byte> at_points(const WinogradTransform& by, std::span<const std::byte> filters, int64_t inner) {
  constexpr size_t kTaps = WinogradTransform::kTaps;
  auto width = static_cast<size_t>(inner), points = static_cast<size_t>(by.points());
  size_t outer = filters.size() / sizeof(float) / kTaps / width;
  std::vector<std::byte> out(outer * points * width * sizeof(float));
  std::vector<float> from(kTaps * width), to(points * width);
  for (size_t o = 0; o < outer; ++o) {
    std::memcpy(from.data(), filters.data() + o * kTaps * width * sizeof(float), kTaps * width * sizeof(float));
    for (size_t p = 0; p < points; ++p)
      for (size_t i = 0; i < width; ++i) {
        double sum = 0;
        for (size_t k = 0; k < kTaps; ++k) sum += by.filter[p][k] * static_cast<double>(from[k * width + i]);
        to[p * width + i] = static_cast<float>(sum);
      }
    std::memcpy(out.data() + o * points * width * sizeof(float), to.data(), points * width * sizeof(float));
  }
  return out;
}

}  // namespace relaxc::schedule
