// parallel.cpp: the rule that shares a kernel's work among cores.
//
// The problem: to hand out tasks and wait for them costs half a microsecond, and more if workers have gone to sleep, so
// a loop is worth sharing only if each task has several microseconds to do; and a model runs dozens of loops one after
// the other.
//
// The method: a static estimate of each outer loop's time. Walking from outside, the first loop with independent
// iterations and enough work becomes parallel; loops of few iterations are joined with the loop inside of them, and
// many small iterations are put together in chunks. What is chosen depends on shapes and on the most tasks that the
// target allows, never on how many threads there are, and an iteration computes what it computed before, so the bits of
// the result do not depend on them either. Extents that are not known when compiling are taken to be small: that costs
// parallelism in a few cases, where the opposite would cost time in all runs on small inputs.
#include <algorithm>

#include "compiler/schedule/analysis/independence.h"
#include "compiler/schedule/primitives/chunk.h"
#include "compiler/schedule/primitives/collapse.h"
#include "compiler/schedule/primitives/lift_allocs.h"
#include "compiler/schedule/primitives/parallel.h"
#include "compiler/schedule/strategies/rule_parts.h"

namespace relaxc::schedule {

namespace {

/// What a task does, by what it costs to hand one to a worker that waits for it (docs/performance.md).
constexpr double kWorkOfStart = 10;
/// What a symbolic extent is taken to be.
constexpr double kUnknownExtent = 16;

/// Nanoseconds of work that make a task.
double least_task(const Target& target) {
  return kWorkOfStart * target.task_start_nanoseconds;
}

/// Nanoseconds of one evaluation of `e`.
double cost_of(Expr e, const MachineModel& model) {
  double total = 0;
  arith::for_each_node(e, [&](Expr node) {
    if (const auto* load = node.as<arith::Load>())
      total += load->buffer->scope == tir::Scope::kLocal ? 0 : model.access_nanoseconds;
    else if (const auto* call = node.as<arith::Call>())
      total += call->intrinsic == arith::Intrinsic::k_fma ? model.operation_nanoseconds : model.call_nanoseconds;
    else if (!node.dtype().is_index() && !arith::operands(node).empty())
      total += model.operation_nanoseconds;
  });
  return total;
}

double extent_of(const tir::For& loop, int64_t lanes) {
  const int64_t* extent = loop.extent.constant();
  double count = extent != nullptr ? static_cast<double>(std::max<int64_t>(*extent, 0)) : kUnknownExtent;
  return loop.loop_kind == tir::LoopKind::kVectorized ? std::max(1.0, count / static_cast<double>(lanes)) : count;
}

/// Nanoseconds of running `s` once, roughly.
double cost_of(Stmt s, int64_t lanes, const MachineModel& model) {
  double total = 0;
  if (const auto* store = s.as<tir::Store>())
    total = model.operation_nanoseconds + (store->buffer->scope == tir::Scope::kLocal ? 0 : model.access_nanoseconds) +
            cost_of(store->value, model);
  if (const auto* let = s.as<tir::Let>()) total = cost_of(let->value, model);
  for (Stmt child : tir::children(s)) total += cost_of(child, lanes, model);
  if (const auto* loop = s.as<tir::For>()) total *= extent_of(*loop, lanes);
  return total;
}

class SharedWork {
 public:
  SharedWork(Tree& s, const Target& target, const std::vector<uint32_t>& done)
      : s_(s),
        done_(done),
        model_(target),
        least_task_(least_task(target)),
        slots_(target.task_slots),
        lanes_(lanes_of(target, s.root())) {}

  Legal<> run() { return visit(s_.root()); }

 private:
  /// Statements keep their ids while others change, so the walk goes on in the tree with which it began.
  Legal<> visit(Stmt s) {
    const auto* loop = s.as<tir::For>();
    if (loop == nullptr) {
      for (Stmt child : tir::children(s)) RELAXC_LEGAL(visit(child));
      return Done{};
    }
    if (std::find(done_.begin(), done_.end(), loop->id) != done_.end()) return Done{};
    double total = cost_of(s, lanes_, model_);
    if (loop->loop_kind != tir::LoopKind::kSerial || total < 2 * least_task_) return Done{};
    if (loop->extent.is_constant(1) || !is_shareable(*loop)) return visit(loop->body);
    return share(*loop, total);
  }

