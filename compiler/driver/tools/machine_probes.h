// machine_probes.h: loops that show one property of a core each, for `relaxc tune --machine`.
#pragma once

#include "compiler/tir/builder.h"
#include "targets/target.h"

namespace relaxc::driver {

/// What a loop does with each vector that it goes over.
enum class Probe : uint8_t {
  kFma,         ///< adds products of what is in registers to each of its sums
  kLoad,        ///< adds neighbours to its sums
  kLoadAcross,  ///< the same, each vector across two lines of cache
  kStrided,     ///< adds every third element
  kGather,      ///< adds elements that a table of places names
  kStore,       ///< writes neighbours
};

struct ProbeShape {
  int64_t sums = 8;      ///< vectors that are summed apart, so that none waits for another
  int64_t elements = 0;  ///< of the memory that a pass goes over; kFma: steps of all sums
  int64_t passes = 1;
};

/// A prim func of `data` (elements, as many as memory_of says), `places` (int32, as many) and `out` (sums * lanes).
tir::PrimFunc make_probe(arith::Context& context, Probe probe, const ProbeShape& shape, int64_t lanes);
/// Elements that `data` must have.
int64_t memory_of(Probe probe, const ProbeShape& shape, int64_t lanes);
/// Vectors that a run goes over.
double vectors_of(Probe probe, const ProbeShape& shape, int64_t lanes);

}  // namespace relaxc::driver
