// congruence.h: arithmetic on sets r + m * Z, which express divisibility; internal to arith.
//
// Modulus 0 is the single number r, so constants need no special case: gcd(0, m) is m.
#pragma once

#include <optional>

#include "compiler/arith/facts.h"

namespace relaxc::arith {

// Each result contains every sum, product, … of a member of `a` and a member of `b`; it is larger if int64 overflows.
Congruence add(Congruence a, Congruence b);
Congruence multiply(Congruence a, Congruence b);
/// Returns a // c, for c > 0.
Congruence floor_divide(Congruence a, int64_t c);
/// Returns the smallest set that contains both.
Congruence hull(Congruence a, Congruence b);
/// Returns the intersection, or a larger set if it does not fit int64; nullopt if it is empty.
std::optional<Congruence> intersect(Congruence a, Congruence b);
bool contains(Congruence set, int64_t value);
/// Returns the greatest number that divides every member; 0 if the only member is 0.
int64_t divisor(Congruence set);
/// Returns the smallest range with all members in `range`; lower > upper if there is none.
Range tighten(Range range, Congruence set);

}  // namespace relaxc::arith
