// check_kernel.cpp: see check_kernel.h.
//
// Elements of inputs are symbolic: each is a term of its own. If subscripts or conditions depend on integers of an
// input (gathers, scatters, masks), these integers are chosen instead, several times and within what the definition
// accepts; if conditions depend on floats and sums keep their order, all data is chosen.
#include "compiler/proof/kernels/check_kernel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include "compiler/proof/kernels/kernel_runs.h"
#include "compiler/proof/kernels/part.h"
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
  /// \param making  held while expressions are made, which all kernels have in one place; may be null
  KernelCheck(const ScheduledKernel& kernel, const KernelCheckOptions& options, std::mutex* making)
      : kernel_(kernel),
        options_(options),
        making_(making),
        whole_(kernel),
        all_(sizes_to_check(whole_.scalars(), kernel.facts)) {}

  KernelVerdict run() {
    verdict_.kernel = kernel_.after.name;
    verdict_.kind = kind_of(kernel_.before);
    verdict_.steps = kernel_.after.schedule.steps;
    for (size_t i = 0; i < all_.size() && at(all_[i]); ++i)
      if (i > 0 && verdict_.instructions > options_.open_limit) break;
    if (checked_ == 0 && over_limit_) check_part();
    if (verdict_.answer != KernelAnswer::kRefuted) conclude();
    return verdict_;
  }

 private:
  /// Compares a few elements of the results, at small sizes; and others, until enough instructions have run.
  void check_part() {
    in_part_ = true, limit_ = options_.part_limit;
    all_ = small_sizes(whole_.scalars(), kernel_.facts);
    const int64_t before = verdict_.instructions;
    for (part_ = 0; part_ < options_.parts; ++part_)
      for (const std::vector<int64_t>& sizes : all_)
        if (!at_part(sizes) || verdict_.instructions - before > options_.open_limit) return;
  }

  bool at_part(const std::vector<int64_t>& sizes) {
    std::unique_lock<std::mutex> lock;
    if (making_ != nullptr) lock = std::unique_lock(*making_);
    const std::optional<KernelPart> part = part_of(kernel_, whole_.scalars(), sizes, part_);
    if (!part) return false;
    const KernelRuns runs(part->kernel, &part->elements);
    if (lock.owns_lock()) lock.unlock();
    runs_ = &runs;
    const bool goes_on = at(sizes);
    runs_ = &whole_;
    return goes_on;
  }

  void conclude() {
    if (checked_ == 0) {
      verdict_.answer = KernelAnswer::kUndecided;
      verdict_.text = reason_;
    } else if (!in_part_ && whole_.scalars().empty() && !chosen_) {
      verdict_.answer = KernelAnswer::kProved;
    } else {
      verdict_.answer = in_part_ ? KernelAnswer::kCheckedInPart : KernelAnswer::kChecked;
      if (!whole_.scalars().empty())
        verdict_.text = fmt::format("at {} of {} sizes, the last {}", checked_, all_.size(), last_);
      if (chosen_)
        verdict_.text += fmt::format("{}for {} choices of integers", verdict_.text.empty() ? "" : ", ", kSeeds);
      if (in_part_) verdict_.text += fmt::format("{}at most 8 indices of each dim", verdict_.text.empty() ? "" : ", ");
      if (further_parts_ != 0) verdict_.text += fmt::format(" and {} times others", further_parts_);
    }
  }

  /// Compares at one size; returns false if further sizes cannot change the verdict.
  bool at(const std::vector<int64_t>& sizes) {
    RunComparison found;
    if (!chosen_) found = runs_->compare(sizes, std::nullopt, limit_, options_.seed);
    if (chosen_ || found.outcome == RunComparison::kNeedsData) {
      if (!chosen_) verdict_.instructions += found.instructions;
      found = with_chosen(sizes);
    }
    verdict_.instructions += found.instructions;
    switch (found.outcome) {
      case RunComparison::kEqual:
        if (part_ == 0)
          ++checked_, last_ = text_of(whole_.scalars(), sizes);
        else
          ++further_parts_;
        return true;
      case RunComparison::kDifferent:
        verdict_.answer = KernelAnswer::kRefuted;
        verdict_.text =
            sizes.empty() ? found.text : fmt::format("at {}: {}", text_of(whole_.scalars(), sizes), found.text);
        return false;
      case RunComparison::kUnsuitable:
        note_reason(found.text);
        return true;
      default:
        over_limit_ = over_limit_ || found.outcome == RunComparison::kOverLimit;
        if (reason_.empty() || in_part_) note_reason(found.text);
        return false;
    }
  }

  void note_reason(const std::string& text) {
    reason_ = in_part_ ? fmt::format("{}; a part of it: {}", kOverLimitText, text) : text;
  }

  RunComparison with_chosen(const std::vector<int64_t>& sizes) {
    chosen_ = true;
    RunComparison found = with_choices(sizes);
    if (found.outcome == RunComparison::kNeedsData && !floats_ && !runs_->changes_bits()) {
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
        found = runs_->compare(sizes, choice, limit_, options_.seed);
        instructions += found.instructions;
        if (found.outcome != RunComparison::kEqual) break;
      }
      if (found.outcome != RunComparison::kUnsuitable) break;
    }
    found.instructions = instructions;
    return found;
  }

  const ScheduledKernel& kernel_;
  const KernelCheckOptions options_;
  std::mutex* const making_;
  const KernelRuns whole_;
  const KernelRuns* runs_ = &whole_;       ///< those of the kernel or of a part of it
  int64_t limit_ = options_.limit;         ///< maximum instructions of a form
  std::vector<std::vector<int64_t>> all_;  ///< the sizes to check
  KernelVerdict verdict_;
  bool chosen_ = false, floats_ = false;  ///< integers of inputs are chosen; floats are, too
  bool over_limit_ = false;               ///< the kernel is too large at a size
  bool in_part_ = false;                  ///< only a part of it is checked
  uint32_t part_ = 0;                     ///< the number of the part
  size_t checked_ = 0;                    ///< sizes at which both forms were equal, in the first part of it
  size_t further_parts_ = 0;              ///< equal in further parts, one for each size
  std::string last_, reason_;
};

