// row_schedule.h: which rows of each stage of a chain are made when.
//
// A few rows of a result are made after those that they need and that are not there yet, down to the first stage. None
// is computed twice; rows that are needed again later are kept.
#pragma once

#include "compiler/transform/graph/streaming/stages.h"

namespace relaxc::streaming {

/// Stages from `begin` to before `end`.
struct Chain {
  size_t begin = 0, end = 0;
};

/// Whether the stages of the chain can run a few rows at a time: all of them stream, and none needs all of what another
/// one makes.
bool can_stream(const Stages& stages, Chain chain);
/// Whether something behind the chain reads results of the stage, so that all of their rows are kept.
bool leaves_chain(const Stage& stage, Chain chain);

/// How many rows a stage makes in one go: `rows` of the last stage of a chain, and of the others as many, or as many as
/// the last one's are of all of its rows.
struct Pace {
  int64_t rows = 1;
  bool scaled = false;
};

/// One run of a stage.
struct Run {
  size_t stage = 0;
  Rows made;
  int64_t first_needed = 0;  ///< row of its results that is kept: what a later run reads, or `made` begins
};

class RowSchedule {
 public:
  RowSchedule(const Stages& stages, Chain chain, Pace pace);

  /// In the order in which they run.
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

/// What a chain takes beyond what is in memory around it.
struct ChainCost {
  int64_t bytes = 0;  ///< at most at one time, without results that are read behind the chain
  double cycles = 0;  ///< of copies and calls that the stages as a whole would not need
};
ChainCost cost_of(const Stages& stages, Chain chain, const RowSchedule& schedule);

}  // namespace relaxc::streaming
