// tune_machine.cpp: measures numbers of a machine that no description has.
//
// Cache sizes are read from the system (on Linux from files). Everything else is the time of a loop that does one thing
// (machine_probes.h), in cycles of a clock that is measured as well. The minimum of several times counts, since other
// load on the machine only adds to them. A number that cannot be measured, or that is outside of the range that the
// model allows, is left out of the file.
//
// Rejected: cache sizes by the time of loads. Prefetchers blur the steps, and where the system says nothing (macOS,
// containers without /sys) the default numbers are as good as a guess.
#include "compiler/driver/tools/tune_machine.h"

#include <fmt/format.h>
#include <relax_rt_hosted.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "compiler/api/output/outputs.h"
#include "compiler/codegen/llvm/jit.h"
#include "compiler/codegen/llvm/target.h"
#include "compiler/driver/messages.h"
#include "compiler/driver/tools/core_speed.h"
#include "compiler/driver/tools/machine_probes.h"
#include "targets/host_caches.h"

namespace relaxc::driver {
namespace {

constexpr double kLeastSeconds = 1e-2;  ///< least time of a probe, so that fetching its code does not matter
constexpr int kTries = 7, kMostLonger = 8;
constexpr int64_t kNear = 1024;     ///< elements, 4 KB: these stay in the L1 of any machine
constexpr int64_t kFar = 16 << 20;  ///< elements, 64 MB: more than one core's share of the last cache on most machines

/// Runs probes on one core.
class Core {
 public:
  explicit Core(const Target& target)
      : target_(target), lanes_(std::max(1, target.lanes(32))), jit_(codegen_llvm::make_jit(target)) {}

  int64_t lanes() const { return lanes_; }
  double clock() const { return speed_.clock; }
  int64_t vector_bytes() const { return lanes_ * 4; }

  /// Measures the cycles that a probe takes for each vector.
  double cycles(Probe probe, int64_t elements, int64_t sums) {
    ProbeShape shape{.sums = sums, .elements = elements, .passes = 1};
    const int64_t step = sums * lanes_;
    if (probe != Probe::kFma) shape.elements = std::max(elements / step * step, step);
    // The first passes are not representative: fetching the code of a probe takes longer than they do.
    double once = run(probe, shape, 1);
    for (int longer = 0; once < kLeastSeconds && longer < kMostLonger; ++longer) {
      shape.passes *= static_cast<int64_t>(std::clamp(1.2 * kLeastSeconds / once, 2.0, 1000.0));
      once = run(probe, shape, 1);
    }
    once = std::min(once, run(probe, shape, kTries));
    return once * speed_.clock / vectors_of(probe, shape, lanes_);
  }

 private:
  double run(Probe probe, const ProbeShape& shape, int tries) {
    const tir::PrimFunc function = make_probe(context_, probe, shape, lanes_);
    const auto elements = static_cast<size_t>(memory_of(probe, shape, lanes_));
    if (data_.size() < elements) data_.assign(elements, 0.0F), places_.assign(elements, 0);
    for (size_t i = 0; i < elements; ++i)  // each one is on another cache line than the one before
      places_[i] = static_cast<int32_t>(i * 17 % elements);
    std::vector<float> out(static_cast<size_t>(shape.sums * lanes_), 0.0F);
    const std::vector<void*> buffers{data_.data(), places_.data(), out.data()};
    double best = HUGE_VAL;
    for (int i = 0; i < tries + 1; ++i) best = std::min(best, seconds_of([&] { jit_->run(function, buffers, {}); }));
    return best;
  }

  const Target target_;
  const int64_t lanes_;
  CoreSpeed speed_ = measured_speed();
  arith::Context context_;
  std::unique_ptr<tir::Evaluator> jit_;
  std::vector<float> data_;
  std::vector<int32_t> places_;
};

/// Measured numbers, each with the field of the machine model that it sets.
using Found = std::vector<std::pair<const ModelField*, double>>;

class MachineTuner {
 public:
  MachineTuner(const Options& options, const Target& target) : options_(options), target_(target), core_(target) {}

  int run() {
    Result<std::string> place = record_.add(options_.tool.record);  // fails early if it cannot be written
    if (!place) return complain();
    ask_system();
    measure_arithmetic();
    measure_memory();
    measure_tasks();
    return write(*place);
  }

 private:
  /// Records a number in the precision of the field; values outside of the field's range are dropped.
  void say(std::string_view name, double value) {
    const ModelField* field = find_model_field(name);
    RELAXC_CHECK(field != nullptr, "a number of no machine: " + std::string(name));
    value = field->is_whole() ? std::round(value) : std::round(value * 1000) / 1000;
    const bool fits = std::isfinite(value) && value >= field->least && value <= field->most;
    const auto whole = static_cast<uint64_t>(fits ? value : 0);
    if (fits && (!field->power_of_two || std::has_single_bit(whole))) found_.emplace_back(field, value);
  }