  static bool allocates(const tir::For& loop) {
    bool found = false;
    tir::for_each_stmt(loop.body, [&](Stmt s) {
      const auto* alloc = s.as<tir::Alloc>();
      found |= alloc != nullptr && alloc->buffer->scope != tir::Scope::kLocal;
    });
    return found;
  }

  /// Somebody has shared a part of the work already.
  static bool is_shared_inside(const tir::For& loop) {
    bool found = false;
    tir::for_each_stmt(loop.body, [&](Stmt s) {
      const auto* inner = s.as<tir::For>();
      found |= inner != nullptr && inner->loop_kind == tir::LoopKind::kParallel;
    });
    return found;
  }

  bool is_shareable(const tir::For& loop) const {
    if (is_shared_inside(loop)) return false;
    // Memory of its own for each task costs too much if there may be any number of them.
    if (allocates(loop) && loop.extent.constant() == nullptr) return false;
    return has_independent_iterations(s_.root(), loop);
  }

  Legal<> share(const tir::For& first, double total) {
    uint32_t id = first.id;
    // A symbol is often a batch of 1: then the loop inside has to give the tasks.
    double count = first.extent.constant() != nullptr ? extent_of(first, 1) : 1;
    RELAXC_LEGAL(apply(s_, Parallel{id}));
    for (const auto* inner = first.body.as<tir::For>(); inner != nullptr; inner = inner->body.as<tir::For>()) {
      bool fixed = inner->extent.constant() != nullptr;
      bool plain = inner->loop_kind == tir::LoopKind::kSerial && !depends_on(inner->extent, first.var);
      if (!fixed || !plain || count >= 2 * slots_ || total / count < least_task_ || !is_shareable(*inner)) break;
      RELAXC_STEP(id, apply(s_, Collapse{id, inner->id}));
      count *= extent_of(*inner, 1);
    }
    double pieces = std::max(2.0, std::min(static_cast<double>(slots_), total / least_task_));
    const int64_t* extent = s_.loop(id).extent.constant();
    double one = total / (extent != nullptr ? count : count * extent_of(first, 1));
    bool scratch = allocates(s_.loop(id));
    if (extent != nullptr && count > pieces && (pieces < slots_ || scratch)) {
      RELAXC_STEP(uint32_t task, apply(s_, Chunk{id, static_cast<int64_t>((count + pieces - 1) / pieces)}));
      if (scratch) RELAXC_LEGAL(apply(s_, LiftAllocs{s_.loop(task).body.as<tir::For>()->id}));
    } else if (extent == nullptr && one < least_task_)
      RELAXC_LEGAL(apply(s_, Chunk{id, static_cast<int64_t>(least_task_ / one + 1)}));
    return Done{};
  }

  Tree& s_;
  const std::vector<uint32_t>& done_;
  const MachineModel& model_;
  const double least_task_;  ///< nanoseconds
  const int64_t slots_, lanes_;
};

}  // namespace

double nanoseconds(Stmt s, const Target& target) {
  return cost_of(s, lanes_of(target, s), target);
}

int64_t tasks_worth(Stmt body, Expr times, const Target& target) {
  const int64_t* known = times.constant();
  double count = known != nullptr ? static_cast<double>(*known) : kUnknownExtent;
  double total = count * nanoseconds(body, target);
  if (total < 2 * least_task(target)) return 1;
  double most = static_cast<double>(target.task_slots);
  if (known != nullptr) most = std::min(most, count);
  return std::max<int64_t>(1, static_cast<int64_t>(std::min(most, std::max(2.0, total / least_task(target)))));
}

Legal<> schedule_parallel(Tree& s, const Target& target, const std::vector<uint32_t>& done) {
  if (target.task_slots <= 1 || !s.root()) return Done{};
  return SharedWork(s, target, done).run();
}

}  // namespace relaxc::schedule
