// scheduler.h: asks strategies for plans of a kernel's parts and applies them.
#pragma once

#include <functional>
#include <vector>

#include "compiler/schedule/analysis/nest_groups.h"
#include "compiler/schedule/strategies/strategy.h"

namespace relaxc::schedule {

/// Schedules a draft of a kernel: asks the strategies stage by stage, and applies the plans that are taken.
class Scheduler {
 public:
  /// \param explanation  receives the strategies that were considered; may be null
  Scheduler(Draft& draft, KernelExplanation* explanation) : draft_(draft), explanation_(explanation) {}

  /// Schedules all nests, in blocks of rows if a strategy plans so.
  void run();

 private:
  Legal<> in_blocks();
  void in_sections();
  void distribute_over_tasks(std::vector<uint32_t> done);
  /// Schedules all statements in focus except the last `others`.
  void schedule_whole(size_t others);
  /// Schedules the nests of a block of rows, and divides the blocks among tasks.
  Legal<> schedule_block(const RowBlock& block);
  void schedule_body(uint32_t loop);

  using Place = std::function<Stmt(const Tree&)>;
  /// Schedules the parts that `all` of the kernel begins with: first each group of nests, then nests over the same rows
  /// together.
  void schedule_parts(const std::vector<Stmt>& parts, const Place& all);
  /// Returns for each part the number of statements that replaced it.
  std::vector<size_t> schedule_group(const NestGroup& group);
  /// Returns false if nothing changed.
  bool schedule_nests(const NestGroup& group, std::vector<size_t>& sizes);
  /// Asks the strategies of a stage and applies the plan that is taken; `part` names the blocks in the explanation.
  /// Returns false if none is taken.
  bool ask(Stage stage, Draft& draft, const std::string& part);

  Draft& draft_;
  KernelExplanation* explanation_;
  size_t statements_ = 0;  ///< the number of statements that replaced the parts
};

}  // namespace relaxc::schedule
