// strategy.h: what a strategy is: a row of match, cycles and plan.
//
// `match` returns what the strategy recognizes in the tree, or a sentence that says why it does not apply; `cycles`
// estimates the plan; `plan` returns it as data. None of them changes a tree. The scheduler takes a row and applies its
// plan. A decision that depends on the tree after earlier steps belongs to a later stage, with rows of its own.
//
// A draft is a value, since statements are immutable. A plan is applied to a copy, which replaces the draft if every
// later stage found a row, and is discarded otherwise.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/schedule/explanation.h"
#include "compiler/schedule/options.h"
#include "compiler/schedule/strategies/parts/knobs.h"
#include "compiler/schedule/strategies/parts/reduction_form.h"
#include "compiler/schedule/tree/tree.h"
#include "targets/target.h"

namespace relaxc::schedule {

/// The loop over blocks of rows, and the loop over blocks of keys in it (0 if there is none).
struct RowBlock {
  uint32_t rows = 0, keys = 0;
};

/// A kernel that is being scheduled, as strategies see it.
struct Draft {
  Tree tree;  ///< the strategies of a stage are asked about what is in focus
  const Target* target;
  const ScheduleOptions* options;
  Knobs knobs;
  /// The nests are in a loop over blocks of rows, of which there may be two copies: no scratch memory, no packing.
  bool in_blocks = false;
  std::vector<RowBlock> blocks = {};         ///< the blocks that Stage::kKernel divided the kernel into
  std::optional<ReductionGroup> group = {};  ///< for Stage::kNests: the group in focus, if it is a reduction
  ReductionForm reduction = {};              ///< for Stage::kOperands and kLanes
  std::vector<uint32_t> open_blocks = {};    ///< loops over an open number of blocks, each with scratch memory
  std::vector<uint32_t> row_loops = {};      ///< for Stage::kRows: the row loops of consecutive nests; 0: none
  std::vector<uint32_t> shared = {};         ///< for Stage::kTasks: loops that were already considered

  bool explains = false;  ///< an explanation is wanted
  std::vector<Considered> considered = {};
  std::string remark = {};  ///< why the first step that was refused gave up a plan; empty if none was
};

/// The plan of a strategy: any type with `std::string text() const` and `Legal<> carry_out(Draft&) const`.
class KernelPlan {
 public:
  template <typename P>
  explicit KernelPlan(P plan) : plan_(std::make_shared<Of<P>>(std::move(plan))) {}

  std::string text() const { return plan_->text(); }
  /// Applies the steps, and runs the later stages. If it fails, the draft is in no defined state.
  Legal<> carry_out(Draft& draft) const { return plan_->carry_out(draft); }

 private:
  struct Any {
    virtual ~Any() = default;
    virtual std::string text() const = 0;
    virtual Legal<> carry_out(Draft& draft) const = 0;
  };
  template <typename P>
  struct Of final : Any {
    explicit Of(P made) : plan(std::move(made)) {}
    std::string text() const override { return plan.text(); }
    Legal<> carry_out(Draft& draft) const override { return plan.carry_out(draft); }
    P plan;
  };
  std::shared_ptr<const Any> plan_;
};

struct Proposal {
  KernelPlan plan;
  double cycles = 0;  ///< estimate for one run of the part, open extents counted as 1; 0 if it was not needed
};

/// A row of the table of strategies.
struct Strategy {
  std::string_view name;
  Stage stage = Stage::kNests;
  int priority = 0;  ///< higher ones are asked first; among equal ones the plan of the fewest cycles is taken
  std::string_view doc;
  Legal<Proposal> (*propose)(const Draft&) = nullptr;
};

/// An estimate that decides nothing, because no other row of the stage has the same priority. It is computed only if an
/// explanation is wanted.
template <auto cycles>
struct ForExplanation {
  double operator()(const Draft& draft, const auto& matched) const {
    return draft.explains ? cycles(draft, matched) : 0.0;
  }
};
template <auto cycles>
inline constexpr ForExplanation<cycles> kForExplanation;  // no lambda: GCC 12 gives those of all instances one name

/// match(draft) → Legal<M>, cycles(draft, M) → double, plan(draft, M) → Legal<P>.
template <auto match, auto cycles, auto plan>
Legal<Proposal> propose(const Draft& draft) {
  RELAXC_STEP(const auto matched, match(draft));
  RELAXC_STEP(auto made, plan(draft, matched));
  return Proposal{KernelPlan(std::move(made)), cycles(draft, matched)};
}

/// The name of a loop for the text of a plan. Empty if no explanation is wanted, since a name takes a walk over the
/// kernel.
std::string explained_name(const Draft& draft, uint32_t loop);

/// All rows, those of a stage together, in the order in which they are asked.
std::span<const Strategy> strategies();

/// Applies the plan of the first row of the stage that has one. If none has, the result is the reason, and of the draft
/// only `considered` and `remark` change.
Legal<> run_stage(Stage stage, Draft& draft);

}  // namespace relaxc::schedule
