// parallel.cpp: distributes a kernel's work over cores.
//
// The problem: handing out tasks and waiting for them costs half a microsecond, and more if workers have gone to sleep.
// So a loop should be distributed only if each task has several microseconds of work; and a model runs dozens of loops
// one after the other.
//
// The method: a static estimate of each outer loop's time. Walking inwards, the first loop with independent iterations
// and enough work becomes parallel; a loop of few iterations is joined with the loop inside of it, and many small
// iterations are grouped into chunks. The choice depends on shapes and on the target's maximum number of tasks, never
// on the number of threads, and iterations compute the same as before, so the bits of the result do not depend on these
// either. Extents that are unknown at compile time are assumed to be small: that costs parallelism in a few cases,
// while the opposite would cost time in all runs on small inputs.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "compiler/schedule/analysis/independence.h"
#include "compiler/schedule/primitives/chunk.h"
#include "compiler/schedule/primitives/collapse.h"
#include "compiler/schedule/primitives/distribute.h"
#include "compiler/schedule/primitives/lift_allocs.h"
#include "compiler/schedule/primitives/parallel.h"
#include "compiler/schedule/primitives/reorder.h"
#include "compiler/schedule/strategies/parts/estimate.h"
#include "compiler/schedule/strategies/parts/vectors.h"
#include "compiler/schedule/strategies/strategy.h"

namespace relaxc::schedule {

namespace {

/// A loop that becomes parallel.
struct SharedLoop {
  uint32_t loop = 0;
  std::vector<uint32_t> inner;  ///< loops inside of it with which it is joined, outermost first
  int64_t chunk = 0;            ///< iterations of a task; 0 for one
  int64_t tasks = 0;            ///< number of tasks if each needs memory of its own; 0 for any number
  bool lifts = false;           ///< move allocations out of the iterations of a task
};

bool allocates(const tir::For& loop) {
  bool found = false;
  tir::for_each_stmt(loop.body, [&](Stmt s) {
    const auto* alloc = s.as<tir::Alloc>();
    found |= alloc != nullptr && alloc->buffer->scope != tir::Scope::kLocal;
  });
  return found;
}

/// Searches for loops to distribute, from the outermost one.
class WorkQuestions {
 public:
  explicit WorkQuestions(const Draft& draft)
      : s_(draft.tree),
        done_(draft.shared),
        open_blocks_(draft.open_blocks),
        model_(*draft.target),
        min_task_nanoseconds_(min_task_nanoseconds(*draft.target)),
        slots_(draft.target->task_slots),
        lanes_(lanes_of(*draft.target, draft.tree.root())) {}

  std::vector<SharedLoop> answer() {
    visit(s_.root());
    return std::move(found_);
  }

 private:
  void visit(Stmt s) {
    const auto* loop = s.as<tir::For>();
    if (loop == nullptr) {
      for (Stmt child : tir::children(s)) visit(child);
      return;
    }
    if (std::find(done_.begin(), done_.end(), loop->id) != done_.end()) return;
    const double total = nanoseconds(s, lanes_, model_);
    if (loop->loop_kind != tir::LoopKind::kSerial || total < 2 * min_task_nanoseconds_) return;
    if (loop->extent.is_constant(1) || !is_shareable(*loop)) return visit(loop->body);
    share(*loop, total);
  }

  /// Whether a part of the work is already distributed.
  static bool is_shared_inside(const tir::For& loop) {
    bool found = false;
    tir::for_each_stmt(loop.body, [&](Stmt s) {
      const auto* inner = s.as<tir::For>();
      found |= inner != nullptr && inner->loop_kind == tir::LoopKind::kParallel;
    });
    return found;
  }

  bool is_open_block(const tir::For& loop) const {
    return std::find(open_blocks_.begin(), open_blocks_.end(), loop.id) != open_blocks_.end();
  }

  bool is_shareable(const tir::For& loop) const {
    if (is_shared_inside(loop)) return false;
    // Memory for each task costs too much if there may be any number of tasks.
    if (allocates(loop) && loop.extent.constant() == nullptr && !is_open_block(loop)) return false;
    return has_independent_iterations(s_.root(), loop);
  }