/// Kernels that threads take one by one.
class KernelChecks {
 public:
  KernelChecks(std::span<const ScheduledKernel> kernels, const std::function<void(const KernelVerdict&)>& done)
      : kernels_(kernels), done_(done), verdicts_(kernels.size()), is_checked_(kernels.size(), false) {}

  std::vector<KernelVerdict> run(int jobs) {
    std::vector<std::jthread> others;
    try {
      for (int i = 1; i < jobs && static_cast<size_t>(i) < kernels_.size(); ++i)
        others.emplace_back([this] { work(); });
    } catch (const std::system_error&) {  // the system has no more threads: go on with those that there are
    }
    work();
    others.clear();
    if (failed_) std::rethrow_exception(failed_);
    return std::move(verdicts_);
  }

 private:
  void work() {
    try {
      while (const std::optional<size_t> i = check_next()) report(*i);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failed_) failed_ = std::current_exception();
    }
  }

  std::optional<size_t> check_next() {
    std::unique_lock lock(mutex_);
    if (failed_ || next_ == kernels_.size()) return std::nullopt;
    const size_t i = next_++;
    // Compiling a kernel makes expressions; running it makes none.
    const auto check = std::make_unique<KernelCheck>(kernels_[i], KernelCheckOptions(), &mutex_);
    lock.unlock();
    verdicts_[i] = check->run();
    return i;
  }

  void report(size_t i) {
    const std::lock_guard lock(mutex_);
    is_checked_[i] = true;
    for (; reported_ < kernels_.size() && is_checked_[reported_]; ++reported_) done_(verdicts_[reported_]);
  }

  std::span<const ScheduledKernel> kernels_;
  const std::function<void(const KernelVerdict&)>& done_;
  std::mutex mutex_;  ///< guards what follows; of `verdicts_`, those that are checked
  std::vector<KernelVerdict> verdicts_;
  std::vector<bool> is_checked_;
  size_t next_ = 0, reported_ = 0;
  std::exception_ptr failed_;
};

}  // namespace

std::string_view name_of(KernelKind kind) {
  constexpr std::string_view kNames[] = {"products", "convolutions", "reductions", "softmax", "others"};
  return kNames[static_cast<size_t>(kind)];
}

KernelVerdict check_kernel(const ScheduledKernel& kernel, const KernelCheckOptions& options) {
  return KernelCheck(kernel, options, nullptr).run();
}

std::vector<KernelVerdict> check_kernels(std::span<const ScheduledKernel> kernels, int jobs,
                                         const std::function<void(const KernelVerdict&)>& done) {
  return KernelChecks(kernels, done).run(jobs);
}

}  // namespace relaxc::proof
