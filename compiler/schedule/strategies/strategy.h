// strategy.h: what a strategy is: a row of match, cycles and plan.
//
// `match` asks the tree whether the strategy is for it, and answers with what it found or with a sentence that says why
// not; `cycles` estimates; `plan` says as data what is to be done. None of them changes a tree. The scheduler takes a
// row and carries out its plan. Where a decision depends on what earlier steps made of the tree, it is the plan of a
// later stage, which asks the rows of that stage.
//
// A draft is a value, since statements are immutable: a plan is carried out on a copy, which takes the place of the
// draft when all of its stages have found a row, and else is forgotten.
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

/// A loop over blocks of rows; the loop over blocks of keys in it, or 0.
struct RowBlock {
  uint32_t rows = 0, keys = 0;
};

/// A kernel that is being scheduled, as strategies see it.
struct Draft {
  Tree tree;  ///< in focus: what the rows of a stage are asked about
  const Target* target;
  const ScheduleOptions* options;
  Knobs knobs;
  bool in_blocks = false;             ///< nests may stand there twice: they have no scratch memory and pack nothing
  std::vector<RowBlock> blocks = {};  ///< what Stage::kKernel cut the kernel into
  std::optional<ReductionGroup> group = {};  ///< of Stage::kNests: what is in focus, if it reduces
  ReductionForm reduction = {};              ///< of Stage::kOperands and kLanes
  std::vector<uint32_t> open_blocks = {};    ///< loops over any number of blocks, each with scratch memory of its own
  std::vector<uint32_t> row_loops = {};      ///< of Stage::kRows: of nests one behind the other; 0: it is no such nest
  std::vector<uint32_t> shared = {};         ///< of Stage::kTasks: loops that have been looked at

  bool explains = false;  ///< somebody reads what plans tell
  std::vector<Considered> considered = {};
  std::string remark = {};  ///< why the first plan was given up of which a step was refused; empty: none was
};

/// What a strategy means to do: a type of its own with `std::string text() const` and
/// `Legal<> carry_out(Draft&) const`.
class KernelPlan {
 public:
  template <typename P>
  explicit KernelPlan(P plan) : plan_(std::make_shared<Of<P>>(std::move(plan))) {}

  std::string text() const { return plan_->text(); }
  /// Takes the steps, and asks the stages behind them. The draft is worth nothing if that fails.
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
  double cycles = 0;  ///< about, of the part once, without loops of open extents; 0: an explanation was not asked for
};

/// A row of the table of strategies.
struct Strategy {
  std::string_view name;
  Stage stage = Stage::kNests;
  int priority = 0;  ///< rows of more are asked first; of those of the same, the one of the fewest cycles is taken
  std::string_view doc;
  Legal<Proposal> (*propose)(const Draft&) = nullptr;
};

/// An estimate that decides nothing, because no other row of the stage has the same priority. It is made where an
/// explanation is asked for.
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

/// The name of a loop for the text of a plan; empty where no explanation is wanted, since names take a walk of the
/// kernel.
std::string explained_name(const Draft& draft, uint32_t loop);

/// All rows, those of a stage together, in the order in which they are asked.
std::span<const Strategy> strategies();

/// Takes the first row of the stage that fits and carries out its plan. Refused: none fits, and the draft is as it was
/// but for what it tells about the rows that were asked.
Legal<> run_stage(Stage stage, Draft& draft);

}  // namespace relaxc::schedule
