// check_kernel.h: translation validation of schedules, kernel by kernel.
//
// Both loop nests, the definition and the scheduled one, run over terms (machine.h), and the terms of all elements that
// either of them writes are compared. The scheduler's own proofs are not used. The runs also find reads of unwritten
// memory that reach a result, accesses beyond a buffer, and iterations of a parallel loop that access one element of
// which one writes it.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "compiler/arith/facts.h"
#include "compiler/schedule/packing.h"
#include "compiler/tir/prim_func.h"

namespace relaxc::proof {

/// A kernel before and after scheduling.
struct ScheduledKernel {
  tir::PrimFunc before, after;
  std::vector<schedule::PackedParam> packed;
  arith::Facts facts;  ///< facts about its symbols that hold at every call
};

enum class KernelAnswer : uint8_t {
  kProved,   ///< equal for all data, at its only size
  kChecked,  ///< equal for all data at each of several sizes, or for several choices of integers that decide subscripts
  kCheckedInPart,  ///< too large to run whole; equal for all data in a few elements of the results, at sizes up to 8
  kRefuted,        ///< an element differs at some size
  kUndecided,
};

/// The kind for totals, taken from the kernel's name or else from its axes.
enum class KernelKind : uint8_t { kProduct, kConvolution, kReduction, kSoftmax, kOther };
std::string_view name_of(KernelKind kind);

struct KernelVerdict {
  std::string kernel;
  KernelKind kind = KernelKind::kOther;
  KernelAnswer answer = KernelAnswer::kUndecided;
  std::string text;  ///< the sizes that were checked, what differs, or why it is undecided
  std::string steps;
  int64_t instructions = 0;  ///< executed by all runs
};

struct KernelCheckOptions {
  int64_t limit = int64_t{1} << 31;       ///< maximum instructions of one run
  int64_t open_limit = int64_t{1} << 27;  ///< a kernel with open dims gets no further size after this many instructions
  int64_t part_limit = int64_t{1} << 31;  ///< maximum instructions of one run of a part of a kernel
  uint32_t parts = 4;                     ///< maximum parts that are checked at one size, within `open_limit`
  uint64_t seed = 0x72656C617863;         ///< seed of the fields' random points
};

KernelVerdict check_kernel(const ScheduledKernel& kernel, const KernelCheckOptions& options = {});

/// Checks kernels on up to `jobs` threads. `done` gets each verdict in the order of the kernels, as soon as it and
/// those before it are there, from one thread at a time.
std::vector<KernelVerdict> check_kernels(std::span<const ScheduledKernel> kernels, int jobs,
                                         const std::function<void(const KernelVerdict&)>& done);

}  // namespace relaxc::proof