  void ask_system() {
    if (const auto l1 = host_cache(1)) {
      say("l1_bytes", static_cast<double>(l1->bytes));
      if (l1->ways > 0) say("l1_ways", static_cast<double>(l1->ways));
      if (l1->line_bytes > 0) say("line_bytes", static_cast<double>(l1->line_bytes));
      if (l1->ways > 0) say("l1_period_bytes", static_cast<double>(l1->bytes / l1->ways));
    }
    if (const auto l2 = host_cache(2)) say("l2_bytes", static_cast<double>(l2->bytes));
    if (const long page = sysconf(_SC_PAGESIZE); page > 0) say("page_bytes", static_cast<double>(page));
  }

  void measure_arithmetic() {
    constexpr int64_t kSteps = 4096, kSums = 10;  // as many sums as fit into 16 registers with two operands
    if (target_.has_fma) {
      say("fma_latency", core_.cycles(Probe::kFma, kSteps, 1));
      say("fma_per_cycle", 1 / core_.cycles(Probe::kFma, kSteps, kSums));
    }
    const double load = core_.cycles(Probe::kLoad, kNear, kLoads);
    say("loads_per_cycle", 1 / load);
    say("strided_load_steps", core_.cycles(Probe::kStrided, kNear, kLoads) / load);
    say("gather_steps", core_.cycles(Probe::kGather, kNear, kLoads) / load);
    const double across = core_.cycles(Probe::kLoadAcross, kNear, kLoads);
    say("split_line_steps", std::max(0.0, across - load) / std::max(load, 1.0));
  }

  void measure_memory() {
    const auto elements = [](double bytes) { return static_cast<int64_t>(bytes / 4); };
    MachineModel model;
    for (const auto& [field, value] : found_) field->set(model, value);
    const double l1 = static_cast<double>(model.l1_bytes), l2 = static_cast<double>(model.l2_bytes);
    if (l2 > 2 * l1) say("l2_vector_cycles", core_.cycles(Probe::kLoad, elements((l1 + l2) / 2), kLoads));
    const double far = core_.cycles(Probe::kLoad, kFar, kLoads);
    say("far_vector_cycles", core_.cycles(Probe::kLoad, elements(3 * l2), kLoads));
    say("memory_bytes_per_cycle", static_cast<double>(core_.vector_bytes()) / far);
    say("memory_store_cycles", core_.cycles(Probe::kStore, kFar, 1));
  }

  /// Measures the overhead of a parallel loop of two tasks, each of which waits until the other has started.
  void measure_tasks() {
    struct Meeting {
      std::atomic<int> arrived = 0;
      std::atomic<bool> missed = false;
    };
    const auto meet = [](void* arg, int32_t) -> int32_t {
      auto& meeting = *static_cast<Meeting*>(arg);
      ++meeting.arrived;
      const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
      while (meeting.arrived < 2 && !meeting.missed)
        if (std::chrono::steady_clock::now() > end) meeting.missed = true;
      return RLX_OK;
    };
    rlx_pool* pool = rlx_pool_create(2);
    if (pool == nullptr) return;
    double best = HUGE_VAL;
    constexpr int kTimes = 500;
    for (int i = 0; i < kTimes; ++i) {
      Meeting meeting;
      const double took = seconds_of([&] { rlx_pool_parallel_for(pool, 2, meet, &meeting); });
      if (!meeting.missed) best = std::min(best, took);
    }
    rlx_pool_destroy(pool);
    say("task_start_nanoseconds", best * 1e9);
  }

  int write(const std::string& place) {
    nlohmann::ordered_json json;
    json["about"] = fmt::format("measured by `relaxc tune --machine`: {}, {:.2f} GHz, vectors of {} bits", target_.cpu,
                                core_.clock() / 1e9, target_.vector_bits);
    json["target"] = target_.triple;
    json["cpu"] = target_.cpu;
    json["features"] = target_.features;
    const MachineModel standard;
    for (const auto& [field, value] : found_) {
      if (field->is_whole())
        json[std::string(field->name)] = static_cast<int64_t>(value);
      else
        json[std::string(field->name)] = value;
      fmt::print("{:<24} {:>12} (default {})  {}\n", field->name, value, field->get(standard), field->what);
    }
    std::ofstream out(place, std::ios::binary);
    out << json.dump(2) << "\n";
    out.close();
    if (out && record_.commit()) return 0;
    if (!out) diag_.error(nullptr, Kind::io, "cannot write {}", options_.tool.record);
    return complain();
  }

  int complain() {
    print_diagnostics(diag_, options_, {});
    return exit_code(diag_, options_);
  }

  static constexpr int64_t kLoads = 8;

  const Options& options_;
  const Target& target_;
  Core core_;
  Diagnostics diag_;
  Outputs record_{diag_};
  Found found_;
};

}  // namespace

int tune_machine(const Options& options) {
  Diagnostics diag;
  Result<Target> target = codegen_llvm::resolve_target("", "native", "", diag);
  if (!target) {
    print_diagnostics(diag, options, {});
    return exit_code(diag, options);
  }
  return MachineTuner(options, *target).run();
}

}  // namespace relaxc::driver
