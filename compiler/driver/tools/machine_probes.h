// machine_probes.h: loops that each measure one property of a core, for `relaxc tune --machine`.
#pragma once

#include "compiler/tir/builder.h"
#include "targets/target.h"

namespace relaxc::driver {

/// The operation of a loop on each vector.
enum class Probe : uint8_t {
  kFma,         ///< adds products of registers to each of its sums
  kLoad,        ///< adds contiguous elements to its sums
  kLoadAcross,  ///< the same, with each vector across two cache lines
  kStrided,     ///< adds every third element
  kGather,      ///< adds elements at indices from a table
  kStore,       ///< stores contiguous elements
};

struct ProbeShape {
  int64_t sums = 8;      ///< independent sums, in vectors, so that none waits for another
  int64_t elements = 0;  ///< of the memory that a pass accesses; kFma: steps of all sums
  int64_t passes = 1;
};

/// Makes a prim func of `data` (memory_of elements), `places` (int32, as many) and `out` (sums * lanes).
tir::PrimFunc make_probe(arith::Context& context, Probe probe, const ProbeShape& shape, int64_t lanes);
/// Returns the number of elements of `data`.
int64_t memory_of(Probe probe, const ProbeShape& shape, int64_t lanes);
/// Returns the number of vectors that a run processes.
double vectors_of(Probe probe, const ProbeShape& shape, int64_t lanes);

}  // namespace relaxc::driver
