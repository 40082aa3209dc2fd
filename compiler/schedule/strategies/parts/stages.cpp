// stages.cpp: asks strategies in order and applies the first plan that can be carried out. See strategy.h.
#include <algorithm>

#include "compiler/schedule/strategies/parts/strategy_table.h"
#include "compiler/schedule/tree/names.h"

namespace relaxc::schedule {
namespace {

std::vector<Strategy> in_order() {
  std::vector<Strategy> all;
  for (std::span<const Strategy> family : strategy_families()) all.insert(all.end(), family.begin(), family.end());
  std::stable_sort(all.begin(), all.end(), [](const Strategy& a, const Strategy& b) {
    return a.stage != b.stage ? a.stage < b.stage : a.priority > b.priority;
  });
  return all;
}

struct Candidate {
  const Strategy* strategy;
  Proposal proposal;
};

void refuse(Draft& draft, const Strategy& strategy, const Illegal& illegal, const Proposal* proposal) {
  Considered one{.strategy = strategy.name, .stage = strategy.stage, .reason = illegal.reason};
  if (proposal != nullptr) one.plan = proposal->plan.text(), one.cycles = proposal->cycles;
  draft.considered.push_back(std::move(one));
  if (illegal.is_step && draft.remark.empty()) draft.remark = illegal.reason;
}

/// The rows that match, with the fewest cycles first.
std::vector<Candidate> candidates_of(std::span<const Strategy> rows, Draft& draft) {
  std::vector<Candidate> found;
  for (const Strategy& row : rows) {
    Legal<Proposal> proposal = row.propose(draft);
    if (proposal)
      found.push_back({&row, std::move(*proposal)});
    else
      refuse(draft, row, proposal.illegal(), nullptr);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Candidate& a, const Candidate& b) { return a.proposal.cycles < b.proposal.cycles; });
  return found;
}

/// Carries out the plan on a copy, which replaces the draft on success.
bool take(const Candidate& candidate, Draft& draft) {
  const auto& [strategy, proposal] = candidate;
  Draft trial = draft;
  trial.considered.push_back({.strategy = strategy->name,
                              .stage = strategy->stage,
                              .taken = true,
                              .plan = proposal.plan.text(),
                              .cycles = proposal.cycles});
  const size_t inner = trial.considered.size();
  const Legal<> done = proposal.plan.carry_out(trial);
  if (done) {
    draft = std::move(trial);
    return true;
  }
  refuse(draft, *strategy, done.illegal(), &proposal);
  for (size_t i = inner; i < trial.considered.size(); ++i) {
    Considered& one = trial.considered[i];
    if (one.taken) one.taken = false, one.reason = "a later stage found nothing that fits";
    draft.considered.push_back(std::move(one));
  }
  if (draft.remark.empty()) draft.remark = std::move(trial.remark);
  return false;
}

}  // namespace

std::string explained_name(const Draft& draft, uint32_t loop) {
  return draft.explains ? loop_name(draft.tree, loop) : std::string();
}

std::span<const Strategy> strategies() {
  static const std::vector<Strategy> all = in_order();
  return all;
}

Legal<> run_stage(Stage stage, Draft& draft) {
  const std::span<const Strategy> all = strategies();
  for (size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    for (end = begin; end < all.size(); ++end)
      if (all[end].stage != all[begin].stage || all[end].priority != all[begin].priority) break;
    if (all[begin].stage != stage) continue;
    for (const Candidate& candidate : candidates_of(all.subspan(begin, end - begin), draft))
      if (take(candidate, draft)) return Done{};
  }
  return does_not_fit("no strategy of the stage '" + std::string(to_text(stage)) + "' fits");
}

}  // namespace relaxc::schedule
