// congruence.cpp: sums, products, quotients, joins and meets of residue classes.
//
// Intermediate values have 128 bits. A modulus that exceeds int64 may be replaced by any of its divisors; the last
// resort is modulus 1, which contains all integers.
#include "compiler/arith/congruence.h"

#include <numeric>

#include "compiler/arith/range.h"

namespace relaxc::arith {
namespace {

using Wide = __int128;

bool fits(Wide value) {
  return value > INT64_MIN && value <= INT64_MAX;
}

Wide gcd(Wide a, Wide b) {
  a = a < 0 ? -a : a, b = b < 0 ? -b : b;
  while (b != 0) {
    Wide rest = a % b;
    a = b, b = rest;
  }
  return a;
}

Congruence normal(Wide modulus, Wide remainder) {
  if (modulus == 0) return fits(remainder) ? Congruence{0, static_cast<int64_t>(remainder)} : Congruence{};
  // A large modulus is halved until it fits: a power of two divides it most often, and stays useful.
  while (!fits(modulus)) modulus = modulus % 2 == 0 ? modulus / 2 : 1;
  Wide rest = remainder % modulus;
  return {static_cast<int64_t>(modulus), static_cast<int64_t>(rest < 0 ? rest + modulus : rest)};
}

}  // namespace

Congruence add(Congruence a, Congruence b) {
  return normal(std::gcd(a.modulus, b.modulus), Wide(a.remainder) + b.remainder);
}

Congruence multiply(Congruence a, Congruence b) {
  // (m*i + r) * (k*j + s) = r*s + m*k*ij + m*s*i + k*r*j
  Wide modulus = gcd(gcd(Wide(a.modulus) * b.modulus, Wide(a.modulus) * b.remainder), Wide(b.modulus) * a.remainder);
  return normal(modulus, Wide(a.remainder) * b.remainder);
}

Congruence floor_divide(Congruence a, int64_t c) {
  if (a.modulus % c != 0) return {};
  return normal(a.modulus / c, floor_divide(a.remainder, c));
}

Congruence hull(Congruence a, Congruence b) {
  return normal(gcd(std::gcd(a.modulus, b.modulus), Wide(a.remainder) - b.remainder), a.remainder);
}

std::optional<Congruence> intersect(Congruence a, Congruence b) {
  if (a.modulus == 0) return contains(b, a.remainder) ? std::optional(a) : std::nullopt;
  if (b.modulus == 0) return contains(a, b.remainder) ? std::optional(b) : std::nullopt;
  int64_t common = std::gcd(a.modulus, b.modulus);
  if ((Wide(a.remainder) - b.remainder) % common != 0) return std::nullopt;
  Wide both = Wide(a.modulus / common) * b.modulus;
  if (!fits(both)) return a.modulus > b.modulus ? a : b;
  // Chinese remainder theorem: from a's remainder, take as many steps of its modulus as the inverse says.
  Wide step = a.modulus / common, cycle = b.modulus / common, x = 1, next_x = 0, r = step % cycle, next_r = cycle;
  while (next_r != 0) {  // extended Euclid: x * step = r (mod cycle)
    Wide quotient = r / next_r, old = next_r;
    next_r = r - quotient * next_r, r = old;
    old = next_x, next_x = x - quotient * next_x, x = old;
  }
  Wide times = (Wide(b.remainder) - a.remainder) / common % cycle * (x % cycle) % cycle;
  return normal(both, a.remainder + times * a.modulus);
}

bool contains(Congruence set, int64_t value) {
  return set.modulus == 0 ? value == set.remainder : (Wide(value) - set.remainder) % set.modulus == 0;
}

int64_t divisor(Congruence set) {
  return std::gcd(set.modulus, set.remainder);
}

Range tighten(Range range, Congruence set) {
  if (set.modulus == 0) return intersect(range, Range::exactly(set.remainder));
  auto beyond = [&](Wide distance) { return ((distance % set.modulus) + set.modulus) % set.modulus; };
  Wide lower = range.lower + (range.has_lower() ? beyond(Wide(set.remainder) - range.lower) : 0);
  Wide upper = range.upper - (range.has_upper() ? beyond(Wide(range.upper) - set.remainder) : 0);
  if (lower > upper) return {1, 0};
  return {static_cast<int64_t>(lower), static_cast<int64_t>(upper)};
}

}  // namespace relaxc::arith
