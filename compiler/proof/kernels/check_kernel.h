// check_kernel.h: whether a schedule keeps what a kernel computes: translation validation, kernel by kernel.
//
// Both loop nests, the definition and the scheduled one, run over terms (machine.h), and the terms of all elements that
// either writes are compared. The scheduler's own reasons are not asked. What the run meets on the way is found, too:
// reads of what nothing wrote that reach a result, accesses beyond a buffer, and iterations of a parallel loop that
// meet in one element.
#pragma once

#include <string>
#include <vector>

#include "compiler/arith/facts.h"
#include "compiler/schedule/packing.h"
#include "compiler/tir/prim_func.h"

namespace relaxc::proof {

/// A kernel before and after it was scheduled.
struct ScheduledKernel {
  tir::PrimFunc before, after;
  std::vector<schedule::PackedParam> packed;
  arith::Facts facts;  ///< what is known of its symbols at every call
};

enum class KernelAnswer : uint8_t {
  kProved,   ///< for all data, and there is but one size
  kChecked,  ///< for all data at each of several sizes, or for several choices of the integers that decide subscripts
  kRefuted,  ///< at some size an element differs
  kUndecided,
};

/// The kind by which totals are counted, taken from the kernel's name, else from its axes.
enum class KernelKind : uint8_t { kProduct, kConvolution, kReduction, kSoftmax, kOther };
std::string_view name_of(KernelKind kind);

struct KernelVerdict {
  std::string kernel;
  KernelKind kind = KernelKind::kOther;
  KernelAnswer answer = KernelAnswer::kUndecided;
  std::string text;  ///< at which sizes it was checked, what differs, or why nothing is known
  std::string steps;
  int64_t instructions = 0;  ///< of all runs
};

struct KernelCheckOptions {
  int64_t limit = int64_t{1} << 31;       ///< instructions of one run
  int64_t open_limit = int64_t{1} << 28;  ///< instructions after which a kernel with open dims gets no further size
  uint64_t seed = 0x72656C617863;         ///< of the fields' random points
};

KernelVerdict check_kernel(const ScheduledKernel& kernel, const KernelCheckOptions& options = {});

}  // namespace relaxc::proof
