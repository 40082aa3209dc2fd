// profile.h: estimates of a compiled program: the cost of its kernels, and its memory over time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/interface/object.h"
#include "compiler/relax/module.h"
#include "targets/target.h"

namespace relaxc::api {

/// The cost of one kernel over all of its calls.
struct KernelCost {
  std::string name;
  std::vector<std::string> sources;  ///< the nodes or lines of the source that it computes
  int64_t calls = 0;                 ///< in the entry, with trip counts where known
  double flops = 0, integer_ops = 0, bytes = 0, weight_bytes = 0;  ///< as in analysis::Work
  double seconds = 0, share = 0;  ///< estimated: the larger of arithmetic and memory traffic at the target's peak
  double measured_seconds = 0;    ///< of all calls in a run, on average; 0 where EntryProfile::measured has no runs
};

/// Runs in which the kernels of a profile were timed.
struct MeasuredRuns {
  int64_t count = 0;  ///< 0: nothing was measured
  int32_t threads = 1;
  double seconds = 0;  ///< of a run, on average
};

/// A tensor in the arena or a pool, with the first and the last step that accesses it.
struct MemoryPiece {
  std::string name;    ///< the value's, or if it has none, that of the kernel which writes it
  std::string source;  ///< the node or line that it comes from
  std::string pool;    ///< empty for the arena
  int64_t offset = 0, bytes = 0;
  uint32_t first = 0, last = 0;
};

/// The profile of an entry for given values of its symbols.
struct EntryProfile {
  std::string name;
  std::map<std::string, int64_t> symbols;
  int64_t arena_bytes = 0;
  /// Largest sum of live bytes at one step: a lower bound for all plans in which no two tensors overlap.
  int64_t bound_bytes = 0;
  std::vector<interface::Pool> pools;  ///< in addition to the arena; the numbers above are the arena's
  std::vector<std::string> steps;      ///< kernels and called functions, in order
  std::vector<MemoryPiece> pieces;
  std::vector<KernelCost> kernels;  ///< slowest first
  MeasuredRuns measured;
  double ratio() const { return bound_bytes == 0 ? 1 : double(arena_bytes) / double(bound_bytes); }
};

/// Bodies of host functions after lower_functions, before memory is planned, by name.
using UnplannedBodies = std::map<std::string, tir::Stmt>;
UnplannedBodies unplanned_bodies(const relax::Module& module);

/// Speeds that a CPU's name does not tell. The default is a desktop core: then only shares are meaningful.
struct CoreSpeed {
  double clock = 2.5e9;  ///< cycles per second
  double memory = 1e10;  ///< bytes per second
};

/// Peak rates of one core of a target, as far as its description says.
struct Limits {
  double flops = 0, integer_ops = 0;  ///< per second; integers by dot products of bytes if the target has them
  double near = 0, memory = 0;  ///< bytes per second of data that fits the second level of cache, and of other data
  int64_t near_bytes = 0;

  /// Returns the seconds of one core for the arithmetic of these calls.
  double arithmetic_seconds(const KernelCost& cost) const;
};
Limits limits_of(const Target& target, const CoreSpeed& speed = {});

/// Returns the profile of `entry` with these values of its symbols, in order.
EntryProfile profile_entry_at(const relax::Module& module, const UnplannedBodies& unplanned,
                              const interface::Entry& entry, const Target& target, const std::vector<int64_t>& symbols);

/// Returns the profiles of `entry` with every symbol at 1, 16, 128 and 512, or near it if bounds or guards refuse that;
/// one for a static program. `module` must be the result of the whole pipeline.
std::vector<EntryProfile> profile_entry(const relax::Module& module, const UnplannedBodies& unplanned,
                                        const interface::Entry& entry, const Target& target);

/// Returns a short text for a location: "head/nms (NonMaxSuppression)", "line 14"; empty if it is null.
std::string short_location(Location location);

}  // namespace relaxc::api
