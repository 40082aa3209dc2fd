// row_schedule.h: the order in which the stages of a chain compute their rows.
//
// Rows of a result are computed after those that they need and that are still missing, recursively to the first stage.
// None is computed twice; rows that are needed again later are kept.
#pragma once

#include "compiler/transform/graph/streaming/stages.h"

namespace relaxc::streaming {

/// The stages [begin, end).
struct Chain {
  size_t begin = 0, end = 0;
};

/// Whether the stages of the chain can run a few rows at a time: all of them stream, and none needs another's result as
/// a whole.
bool can_stream(const Stages& stages, Chain chain);
/// Whether an op after the chain reads results of the stage, so that all of their rows are kept.
bool leaves_chain(const Stage& stage, Chain chain);

/// How many rows a stage computes in one run: `rows`. If `scaled`, that is for the last stage of a chain, and the
/// others compute the same fraction of all of their rows.
struct Pace {
  int64_t rows = 1;
  bool scaled = false;
};

/// One run of a stage.
struct Run {
  size_t stage = 0;
  Rows made;
  int64_t first_needed = 0;  ///< first row of its results to keep: a later run reads it, or `made` begins there
};

class RowSchedule {
 public:
  RowSchedule(const Stages& stages, Chain chain, Pace pace);

  /// All runs, in the order of execution.
  const std::vector<Run>& runs() const { return runs_; }
  /// Whether a stage of the chain reads results of this one.
  bool is_read(size_t stage) const { return read_[stage - chain_.begin]; }

 private:
  void make(const Stages& stages, size_t stage, int64_t end, std::vector<int64_t>& done);
  void find_needed(const Stages& stages);

  Chain chain_;
  std::vector<int64_t> rows_of_run_;
  std::vector<Run> runs_;
  std::vector<bool> read_;
};

/// What a chain costs beyond the values that are in memory around it.
struct ChainCost {
  int64_t bytes = 0;  ///< peak, without results that are read after the chain
  double cycles = 0;  ///< of copies and calls that whole stages would not need
};
ChainCost cost_of(const Stages& stages, Chain chain, const RowSchedule& schedule);

}  // namespace relaxc::streaming