  void share(const tir::For& first, double total) {
    SharedLoop shared{.loop = first.id, .inner = {}};
    const bool is_known = first.extent.constant() != nullptr;
    if (is_open_block(first)) {
      shared.tasks = slots_;
      found_.push_back(std::move(shared));
      return;
    }
    // A symbol is often a batch of 1: then the inner loop must provide the tasks.
    double count = is_known ? extent_of(first, 1) : 1;
    for (const auto* inner = first.body.as<tir::For>(); inner != nullptr; inner = inner->body.as<tir::For>()) {
      const bool fixed = inner->extent.constant() != nullptr;
      const bool plain = inner->loop_kind == tir::LoopKind::kSerial && !depends_on(inner->extent, first.var);
      const bool enough = count >= 2 * static_cast<double>(slots_) || total / count < min_task_nanoseconds_;
      if (!fixed || !plain || enough || !is_shareable(*inner)) break;
      shared.inner.push_back(inner->id);
      count *= extent_of(*inner, 1);
    }
    const double slots = static_cast<double>(slots_),
                 pieces = std::max(2.0, std::min(slots, total / min_task_nanoseconds_));
    const double one = total / (is_known ? count : count * extent_of(first, 1));
    const bool scratch = allocates(first);
    if (is_known && count > pieces && (pieces < slots || scratch)) {
      shared.chunk = static_cast<int64_t>((count + pieces - 1) / pieces);
      shared.lifts = scratch;
    } else if (!is_known && one < min_task_nanoseconds_) {
      shared.chunk = static_cast<int64_t>(min_task_nanoseconds_ / one + 1);
    }
    found_.push_back(std::move(shared));
  }

  const Tree& s_;
  const std::vector<uint32_t>&done_, &open_blocks_;
  const MachineModel& model_;
  const double min_task_nanoseconds_;  ///< nanoseconds
  const int64_t slots_, lanes_;
  std::vector<SharedLoop> found_;
};

Legal<std::vector<SharedLoop>> match_parallel(const Draft& draft) {
  RELAXC_FITS(draft.target->task_slots > 1 && draft.tree.root(), "the target has one core");
  std::vector<SharedLoop> found = WorkQuestions(draft).answer();
  RELAXC_FITS(!found.empty(), "no loop of independent iterations has enough work for two tasks");
  return found;
}

/// Moves loops over an open number of blocks, each with memory of its own, outside of the iterations of a task, so that
/// a block's bounds are computed once for all iterations: computing them takes as long as summing a small image.
/// Returns the outermost loop.
Legal<uint32_t> with_blocks_outside(Tree& s, uint32_t iterations) {
  std::vector<uint32_t> order;
  for (const auto* inner = s.loop(iterations).body.as<tir::For>(); inner != nullptr;
       inner = inner->body.as<tir::For>()) {
    if (inner->extent.constant() != nullptr || !allocates(*inner)) break;
    order.push_back(inner->id);
  }
  order.push_back(iterations);
  if (order.size() == 1 || !can_reorder(s, order)) return iterations;
  RELAXC_LEGAL(apply(s, Reorder{order}));
  return order.front();
}

struct SharedLoops {
  std::vector<SharedLoop> loops;
  std::string names;  ///< for explanations

  std::string text() const { return names; }
  Legal<> carry_out(Draft& draft) const {
    Tree& s = draft.tree;
    for (const SharedLoop& shared : loops) {
      uint32_t id = shared.loop;
      if (shared.tasks != 0) {
        RELAXC_STEP(id, apply(s, Distribute{id, shared.tasks}));
        RELAXC_LEGAL(apply(s, LiftAllocs{id}));
        continue;
      }
      RELAXC_LEGAL(apply(s, Parallel{id}));
      for (uint32_t inner : shared.inner) {
        RELAXC_STEP(id, apply(s, Collapse{id, inner}));
      }
      if (shared.chunk == 0) continue;
      RELAXC_STEP(const uint32_t task, apply(s, Chunk{id, shared.chunk}));
      if (!shared.lifts) continue;
      RELAXC_STEP(const uint32_t own, with_blocks_outside(s, s.loop(task).body.as<tir::For>()->id));
      RELAXC_LEGAL(apply(s, LiftAllocs{own}));
    }
    return Done{};
  }
};

/// Assumes that each of the pool's slots has a core.
double parallel_cycles(const Draft& draft, const std::vector<SharedLoop>&) {
  const Stmt root = draft.tree.root();
  return cycles_of(root, lanes_of(*draft.target, root), *draft.target) / static_cast<double>(draft.target->task_slots);
}

Legal<SharedLoops> plan_parallel(const Draft& draft, const std::vector<SharedLoop>& loops) {
  SharedLoops made{loops, {}};
  for (const SharedLoop& shared : loops) {
    made.names += (made.names.empty() ? "" : ", ") + explained_name(draft, shared.loop);
    for (uint32_t inner : shared.inner) made.names += " with " + explained_name(draft, inner);
    if (shared.chunk != 0) made.names += fmt::format(" by {}", shared.chunk);
    if (shared.tasks != 0) made.names += fmt::format(" among {} tasks", shared.tasks);
  }
  return made;
}

}  // namespace

std::span<const Strategy> parallel_strategies() {
  static constexpr std::array kRows{
      Strategy{.name = "parallel",
               .stage = Stage::kTasks,
               .priority = 10,
               .doc = "Outer loops of independent iterations whose work is worth the start of a task become parallel, "
                      "in pieces that do not depend on the number of threads.",
               .propose = propose<match_parallel, kForExplanation<parallel_cycles>, plan_parallel>},
  };
  return kRows;
}

}  // namespace relaxc::schedule
