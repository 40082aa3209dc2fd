// kernel_runs.h: one run of each form of a kernel at one size, and their comparison.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/proof/kernels/check_kernel.h"
#include "compiler/proof/kernels/machine.h"

namespace relaxc::proof {

/// Integers of inputs that are chosen, since subscripts or conditions depend on them: from `least` on, `span` different
/// ones. With `floats`, elements of floats are such numbers, too, and no term is left.
struct ChosenData {
  int64_t least = 0, span = 1;
  bool floats = false;
  uint64_t seed = 0;
};

/// What came of one comparison.
struct RunComparison {
  enum Outcome : uint8_t {
    kEqual,
    kDifferent,
    kNeedsData,   ///< subscripts or conditions depend on data
    kUnsuitable,  ///< the definition itself fails for these sizes or integers
    kUndecided,
  } outcome = kUndecided;
  std::string text;
  int64_t instructions = 0;
};

/// Both forms of a kernel, as code.
class KernelRuns {
 public:
  explicit KernelRuns(const ScheduledKernel& kernel);

  /// The scalar parameters, then the symbols, in order.
  const std::vector<arith::Var>& scalars() const { return scalars_; }
  /// Sums may be rounded otherwise than in the definition.
  bool changes_bits() const { return changes_bits_; }
  /// \param values   of `scalars`
  /// \param chosen   none: all inputs are open
  RunComparison compare(const std::vector<int64_t>& values, const std::optional<ChosenData>& chosen,
                        const KernelCheckOptions& options) const;

 private:
  struct Run;
  /// Of the elements of each parameter; nothing if a dim is negative.
  std::optional<std::vector<int64_t>> counts(const std::vector<int64_t>& values) const;
  int64_t value_of(arith::Var var, const std::vector<int64_t>& values) const;
  /// The memories of all parameters. False: a packed constant is too large.
  bool enter(Algebra& algebra, Run& before, Run& after, const std::vector<int64_t>& sizes,
             const std::optional<ChosenData>& chosen) const;
  static RunComparison early_end(const RunResult& result, bool definition);
  /// The first element that differs; "": none does. Not suitable: the definition leaves it unwritten.
  std::string difference(Algebra& algebra, Run& before, Run& after, const std::vector<int64_t>& values,
                         bool& suitable) const;
  /// Which parameter of the definition takes the place of parameter `i` of the scheduled kernel, and how it is packed.
  const schedule::PackedParam* packed(size_t i) const;

  const ScheduledKernel& kernel_;
  tir::interpreter::Program before_, after_;
  std::vector<tir::BufferRef> params_, scheduled_params_;
  std::vector<arith::Var> scalars_;
  bool exponential_ = false, changes_bits_ = false;
};

}  // namespace relaxc::proof
