// angle.cpp: reduces large angles by the runtime's own function, so that folded constants have the same bits.
#include "compiler/arith/angle.h"

#include <bit>
#include <cmath>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#include "runtime-lite/core/reduce_angle.h"
#pragma GCC diagnostic pop

namespace relaxc::arith {

bool is_angle_call(Expr e) {
  const auto* call = e.as<Extern>();
  return call != nullptr && (call->name == kAngleRest || call->name == kAngleQuadrant);
}

void reduce_angles(int32_t count, const double* x, double* rest, double* quadrant) {
  for (int32_t i = 0; i < count; ++i)
    if (std::isfinite(x[i]) && std::fabs(x[i]) >= kLargeAngle)
      rest[i] = rlx_reduce_angle(std::bit_cast<uint64_t>(x[i]), &quadrant[i]);
}

double angle_rest(double x, double rest, double quadrant) {
  reduce_angles(1, &x, &rest, &quadrant);
  return rest;
}

double angle_quadrant(double x, double rest, double quadrant) {
  reduce_angles(1, &x, &rest, &quadrant);
  return quadrant;
}

}  // namespace relaxc::arith
