// tune.cpp: chooses schedules by measurement.
//
// The problem: which of several good tiles is fastest depends on caches and ports that no description models
// completely, and a model has dozens of kernels with half a dozen decisions each.
//
// The method: kernels do not affect each other, so one compilation tries another option for every kernel at once, and
// the trace hook times each. A round varies one decision of each kernel, starting from its best known schedule, so
// there are as many rounds as the kernel with the most options has. Times are the minimum over many runs, since other
// load on the machine only adds to them. In the end the winners run against the default schedules in alternation, and
// those that do not win again are dropped.
//
// Tuning does not change results: outputs of every round are compared with those of the default schedules to the bit,
// and a round with other outputs is discarded.
//
// Rejected: a search over all combinations guided by a learned model. Few decisions are left open, since strategies
// decide by structure, and a round costs a compilation.
#include "compiler/driver/tools/tune.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>

#include "compiler/api/output/outputs.h"
#include "compiler/api/schedule_file.h"
#include "compiler/driver/messages.h"
#include "compiler/driver/tools/session.h"
#include "compiler/schedule/strategies/parts/knobs.h"
#include "compiler/support/tell.h"

namespace relaxc::driver {
namespace {

using Clock = std::chrono::steady_clock;
using Overrides = std::map<std::string, std::string>;  ///< from the name of a decision to its option

/// A choice is recorded only if it takes at most this share of the default's time; a smaller gain may be noise.
constexpr double kWorthIt = 0.97;

/// A kernel whose schedule has decisions with several options.
struct Kernel {
  std::string name;
  std::vector<std::pair<std::string, std::string>> untried;  ///< decision and option; the last is tried first
  std::pair<std::string, std::string> trying;
  Overrides best;
  double default_seconds = HUGE_VAL, best_seconds = HUGE_VAL;
};

/// A progress bar; it prints nothing if stderr is not a terminal.
class Bar {
 public:
  void show(double share, const std::string& text) const {
    if (!terminal_) return;
    constexpr size_t kWidth = 30;
    auto full = static_cast<size_t>(std::clamp(share, 0.0, 1.0) * kWidth);
    tell("\r[{}{}] {:<40}", std::string(full, '#'), std::string(kWidth - full, '.'), text);
    std::fflush(stderr);
  }
  void clear() const {
    if (terminal_) tell("\r{:<80}\r", "");
  }

 private:
  bool terminal_ = isatty(STDERR_FILENO) != 0;
};

class Tuner {
 public:
  Tuner(const Options& options, const Tensors& inputs) : options_(options), inputs_(inputs) {
    options_.hooks.trace = true;
    options_.schedules.clear();
  }

  int run() {
    Result<std::string> place =
        record_.add(options_.tool.record);  // fails now if it cannot be written, not after tuning
    if (!place) return complain();
    place_ = *place;
    std::unique_ptr<Session> baseline = compiled({});
    if (baseline == nullptr) return code_;
    learn_decisions();
    auto outputs = baseline->run(inputs_);
    auto first = baseline->time(inputs_, 3, Measure::kKernels);
    if (!outputs || !first) return 1;
    choose_repeat(*first);
    auto timing = baseline->time(inputs_, repeat_, Measure::kKernels);
    if (!timing) return 1;
    note(*timing, [](Kernel& kernel, double seconds) { kernel.default_seconds = kernel.best_seconds = seconds; });
    size_t rounds = 0;
    for (const auto& [key, kernel] : kernels_) rounds = std::max(rounds, kernel.untried.size());
    for (size_t round = 0; round < rounds && fits_budget(round); ++round) {
      progress_.show(elapsed() / options_.tool.budget, fmt::format("round {} of {}", round + 1, rounds));
      if (!try_next(*outputs)) return code_;
    }
    if (!confirm(*baseline, *outputs)) return code_;
    progress_.clear();
    return write();
  }

 private:
  double elapsed() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

