// tracer.h: measures the kernels of a loaded model, and their tasks, by the hooks of its context.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "runtime-lite/include/relax_rt.h"

namespace relaxc::driver {

/// The calls and the time of a kernel, if the object was compiled to report them.
struct KernelTime {
  std::string name;
  int64_t calls = 0;
  double seconds = 0;
  double least = 0;  ///< the least time of all its calls in one run, in seconds
};

/// A kernel that ran in the calling thread, or a task of it in any thread.
struct Span {
  int32_t node = 0;    ///< index in rlx_function.nodes
  int32_t task = -1;   ///< -1: the kernel itself
  int32_t thread = 0;  ///< 0: the calling thread; others in the order of their first task
  double begin = 0;    ///< seconds since the run began
  double seconds = 0;
};

/// What is measured.
enum class Measure {
  kRuns,     ///< whole runs
  kKernels,  ///< also the time of each kernel
  kSpans,    ///< also when kernels and tasks ran, which takes some time itself
};

/// Sums the time between the start and the end of each kernel, and keeps the spans of the fastest run.
class Tracer {
 public:
  /// Sets the hooks of `context` until it is destroyed.
  Tracer(Measure measure, const rlx_function& function, rlx_context& context);
  ~Tracer();
  Tracer(const Tracer&) = delete;

  void begin_run();
  /// \param seconds  the time of the run
  void end_run(double seconds);
  /// Returns the kernels that ran.
  std::vector<KernelTime> kernels() const;
  /// Returns the spans of the fastest run, by their ends; at most kMostSpans.
  std::vector<Span> take_spans() { return std::move(fastest_); }

  static constexpr size_t kMostSpans = 1'000'000;

 private:
  using Clock = std::chrono::steady_clock;
  using Task = int32_t (*)(void* arg, int32_t index);
  struct Loop;

  static void note(void* user, int32_t node, int32_t begin);
  static int32_t parallel_for(void* user, int32_t tasks, Task task, void* arg);
  static int32_t run_task(void* loop, int32_t index);
  void add_span(int32_t node, int32_t task, Clock::time_point from, Clock::time_point to);

  Measure measure_;
  rlx_context& context_;
  decltype(rlx_context::parallel_for) inner_;
  void* inner_user_;
  std::vector<KernelTime> kernels_;
  std::vector<double> this_run_;
  Clock::time_point run_began_, kernel_began_;
  int32_t node_ = 0;  ///< the kernel that runs
  std::mutex mutex_;  ///< of what follows, which tasks write
  std::vector<Span> spans_, fastest_;
  std::map<std::thread::id, int32_t> threads_;
  double least_ = 0;  ///< seconds of the fastest run; 0: none yet
};

/// Returns spans as JSON in the format of Chrome's trace events, which Perfetto and chrome://tracing show: an event for
/// each kernel and task in the row of its thread, with what the kernel computes.
/// \param nodes    names of kernels
/// \param sources  for each node, what it comes from; may be shorter
std::string chrome_trace(const std::vector<Span>& spans, const std::vector<std::string>& nodes,
                         const std::vector<std::vector<std::string>>& sources);

}  // namespace relaxc::driver
