// tracer.cpp: takes times at rlx_context.trace, and at parallel_for, whose tasks it wraps.
#include "compiler/driver/tools/tracer.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "compiler/support/unicode.h"

namespace relaxc::driver {

/// A parallel loop that runs.
struct Tracer::Loop {
  Tracer& tracer;
  Task task;
  void* arg;
};

Tracer::Tracer(Measure measure, const rlx_function& function, rlx_context& context)
    : measure_(measure), context_(context), inner_(context.parallel_for), inner_user_(context.parallel_user) {
  for (uint32_t i = 0; i < function.num_nodes; ++i) kernels_.push_back({function.nodes[i]});
  this_run_.resize(kernels_.size());
  if (measure == Measure::kRuns) return;
  context_.trace = note, context_.trace_user = this;
  threads_.emplace(std::this_thread::get_id(), 0);
  if (measure == Measure::kSpans && inner_ != nullptr)
    context_.parallel_for = parallel_for, context_.parallel_user = this;
}

Tracer::~Tracer() {
  context_.trace = nullptr, context_.trace_user = nullptr;
  context_.parallel_for = inner_, context_.parallel_user = inner_user_;
}

void Tracer::note(void* user, int32_t node, int32_t begin) {
  auto& self = *static_cast<Tracer*>(user);
  const Clock::time_point now = Clock::now();
  if (node < 0 || static_cast<size_t>(node) >= self.kernels_.size()) return;
  if (begin != 0) {
    self.kernel_began_ = now;
    self.node_ = node;
    return;
  }
  KernelTime& kernel = self.kernels_[static_cast<size_t>(node)];
  ++kernel.calls;
  const double took = std::chrono::duration<double>(now - self.kernel_began_).count();
  kernel.seconds += took;
  self.this_run_[static_cast<size_t>(node)] += took;
  if (self.measure_ == Measure::kSpans) self.add_span(node, -1, self.kernel_began_, now);
}

int32_t Tracer::parallel_for(void* user, int32_t tasks, Task task, void* arg) {
  auto& self = *static_cast<Tracer*>(user);
  Loop loop{self, task, arg};
  return self.inner_(self.inner_user_, tasks, run_task, &loop);
}

int32_t Tracer::run_task(void* loop, int32_t index) {
  const Loop& self = *static_cast<Loop*>(loop);
  const Clock::time_point begin = Clock::now();
  const int32_t status = self.task(self.arg, index);
  self.tracer.add_span(self.tracer.node_, index, begin, Clock::now());
  return status;
}

void Tracer::add_span(int32_t node, int32_t task, Clock::time_point from, Clock::time_point to) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (spans_.size() >= kMostSpans) return;
  const auto thread = threads_.emplace(std::this_thread::get_id(), static_cast<int32_t>(threads_.size())).first->second;
  auto seconds = [](Clock::duration duration) { return std::chrono::duration<double>(duration).count(); };
  spans_.push_back({node, task, thread, seconds(from - run_began_), seconds(to - from)});
}

void Tracer::begin_run() {
  spans_.clear();
  run_began_ = Clock::now();
}

void Tracer::end_run(double seconds) {
  for (size_t i = 0; i < kernels_.size(); ++i)
    if (double took = std::exchange(this_run_[i], 0); took != 0)
      kernels_[i].least = kernels_[i].least == 0 ? took : std::min(kernels_[i].least, took);
  if (least_ != 0 && seconds >= least_) return;
  least_ = seconds;
  fastest_.swap(spans_);
}

std::vector<KernelTime> Tracer::kernels() const {
  std::vector<KernelTime> ran;
  std::copy_if(kernels_.begin(), kernels_.end(), std::back_inserter(ran),
               [](const KernelTime& kernel) { return kernel.calls != 0; });
  return ran;
}

std::string chrome_trace(const std::vector<Span>& spans, const std::vector<std::string>& nodes,
                         const std::vector<std::vector<std::string>>& sources) {
  using Json = nlohmann::ordered_json;
  Json events = Json::array();
  int32_t threads = 0;
  for (const Span& span : spans) {
    threads = std::max(threads, span.thread + 1);
    const auto node = static_cast<size_t>(span.node);
    Json about = {{"node", span.node}};
    if (node < sources.size() && !sources[node].empty()) about["from"] = sources[node];
    if (span.task >= 0) about["task"] = span.task;
    events.push_back({{"name", nodes.at(node)},
                      {"cat", span.task < 0 ? "kernel" : "task"},
                      {"ph", "X"},
                      {"ts", 1e6 * span.begin},
                      {"dur", 1e6 * span.seconds},
                      {"pid", 1},
                      {"tid", span.thread},
                      {"args", about}});
  }
  for (int32_t thread = 0; thread < threads; ++thread)
    events.push_back({{"name", "thread_name"},
                      {"ph", "M"},
                      {"pid", 1},
                      {"tid", thread},
                      {"args", {{"name", thread == 0 ? "caller" : "thread " + std::to_string(thread)}}}});
  const Json all = {{"traceEvents", events}, {"displayTimeUnit", "ns"}};
  return visible_json(all.dump(1, ' ', false, Json::error_handler_t::replace)) + "\n";
}

}  // namespace relaxc::driver