  /// Whether another round fits into the budget, if it takes as long as those before on average.
  bool fits_budget(size_t rounds_done) const {
    return elapsed() * (static_cast<double>(rounds_done) + 2) / (static_cast<double>(rounds_done) + 1) <
           options_.tool.budget;
  }

  /// Chooses the number of runs: they take a fiftieth of the budget, but half a second at most.
  void choose_repeat(const Timing& timing) {
    double once = std::max(*std::min_element(timing.seconds.begin(), timing.seconds.end()), 1e-7);
    repeat_ = static_cast<int32_t>(std::clamp(std::min(0.5, options_.tool.budget / 50) / once, 3.0, 100'000.0));
  }

  static std::string text_of(const Overrides& overrides) {
    std::string text;
    for (const auto& [point, option] : overrides) text += (text.empty() ? "" : "; ") + point + ": " + option;
    return text;
  }

  /// Compiles the model with these overrides; null with `code_` set if that fails. Sets `seen_` to the names of kernels
  /// and to the decisions that their schedules have.
  std::unique_ptr<Session> compiled(const std::map<std::string, std::string>& choices) {
    Options compiling = options_;
    seen_.clear();
    std::map<std::string, std::string> keys;  // by kernel name
    compiling.passes.prepare = [&](std::string_view pass, relax::Module& module, PassContext&) -> Status {
      if (pass != "schedule_kernels") return Done{};
      for (tir::PrimFunc* kernel : module.prim_funcs()) {
        std::string key = keys[kernel->name] = kernel_key(*kernel);
        auto found = choices.find(key);
        kernel->schedule.choices = found == choices.end() ? "" : found->second;
      }
      return Done{};
    };
    compiling.passes.observe = [&](std::string_view pass, const relax::Module& module, double) {
      if (pass != "schedule_kernels") return;
      for (const tir::PrimFunc* kernel : module.prim_funcs()) {
        auto key = keys.find(kernel->name);
        const tir::LoopSchedule& done = kernel->schedule;
        if (key == keys.end() || !done.choices || done.steps.empty()) continue;
        seen_[key->second] = {kernel->name, *done.choices};
      }
    };
    auto look = [&](const Artifact& made) { target_ = target_text(made.target); };
    return Session::open(compiling, code_, {}, look);
  }

  void learn_decisions() {
    for (const auto& [key, seen] : seen_) {
      Kernel kernel;
      kernel.name = seen.name;
      for (const schedule::Decision& decision : schedule::read_decisions(seen.choices))
        for (size_t i = decision.options.size(); i-- > 1;)
          kernel.untried.emplace_back(decision.point, decision.options[i]);
      std::reverse(kernel.untried.begin(), kernel.untried.end());
      if (!kernel.untried.empty()) kernels_.emplace(key, std::move(kernel));
    }
  }

  /// Calls `f` with each kernel and the shortest time that its calls took in one run.
  template <typename F>
  void note(const Timing& timing, F f) {
    for (auto& [key, kernel] : kernels_)
      for (const KernelTime& time : timing.kernels)
        if (time.name == kernel.name) f(kernel, time.least);
  }

  static bool same(const std::vector<relax::HostTensor>& a, const std::vector<relax::HostTensor>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const auto& x, const auto& y) { return x.shape == y.shape && x.bytes == y.bytes; });
  }

  /// Runs one round: tries another option of every kernel that has one left. Returns false on an error.
  bool try_next(const std::vector<relax::HostTensor>& expected) {
    std::map<std::string, std::string> choices;
    for (auto& [key, kernel] : kernels_) {
      Overrides overrides = kernel.best;
      kernel.trying = {};
      if (!kernel.untried.empty()) {
        kernel.trying = kernel.untried.back();
        kernel.untried.pop_back();
        overrides[kernel.trying.first] = kernel.trying.second;
      }
      choices[key] = text_of(overrides);
    }
    std::unique_ptr<Session> session = compiled(choices);
    if (session == nullptr) return false;
    auto outputs = session->run(inputs_);
    auto timing = session->time(inputs_, repeat_, Measure::kKernels);
    if (!outputs || !timing) return code_ = 1, false;
    if (!same(*outputs, expected)) {
      tell("relaxc: note: a round gave other bits than the default schedules and is not counted\n");
      return true;
    }
    note(*timing, [](Kernel& kernel, double seconds) {
      if (kernel.trying.first.empty() || seconds >= kernel.best_seconds * kWorthIt) return;
      kernel.best_seconds = seconds;
      kernel.best[kernel.trying.first] = kernel.trying.second;
    });
    return true;
  }

