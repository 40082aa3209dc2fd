// scheduler.h: a kernel's nests, one group after the other.
#pragma once

#include <functional>
#include <vector>

#include "compiler/schedule/analysis/nest_groups.h"
#include "compiler/schedule/strategies/strategy.h"

namespace relaxc::schedule {

/// Asks the strategies about a draft of a kernel, stage by stage, and carries out what they plan.
class Scheduler {
 public:
  /// \param explanation  gets what was asked and answered; null: not wanted
  Scheduler(Draft& draft, KernelExplanation* explanation) : draft_(draft), explanation_(explanation) {}

  /// All nests, each group of them by the strategy that fits; in blocks of rows where that is to be.
  void run();

 private:
  Legal<> in_blocks();
  void in_sections();
  void distribute_over_tasks(std::vector<uint32_t> done);
  /// All statements in focus except the last `others`.
  void schedule_whole(size_t others);
  /// The nests of a block of rows, and how many tasks share the blocks.
  Legal<> schedule_block(const RowBlock& block);
  void schedule_body(uint32_t loop);

  using Place = std::function<Stmt(const Tree&)>;
  /// The parts that `all` of the kernel begins with: each group as its strategy says, then those over the same rows
  /// together.
  void schedule_parts(const std::vector<Stmt>& parts, const Place& all);
  /// Returns how many statements each part has become.
  std::vector<size_t> schedule_group(const NestGroup& group);
  /// False: all is as it was.
  bool schedule_nests(const NestGroup& group, std::vector<size_t>& sizes);
  /// Asks the rows of a stage; the answers are about what `part` names.
  bool ask(Stage stage, Draft& draft, const std::string& part);

  Draft& draft_;
  KernelExplanation* explanation_;
  size_t statements_ = 0;  ///< the number of statements that replaced the parts
};

}  // namespace relaxc::schedule
