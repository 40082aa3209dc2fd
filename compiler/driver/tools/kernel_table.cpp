// kernel_table.cpp: the output of `relaxc bench --profile`.
//
// Times are averages over the runs, from the trace hook. Work is what the compiler counted in the emitted loops, for
// the sizes of this run; data that fits the L2 cache is compared with that cache's bandwidth. The limit is the larger
// of arithmetic and memory time on the target as described, at the speed that was measured beside the run: more than
// 100% means that the description understates the machine.
#include "compiler/driver/tools/kernel_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "compiler/support/quote.h"

namespace relaxc::driver {
namespace {

/// Returns a lower bound of the seconds that a run of these calls takes.
double least_seconds(const KernelCost& cost, const Limits& limits, int32_t cores) {
  if (cost.calls == 0) return 0;
  bool near = cost.bytes / static_cast<double>(cost.calls) <= static_cast<double>(limits.near_bytes);
  return std::max(limits.arithmetic_seconds(cost), cost.bytes / (near ? limits.near : limits.memory)) / cores;
}

std::string sources_text(const std::vector<std::string>& sources) {
  constexpr size_t kShown = 3;
  std::string text;
  for (size_t i = 0; i < std::min(kShown, sources.size()); ++i) text += (i == 0 ? "" : ", ") + printable(sources[i]);
  return sources.size() > kShown ? text + fmt::format(" and {} more", sources.size() - kShown) : text;
}

}  // namespace

std::string kernel_table(const Timing& timing, const std::vector<KernelCost>& kernels, const Target& target,
                         const CoreSpeed& speed, int32_t cores) {
  const Limits limits = limits_of(target, speed);
  const auto runs = static_cast<double>(timing.seconds.size());
  const double all = std::accumulate(timing.seconds.begin(), timing.seconds.end(), 0.0);
  std::vector<KernelTime> sorted = timing.kernels;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const KernelTime& a, const KernelTime& b) { return a.seconds > b.seconds; });
  std::string text = fmt::format("{:>6} {:>12} {:>8} {:>9} {:>8} {:>8} {:>8}  {}\n", "share", "us a run", "calls",
                                 "GFLOP/s", "GOP/s", "GB/s", "of limit", "kernel: what it comes from");
  double inside = 0;
  for (const KernelTime& time : sorted) {
    inside += time.seconds;
    auto cost = std::find_if(kernels.begin(), kernels.end(), [&](const KernelCost& k) { return k.name == time.name; });
    double once = time.seconds / runs, calls = static_cast<double>(time.calls) / runs;
    text += fmt::format("{:>5.1f}% {:>12.2f} {:>8.1f}", all == 0 ? 0 : 100 * time.seconds / all, 1e6 * once, calls);
    if (cost == kernels.end() || once == 0) {
      text += fmt::format(" {:>9} {:>8} {:>8} {:>8}  {}\n", "-", "-", "-", "-", printable(time.name));
      continue;
    }
    std::string from = sources_text(cost->sources);
    text += fmt::format(" {:>9.2f} {:>8.2f} {:>8.2f} {:>7.1f}%  {}{}{}\n", 1e-9 * cost->flops / once,
                        1e-9 * cost->integer_ops / once, 1e-9 * cost->bytes / once,
                        100 * least_seconds(*cost, limits, cores) / once, printable(time.name),
                        from.empty() ? "" : ": ", from);
  }
  double outside = std::max(0.0, all - inside);
  text += fmt::format("{:>5.1f}% {:>12.2f} {:>8} {:>9} {:>8} {:>8} {:>8}  outside of kernels\n",
                      all == 0 ? 0 : 100 * outside / all, 1e6 * outside / runs, "", "", "", "", "");
  text += fmt::format(
      "limits of {} core{} of {} at {:.1f} GHz: {:.0f} GFLOP/s; {:.0f} GOP/s of integers; {:.0f} GB/s where a call's "
      "data fits {} KB, else {:.0f} GB/s\n",
      cores, cores == 1 ? "" : "s", target.cpu, 1e-9 * speed.clock, 1e-9 * cores * limits.flops,
      1e-9 * cores * limits.integer_ops, 1e-9 * cores * limits.near, limits.near_bytes / 1024,
      1e-9 * cores * limits.memory);
  return text;
}

}  // namespace relaxc::driver
