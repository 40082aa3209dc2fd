// row_schedule.cpp: see row_schedule.h.
//
// The method is that of sliding windows in Halide (Ragan-Kelley et al., PLDI 2013), as late as possible: a stage
// computes rows when a reader needs them, few at a time, so that no stage has more rows waiting than its readers'
// windows hold. MCUNetV2 (Lin et al., NeurIPS 2021) instead computes patches whose borders overlap and are recomputed
// for each patch, which is half as much work again for some networks; keeping the last rows of a stage takes no more
// memory and a copy of them.
#include "compiler/transform/graph/streaming/row_schedule.h"

#include <algorithm>

#include "compiler/plan/storage.h"

namespace relaxc::streaming {

namespace {

// On a Cortex-M4, a word is copied in five instructions, and a call with its addresses takes about forty.
constexpr double kCyclesOfByte = 1.25, kCyclesOfCall = 40;

int64_t in_lines(int64_t bytes) {
  return (bytes + plan::kAlignment - 1) / plan::kAlignment * plan::kAlignment;
}

}  // namespace

bool leaves_chain(const Stage& stage, Chain chain) {
  return stage.last_user >= static_cast<int64_t>(chain.end);
}

bool can_stream(const Stages& stages, Chain chain) {
  for (size_t i = chain.begin; i < chain.end; ++i) {
    const Stage& stage = stages[i];
    if (!stage.streams || stage.rows < 2) return false;
    for (const relax::Value* whole : stage.wholes)
      if (stages.maker(*whole) >= static_cast<int64_t>(chain.begin)) return false;
    if (stage.accumulates && stage.first_user < static_cast<int64_t>(chain.end)) return false;
  }
  return true;
}

RowSchedule::RowSchedule(const Stages& stages, Chain chain, Pace pace) : chain_(chain) {
  read_.assign(chain.end - chain.begin, false);
  const int64_t last_rows = stages[chain.end - 1].rows;
  for (size_t i = chain.begin; i < chain.end; ++i) {
    rows_of_run_.push_back(pace.scaled ? std::max<int64_t>(1, pace.rows * stages[i].rows / last_rows) : pace.rows);
    for (const Stage::Read& read : stages[i].reads)
      if (read.stage >= static_cast<int64_t>(chain.begin)) read_[static_cast<size_t>(read.stage) - chain.begin] = true;
  }
  std::vector<int64_t> done(chain.end - chain.begin, 0);
  for (int64_t end = 0; end < last_rows;) {
    end = std::min(last_rows, end + rows_of_run_.back());
    for (size_t i = chain.begin; i < chain.end; ++i)
      if (leaves_chain(stages[i], chain) || stages[i].accumulates || !is_read(i))
        make(stages, i, end == last_rows ? stages[i].rows : end * stages[i].rows / last_rows, done);
  }
  find_needed(stages);
}

void RowSchedule::make(const Stages& stages, size_t stage, int64_t end, std::vector<int64_t>& done) {
  int64_t& own = done[stage - chain_.begin];
  while (own < end) {
    const int64_t next = std::min(end, own + rows_of_run_[stage - chain_.begin]);
    for (const Stage::Read& read : stages[stage].reads) {
      if (read.stage < static_cast<int64_t>(chain_.begin)) continue;
      const auto from = static_cast<size_t>(read.stage);
      make(stages, from, std::min(read.rows.behind(next), stages[from].rows), done);
    }
    runs_.push_back({stage, {own, next}, own});
    own = next;
  }
}

void RowSchedule::find_needed(const Stages& stages) {
  std::vector<int64_t> least(chain_.end - chain_.begin, INT64_MAX);  // first row of each stage that later runs read
  for (auto run = runs_.rbegin(); run != runs_.rend(); ++run) {
    run->first_needed = std::min(least[run->stage - chain_.begin], run->made.begin);
    for (const Stage::Read& read : stages[run->stage].reads)
      if (read.stage >= static_cast<int64_t>(chain_.begin)) {
        int64_t& theirs = least[static_cast<size_t>(read.stage) - chain_.begin];
        theirs = std::min(theirs, std::max<int64_t>(read.rows.first(run->made.begin), 0));
      }
  }
}

namespace {

/// Adds up the memory in use over time. A run has two times: first old rows are copied, then it computes.
class Footprint {
 public:
  Footprint(const Stages& stages, Chain chain, const RowSchedule& schedule)
      : stages_(stages), chain_(chain), runs_(schedule.runs()), schedule_(schedule), change_(2 * runs_.size() + 1, 0) {}

  ChainCost run() {
    for (const std::vector<size_t>& runs : runs_of_stages()) keep_rows(runs);
    int64_t live = 0;
    for (int64_t change : change_) {
      live += change;
      cost_.bytes = std::max(cost_.bytes, live);
    }
    cost_.cycles += static_cast<double>(runs_.size() - (chain_.end - chain_.begin)) * kCyclesOfCall;
    return cost_;
  }

 private:
  std::vector<std::vector<size_t>> runs_of_stages() {
    std::vector<std::vector<size_t>> runs(chain_.end - chain_.begin);
    last_read_.assign(runs_.size(), 0);
    for (size_t i = 0; i < runs_.size(); ++i) {
      for (const Stage::Read& read : stages_[runs_[i].stage].reads)
        if (read.stage >= static_cast<int64_t>(chain_.begin)) {
          const std::vector<size_t>& theirs = runs[static_cast<size_t>(read.stage) - chain_.begin];
          if (!theirs.empty()) last_read_[theirs.back()] = 2 * i + 1;  // else the run fills rows of a pad
        }
      runs[runs_[i].stage - chain_.begin].push_back(i);
    }
    return runs;
  }

  void hold(int64_t bytes, size_t from, size_t to) {
    change_[from] += bytes;
    change_[to + 1] -= bytes;
  }

  /// Counts the rows of a stage's results that are in memory: those of each run have a place of their own, after the
  /// older rows that are still needed.
  void keep_rows(const std::vector<size_t>& runs) {
    if (runs.empty() || !schedule_.is_read(runs_[runs.front()].stage)) return;
    const Stage& stage = stages_[runs_[runs.front()].stage];
    for (size_t k = 0; k < runs.size(); ++k) {
      const Run& run = runs_[runs[k]];
      const bool is_copied = k + 1 < runs.size() && old_rows(runs_[runs[k + 1]]) > 0;
      const size_t begin = 2 * runs[k] + (old_rows(run) > 0 ? 0 : 1);
      const size_t end = is_copied ? 2 * runs[k + 1] : std::max(last_read_[runs[k]], begin);
      for (const relax::Value* value : stage.results) {
        const int64_t bytes = row_bytes(*value);
        hold(in_lines((run.made.end - run.first_needed) * bytes), begin, end);
        if (old_rows(run) == 0) continue;
        cost_.cycles += static_cast<double>(old_rows(run) * bytes) * kCyclesOfByte + kCyclesOfCall;
      }
    }
  }

  static int64_t old_rows(const Run& run) { return run.made.begin - run.first_needed; }

  const Stages& stages_;
  const Chain chain_;
  const std::vector<Run>& runs_;
  const RowSchedule& schedule_;
  std::vector<int64_t> change_;
  std::vector<size_t> last_read_;  ///< when each run's rows are last read before the next run of its stage; 0: never
  ChainCost cost_;
};

}  // namespace

ChainCost cost_of(const Stages& stages, Chain chain, const RowSchedule& schedule) {
  return Footprint(stages, chain, schedule).run();
}

}  // namespace relaxc::streaming
