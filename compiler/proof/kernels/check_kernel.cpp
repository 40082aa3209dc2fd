// check_kernel.cpp: see check_kernel.h.
//
// Elements of inputs are symbolic: each is a term of its own. If subscripts or conditions depend on integers of an
// input (gathers, scatters, masks), these integers are chosen instead, several times and within what the definition
// accepts; if conditions depend on floats and sums keep their order, all data is chosen.
#include "compiler/proof/kernels/check_kernel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/proof/kernels/kernel_runs.h"
#include "compiler/proof/kernels/sizes.h"
#include "compiler/tir/visit.h"

namespace relaxc::proof {

namespace {

/// Ranges of chosen integers, tried until the definition accepts one.
constexpr ChosenData kChoices[] = {{-2, 6}, {0, 4}, {0, 2}, {0, 1}, {1, 1}};
constexpr uint64_t kSeeds = 3;

bool named(const std::string& name, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words)
    if (name.find(word) != std::string::npos) return true;
  return false;
}

KernelKind kind_of(const tir::PrimFunc& kernel) {
  if (named(kernel.name, {"softmax", "attention"})) return KernelKind::kSoftmax;
  if (named(kernel.name, {"conv"})) return KernelKind::kConvolution;
  if (named(kernel.name, {"matmul", "einsum", "gemm", "dense", "linear"})) return KernelKind::kProduct;
  bool reduces = false;
  tir::for_each_stmt(kernel.body, [&](tir::Stmt s) {
    if (const auto* block = s.as<tir::Block>())
      for (const tir::IterVar& iter : block->iters) reduces = reduces || iter.iter_kind == tir::IterKind::kReduce;
  });
  return reduces ? KernelKind::kReduction : KernelKind::kOther;
}

std::string text_of(const std::vector<arith::Var>& scalars, const std::vector<int64_t>& sizes) {
  std::string text;
  for (size_t i = 0; i < scalars.size(); ++i)
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", scalars[i].name(), sizes[i]);
  return text;
}

class KernelCheck {
 public:
  KernelCheck(const ScheduledKernel& kernel, const KernelCheckOptions& options)
      : kernel_(kernel), options_(options), runs_(kernel) {}

  KernelVerdict run() {
    verdict_.kernel = kernel_.after.name;
    verdict_.kind = kind_of(kernel_.before);
    verdict_.steps = kernel_.after.schedule.steps;
    const std::vector<std::vector<int64_t>> all = sizes_to_check(runs_.scalars(), kernel_.facts);
    for (size_t i = 0; i < all.size() && at(all[i]); ++i)
      if (i > 0 && verdict_.instructions > options_.open_limit) break;
    if (verdict_.answer != KernelAnswer::kRefuted) conclude(all);
    return verdict_;
  }

 private:
  void conclude(const std::vector<std::vector<int64_t>>& all) {
    if (checked_ == 0) {
      verdict_.answer = KernelAnswer::kUndecided;
      verdict_.text = reason_;
    } else if (runs_.scalars().empty() && !chosen_) {
      verdict_.answer = KernelAnswer::kProved;
    } else {
      verdict_.answer = KernelAnswer::kChecked;
      if (!runs_.scalars().empty())
        verdict_.text = fmt::format("at {} of {} sizes, the last {}", checked_, all.size(), last_);
      if (chosen_)
        verdict_.text += fmt::format("{}for {} choices of integers", verdict_.text.empty() ? "" : ", ", kSeeds);
    }
  }

  /// Compares at one size; returns false if further sizes cannot change the verdict.
  bool at(const std::vector<int64_t>& sizes) {
    RunComparison found;
    if (!chosen_) found = runs_.compare(sizes, std::nullopt, options_);
    if (chosen_ || found.outcome == RunComparison::kNeedsData) {
      if (!chosen_) verdict_.instructions += found.instructions;
      found = with_chosen(sizes);
    }
    verdict_.instructions += found.instructions;
    switch (found.outcome) {
      case RunComparison::kEqual:
        ++checked_, last_ = text_of(runs_.scalars(), sizes);
        return true;
      case RunComparison::kDifferent:
        verdict_.answer = KernelAnswer::kRefuted;
        verdict_.text =
            sizes.empty() ? found.text : fmt::format("at {}: {}", text_of(runs_.scalars(), sizes), found.text);
        return false;
      case RunComparison::kUnsuitable:
        reason_ = found.text;
        return true;
      default:
        if (reason_.empty()) reason_ = found.text;
        return false;
    }
  }

  RunComparison with_chosen(const std::vector<int64_t>& sizes) {
    chosen_ = true;
    RunComparison found = with_choices(sizes);
    if (found.outcome == RunComparison::kNeedsData && !floats_ && !runs_.changes_bits()) {
      floats_ = true;
      found = with_choices(sizes);
    }
    if (found.outcome == RunComparison::kNeedsData) found.outcome = RunComparison::kUndecided;
    return found;
  }

  RunComparison with_choices(const std::vector<int64_t>& sizes) {
    RunComparison found;
    int64_t instructions = 0;
    for (ChosenData choice : kChoices) {
      choice.floats = floats_;
      for (choice.seed = 1; choice.seed <= kSeeds; ++choice.seed) {
        found = runs_.compare(sizes, choice, options_);
        instructions += found.instructions;
        if (found.outcome != RunComparison::kEqual) break;
      }
      if (found.outcome != RunComparison::kUnsuitable) break;
    }
    found.instructions = instructions;
    return found;
  }

  const ScheduledKernel& kernel_;
  const KernelCheckOptions& options_;
  const KernelRuns runs_;
  KernelVerdict verdict_;
  bool chosen_ = false, floats_ = false;  ///< integers of inputs are chosen; floats are, too
  size_t checked_ = 0;
  std::string last_, reason_;
};

}  // namespace

std::string_view name_of(KernelKind kind) {
  constexpr std::string_view kNames[] = {"products", "convolutions", "reductions", "softmax", "others"};
  return kNames[static_cast<size_t>(kind)];
}

KernelVerdict check_kernel(const ScheduledKernel& kernel, const KernelCheckOptions& options) {
  return KernelCheck(kernel, options).run();
}

}  // namespace relaxc::proof
