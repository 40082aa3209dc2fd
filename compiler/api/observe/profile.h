// profile.h: what a compiled program will do, in numbers: its kernels, and its memory over time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/interface/object.h"
#include "compiler/relax/module.h"
#include "targets/target.h"

namespace relaxc::api {

/// One kernel, over all of its calls.
struct KernelCost {
  std::string name;
  std::vector<std::string> sources;  ///< the nodes or lines that it computes
  int64_t calls = 0;                 ///< by the entry, trips of loops counted where they are known
  double flops = 0, integer_ops = 0, bytes = 0, weight_bytes = 0;  ///< as analysis::Work has them
  double seconds = 0, share = 0;  ///< estimated: the larger of arithmetic and memory traffic at the target's peak
};

/// A tensor in the arena or a pool, from the first to the last step that touches it.
struct MemoryPiece {
  std::string name, source;
  std::string pool;  ///< empty: the arena
  int64_t offset = 0, bytes = 0;
  uint32_t first = 0, last = 0;
};

/// An entry at one choice of its symbols.
struct EntryProfile {
  std::string name;
  std::map<std::string, int64_t> symbols;
  int64_t arena_bytes = 0;
  int64_t bound_bytes = 0;  ///< the largest sum of what is live at one step: no plan of these lifetimes can be below
  std::vector<interface::Pool> pools;  ///< beside the arena; the two numbers above are the arena's
  std::vector<std::string> steps;      ///< kernels and called functions, in order
  std::vector<MemoryPiece> pieces;
  std::vector<KernelCost> kernels;  ///< the slowest first
  double ratio() const { return bound_bytes == 0 ? 1 : double(arena_bytes) / double(bound_bytes); }
};

/// Bodies of host functions after lower_functions, in which memory has no place yet, by name.
using UnplannedBodies = std::map<std::string, tir::Stmt>;
UnplannedBodies unplanned_bodies(const relax::Module& module);

/// What the name of a CPU does not say. A desktop core, unless it was measured: only shares are meant to be read then.
struct CoreSpeed {
  double clock = 2.5e9;  ///< cycles a second
  double memory = 1e10;  ///< bytes a second
};

/// What one core of a target can do at best, as far as its description says.
struct Limits {
  double flops = 0, integer_ops = 0;  ///< a second; of integers by dot products of bytes where the target has any
  double near = 0, memory = 0;  ///< bytes a second: of data that fits the second level of cache, and of other data
  int64_t near_bytes = 0;

  /// Seconds that the arithmetic of these calls takes one core.
  double arithmetic_seconds(const KernelCost& cost) const;
};
Limits limits_of(const Target& target, const CoreSpeed& speed = {});

/// The profile of `entry` with these values of its symbols, in their order.
EntryProfile profile_entry_at(const relax::Module& module, const UnplannedBodies& unplanned,
                              const interface::Entry& entry, const Target& target, const std::vector<int64_t>& symbols);

/// Profiles of `entry` with every symbol at 1, 16, 128 and 512, or near it where bounds or guards refuse that; one for
/// a static program. `module` is what the whole pipeline left.
std::vector<EntryProfile> profile_entry(const relax::Module& module, const UnplannedBodies& unplanned,
                                        const interface::Entry& entry, const Target& target);

/// "head/nms (NonMaxSuppression)", "line 14": a place in the source as a word or two; empty if there is none.
std::string short_location(Location location);

}  // namespace relaxc::api
