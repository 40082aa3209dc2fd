// difference.cpp: compares two tensors in one pass.
#include "compiler/driver/tools/difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace relaxc::driver {
namespace {

/// Maps an IEEE float to an integer in the same order: adjacent floats differ by 1, and both zeros give 0.
int64_t in_order(DType dtype, const std::byte* element) {
  uint64_t bits = 0;
  std::memcpy(&bits, element, static_cast<size_t>(dtype.bytes()));
  uint64_t sign = uint64_t{1} << (dtype.bits - 1), magnitude = bits & (sign - 1);
  return (bits & sign) != 0 ? -static_cast<int64_t>(magnitude) : static_cast<int64_t>(magnitude);
}

uint64_t steps_between(DType dtype, const std::byte* a, const std::byte* b) {
  int64_t x = in_order(dtype, a), y = in_order(dtype, b);
  return x > y ? static_cast<uint64_t>(x) - static_cast<uint64_t>(y)
               : static_cast<uint64_t>(y) - static_cast<uint64_t>(x);
}

double distance(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  return std::isfinite(a) && std::isfinite(b) ? std::fabs(a - b) : INFINITY;
}

}  // namespace

std::string shape_text(const std::vector<int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

Difference difference(const relax::HostTensor& actual, const relax::HostTensor& expected, double rtol, double atol) {
  Difference found;
  if (actual.dtype != expected.dtype || actual.shape != expected.shape) {
    found.fault = fmt::format("is {} {}, expected {} {}", to_string(actual.dtype), shape_text(actual.shape),
                              to_string(expected.dtype), shape_text(expected.shape));
    return found;
  }
  found.elements = actual.elements();
  double dot = 0, length_a = 0, length_b = 0, farthest = 1;
  auto size = static_cast<size_t>(actual.dtype.bytes());
  for (int64_t i = 0; i < found.elements; ++i) {
    const std::byte *at_a = actual.bytes.data() + static_cast<size_t>(i) * size,
                    *at_b = expected.bytes.data() + static_cast<size_t>(i) * size;
    double a = relax::decode_scalar(actual.dtype, at_a), b = relax::decode_scalar(actual.dtype, at_b);
    double away = distance(a, b);
    found.max_abs = std::max(found.max_abs, away);
    if (b != 0 && away != 0) found.max_rel = std::max(found.max_rel, away / std::fabs(b));
    if (actual.dtype.is_float() && std::isfinite(away) && away != 0)
      found.max_ulp = std::max(found.max_ulp, steps_between(actual.dtype, at_a, at_b));
    if (std::isfinite(a) && std::isfinite(b)) {
      dot += a * b;
      length_a += a * a;
      length_b += b * b;
    }
    double excess = away == 0 ? 0 : away / (atol + rtol * std::fabs(std::isfinite(b) ? b : 0));
    if (excess <= 1) continue;
    ++found.outside;
    if (found.worst >= 0 && excess <= farthest) continue;
    farthest = excess;
    found.worst = i;
    found.worst_actual = a;
    found.worst_expected = b;
  }
  if (length_a > 0 && length_b > 0) found.cosine = dot / (std::sqrt(length_a) * std::sqrt(length_b));
  return found;
}

}  // namespace relaxc::driver
