// congruence.h: arithmetic on sets r + m * Z, the divisibility half of what is known of a value; internal to arith.
//
// Modulus 0 is the single number r, so constants need no case of their own: gcd(0, m) is m.
#pragma once

#include <optional>

#include "compiler/arith/facts.h"

namespace relaxc::arith {

// Each result holds every sum, product, … of one member of `a` and one of `b`; what does not fit int64 is forgotten.
Congruence add(Congruence a, Congruence b);
Congruence multiply(Congruence a, Congruence b);
/// a // c, c > 0.
Congruence floor_divide(Congruence a, int64_t c);
/// The smallest set that holds both.
Congruence hull(Congruence a, Congruence b);
/// What is in both; nothing if that is empty. May be larger than the true intersection where that does not fit int64.
std::optional<Congruence> intersect(Congruence a, Congruence b);
bool contains(Congruence set, int64_t value);
/// The greatest number that divides every member; 0 if the only member is 0.
int64_t divisor(Congruence set);
/// `range` without the ends that are not members; lower > upper if no member is left.
Range tighten(Range range, Congruence set);

}  // namespace relaxc::arith