  /// Measures the best choices and the default schedules alternately, and drops choices that are not faster.
  bool confirm(Session& baseline, const std::vector<relax::HostTensor>& expected) {
    std::map<std::string, std::string> choices;
    for (const auto& [key, kernel] : kernels_)
      if (!kernel.best.empty()) choices[key] = text_of(kernel.best);
    if (choices.empty()) return true;
    progress_.show(1, "the best against the default");
    std::unique_ptr<Session> best = compiled(choices);
    if (best == nullptr) return false;
    for (auto& [key, kernel] : kernels_) kernel.default_seconds = kernel.best_seconds = HUGE_VAL;
    auto outputs = best->run(inputs_);
    for (int turn = 0; turn < 3 && outputs; ++turn) {
      auto a = baseline.time(inputs_, repeat_, Measure::kKernels), b = best->time(inputs_, repeat_, Measure::kKernels);
      if (!a || !b) return code_ = 1, false;
      note(*a,
           [](Kernel& kernel, double seconds) { kernel.default_seconds = std::min(kernel.default_seconds, seconds); });
      note(*b, [](Kernel& kernel, double seconds) { kernel.best_seconds = std::min(kernel.best_seconds, seconds); });
    }
    if (!outputs) return code_ = 1, false;
    bool right = same(*outputs, expected);
    for (auto& [key, kernel] : kernels_)
      if (!right || !(kernel.best_seconds < kernel.default_seconds * kWorthIt)) kernel.best.clear();
    return true;
  }

  int write() {
    ScheduleFile file{target_, {}};
    for (const auto& [key, kernel] : kernels_) {
      if (kernel.best.empty()) continue;
      KernelSchedule& faster = file.kernels.emplace_back();
      faster.name = kernel.name, faster.key = key, faster.choices = text_of(kernel.best);
      faster.comment =
          fmt::format("{:.2f} us instead of {:.2f}", 1e6 * kernel.best_seconds, 1e6 * kernel.default_seconds);
      fmt::print("{:>10.2f} us instead of {:>10.2f}  {}: {}\n", 1e6 * kernel.best_seconds, 1e6 * kernel.default_seconds,
                 kernel.name, text_of(kernel.best));
    }
    fmt::print("{} of {} kernels with choices are faster with another one\n", file.kernels.size(), kernels_.size());
    std::ofstream out(place_, std::ios::binary);
    out << schedule_file_text(file);
    out.close();
    if (out && record_.commit()) return 0;
    if (!out) diag_.error(nullptr, Kind::io, "cannot write {}", options_.tool.record);
    return complain();
  }

  struct Seen {
    std::string name, choices;
  };
  int complain() {
    print_diagnostics(diag_, options_, {});
    return exit_code(diag_, options_);
  }

  Options options_;
  const Tensors& inputs_;
  Diagnostics diag_;
  Outputs record_{diag_};
  std::string place_;                      ///< the temporary path of the record until it is committed
  std::map<std::string, Kernel> kernels_;  ///< by key, which gives a fixed order for a model
  std::map<std::string, Seen> seen_;
  std::string target_;
  Bar progress_;
  Clock::time_point begin_ = Clock::now();
  int32_t repeat_ = 3;
  int code_ = 0;
};

}  // namespace

int tune(const Options& options, const Tensors& inputs) {
  return Tuner(options, inputs).run();
}

}  // namespace relaxc::driver
