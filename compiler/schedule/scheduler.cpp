// scheduler.cpp: see scheduler.h.
//
// A kernel after fusion is a sequence of nests inside of allocations. A reduction is scheduled together with the nest
// that initializes it (the tile starts with that anyway) and with consumers that follow it over the same axes; results
// that nothing else reads then never reach memory.
#include "compiler/schedule/scheduler.h"

#include <set>
#include <utility>

#include "compiler/schedule/analysis/access.h"
#include "compiler/schedule/primitives/distribute.h"
#include "compiler/schedule/primitives/focus_nests.h"
#include "compiler/schedule/primitives/focus_statements.h"
#include "compiler/schedule/primitives/lift_allocs.h"
#include "compiler/schedule/primitives/merge_rows.h"
#include "compiler/schedule/primitives/unfocus.h"
#include "compiler/schedule/strategies/parts/estimate.h"
#include "compiler/schedule/tree/names.h"

namespace relaxc::schedule {
namespace {

/// Puts the nests in focus back into the kernel.
void leave_focus(Tree& tree) {
  RELAXC_CHECK(apply(tree, Unfocus{}), "the whole kernel can always be seen");
}

/// The statements at which a new section starts: those that read no result of the section before, if it is long enough.
std::vector<size_t> section_ends(const std::vector<Stmt>& parts) {
  constexpr size_t kLength = 32;
  std::vector<size_t> ends;
  std::set<BufferRef> made;  // asked for membership only
  for (size_t i = 0, begin = 0; i < parts.size(); ++i) {
    std::vector<BufferRef> stored;
    bool apart = i >= begin + kLength;
    for_each_access(parts[i], [&](const Access& access) {
      if (access.is_store) stored.push_back(access.buffer);
      apart &= access.is_store || made.count(access.buffer) == 0;
    });
    if (apart) {
      ends.push_back(begin = i);
      made.clear();
    }
    made.insert(stored.begin(), stored.end());
  }
  ends.push_back(parts.size());
  return ends;
}

/// How many statements those in focus have become, if they are among `others` others.
size_t statements_among(Stmt made, size_t others) {
  if (others == 0) return statements_of(made).size();
  const auto* seq = made.as<tir::Seq>();
  if (seq == nullptr) return made ? 1 : 0;
  size_t count = 0;
  for (Stmt inner : seq->body) count += statements_among(inner, others);
  return count;
}

std::string names_of(const Tree& tree, const std::vector<uint32_t>& blocks) {
  std::string names;
  for (uint32_t block : blocks) names += (names.empty() ? "" : ", ") + name_of_kernel_block(tree, block);
  return names;
}

}  // namespace

void Scheduler::run() {
  if (ask(Stage::kKernel, draft_, "")) {
    const Draft cut = draft_;
    if (in_blocks()) return;
    draft_ = cut;
  }
  in_sections();
}

bool Scheduler::ask(Stage stage, Draft& draft, const std::string& part) {
  draft.considered.clear();
  const bool done = static_cast<bool>(run_stage(stage, draft));
  if (explanation_ != nullptr) explanation_->parts.push_back({part, draft.considered});
  draft.considered.clear();
  return done;
}

Legal<> Scheduler::in_blocks() {
  const std::vector<RowBlock> blocks = draft_.blocks;
  schedule_whole(blocks.size());
  std::vector<uint32_t> loops;
  for (const RowBlock& block : blocks) {
    RELAXC_LEGAL(schedule_block(block));
    loops.push_back(block.rows);
  }
  distribute_over_tasks(loops);
  return Done{};
}

void Scheduler::distribute_over_tasks(std::vector<uint32_t> done) {
  draft_.shared = std::move(done);
  ask(Stage::kTasks, draft_, "");
}

/// Schedules sections one by one, so that the cost for a kernel of very many nests (a wide concatenation) stays linear.
void Scheduler::in_sections() {
  std::vector<size_t> ends = section_ends(statements_of(draft_.tree.root()));
  for (size_t i = ends.size(); i-- > 0;) {
    if (ends.size() > 1) {
      const auto begin = static_cast<int64_t>(i == 0 ? 0 : ends[i - 1]), end = static_cast<int64_t>(ends[i]);
      RELAXC_CHECK(apply(draft_.tree, FocusStatements{begin, end}), "a section of a kernel's statements");
    }
    schedule_whole(0);
    distribute_over_tasks({});
  }
}

void Scheduler::schedule_whole(size_t others) {
  std::vector<Stmt> parts = statements_of(draft_.tree.root());
  parts.resize(parts.size() - others);
  schedule_parts(parts, [](const Tree& s) { return s.root(); });
}

Legal<> Scheduler::schedule_block(const RowBlock& block) {
  if (block.keys != 0) schedule_body(block.keys);
  schedule_body(block.rows);
  const tir::For& loop = draft_.tree.loop(block.rows);
  const int64_t tasks = profitable_tasks(loop.body, loop.extent, *draft_.target);
  uint32_t serial = block.rows;
  if (tasks > 1) {
    RELAXC_STEP(serial, apply(draft_.tree, Distribute{block.rows, tasks}));
  }
  return apply(draft_.tree, LiftAllocs{serial});
}

void Scheduler::schedule_body(uint32_t loop) {
  const Place body = [=](const Tree& s) { return s.loop(loop).body; };
  schedule_parts(statements_of(body(draft_.tree)), body);
}

void Scheduler::schedule_parts(const std::vector<Stmt>& parts, const Place& all) {
  std::vector<size_t> sizes;
  statements_ = statements_of(all(draft_.tree)).size();
  for (const NestGroup& group : nest_groups(parts)) {
    const std::vector<size_t> made = schedule_group(group);
    sizes.insert(sizes.end(), made.begin(), made.end());
  }
  leave_focus(draft_.tree);
  const std::vector<Stmt> now = statements_of(all(draft_.tree));
  draft_.row_loops.clear();
  size_t place = 0;
  for (size_t size : sizes) {
    draft_.row_loops.push_back(size == 1 ? row_loop(draft_.tree.context(), now.at(place)) : 0);
    place += size;
  }
  if (sizes.size() > 1) ask(Stage::kRows, draft_, "");
}

std::vector<size_t> Scheduler::schedule_group(const NestGroup& group) {
  std::vector<size_t> sizes;
  if (group.blocks.empty()) return {1};
  if (schedule_nests(group, sizes)) return sizes;
  if (!group.reduces) return {1};
  // Schedule at least each nest by itself.
  for (const NestGroup& alone : without_consumers(group)) {
    const bool same = alone.begin == group.begin && alone.end == group.end;
    if (!same && schedule_nests(alone, sizes)) continue;
    if (alone.fills) {
      const NestGroup fill{.begin = alone.begin, .end = alone.begin + 1, .blocks = {alone.blocks[0]}};
      if (!schedule_nests(fill, sizes)) sizes.push_back(1);
    }
    sizes.push_back(1);
  }
  return sizes;
}

bool Scheduler::schedule_nests(const NestGroup& group, std::vector<size_t>& sizes) {
  const size_t others = statements_ - (group.end - group.begin);
  Draft trial = draft_;
  const std::string part = explanation_ == nullptr ? std::string() : names_of(draft_.tree, group.blocks);
  if (const Legal<> seen = apply(trial.tree, FocusNests{{group.blocks}}); !seen) {
    if (draft_.remark.empty()) draft_.remark = seen.illegal().reason;
    return false;
  }
  trial.group = group.reduces ? group_in(trial.tree) : std::nullopt;
  const bool done = ask(Stage::kNests, trial, part);
  if (!done) {
    draft_.remark = trial.remark;
    return false;
  }
  draft_ = std::move(trial);
  sizes.push_back(statements_among(draft_.tree.root(), others));
  statements_ = others + sizes.back();
  return true;
}

}  // namespace relaxc::schedule
