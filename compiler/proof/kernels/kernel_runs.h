// kernel_runs.h: runs both forms of a kernel at one size and compares their results.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/proof/kernels/check_kernel.h"
#include "compiler/proof/kernels/machine.h"

namespace relaxc::proof {

/// Integers chosen for inputs, because subscripts or conditions depend on them: random ones out of `span` values from
/// `least` on. With `floats`, elements of float inputs are chosen so, too.
struct ChosenData {
  int64_t least = 0, span = 1;
  bool floats = false;
  uint64_t seed = 0;
};

/// The result of one comparison.
struct RunComparison {
  enum Outcome : uint8_t {
    kEqual,
    kDifferent,
    kNeedsData,   ///< subscripts or conditions depend on data
    kUnsuitable,  ///< the definition itself fails for these sizes or integers
    kOverLimit,   ///< a form takes more instructions than the limit
    kUndecided,
  } outcome = kUndecided;
  std::string text;
  int64_t instructions = 0;
};

/// Both forms of a kernel, compiled to the interpreter's code.
class KernelRuns {
 public:
  using Positions = std::vector<std::vector<int64_t>>;

  /// \param only  positions of the elements to compare, for each buffer parameter; null: all
  explicit KernelRuns(const ScheduledKernel& kernel, const Positions* only = nullptr);

  /// Returns the scalar parameters, then the symbols, in order.
  const std::vector<arith::Var>& scalars() const { return scalars_; }
  /// Returns whether the schedule may round sums differently from the definition.
  bool changes_bits() const { return changes_bits_; }
  /// \param values of `scalars`, in their order
  /// \param chosen if absent, all inputs are symbolic
  /// \param limit  maximum instructions of a form
  RunComparison compare(const std::vector<int64_t>& values, const std::optional<ChosenData>& chosen, int64_t limit,
                        uint64_t seed) const;

 private:
  struct Run;
  /// How both forms run.
  struct Way {
    /// Loops of either form that do not run in batches, by their numbers.
    std::set<int64_t> serial_before = {}, serial_after = {};
    Operands operands = Operands::kAll;
  };
  /// Compares; nothing if both forms have to run again in another way, which `way` then is.
  std::optional<RunComparison> compare(const std::vector<int64_t>& values, const std::optional<ChosenData>& chosen,
                                       int64_t limit, uint64_t seed, Way& way) const;
  /// Compares what both runs, which ended, leave in memory.
  std::optional<RunComparison> compare(Algebra& algebra, Run& before, Run& after, const std::vector<int64_t>& values,
                                       Way& way) const;
  /// Returns the number of elements of each buffer parameter; nothing if a dim is negative.
  std::optional<std::vector<int64_t>> counts(const std::vector<int64_t>& values) const;
  int64_t value_of(arith::Var var, const std::vector<int64_t>& values) const;
  /// Adds the memories of all parameters; returns false if a packed constant is too large.
  bool enter(Algebra& algebra, Run& before, Run& after, const std::vector<int64_t>& sizes,
             const std::optional<ChosenData>& chosen) const;
  static RunComparison early_end(const RunResult& result, bool definition);
  /// Describes the first element that differs; "" if none. `suitable` is false if the definition does not write it.
  std::string difference(Algebra& algebra, Run& before, Run& after, const std::vector<int64_t>& values,
                         bool& suitable) const;
  /// Returns how parameter `i` of the scheduled kernel is packed; null if it is not.
  const schedule::PackedParam* packed(size_t i) const;

  /// Describes how element `k` of parameter `i` differs; "" if it does not.
  std::string difference(Algebra& algebra, Run& before, Run& after, const std::vector<int64_t>& values, size_t i,
                         int64_t k, bool& suitable) const;

  const ScheduledKernel& kernel_;
  const Positions* only_;
  tir::interpreter::Program before_, after_;
  std::vector<tir::BufferRef> params_, scheduled_params_;
  std::vector<arith::Var> scalars_;
  bool exponential_ = false, changes_bits_ = false;
};

}  // namespace relaxc::proof
