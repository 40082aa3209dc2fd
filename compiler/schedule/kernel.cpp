// kernel.cpp: a kernel's nests, one group after the other.
//
// A kernel as fusion leaves it is a sequence of nests inside allocations. A reduction takes with it the nest that fills
// in its neutral element (the tile begins with it anyway) and the consumers that follow over the same axes; results
// that nobody else reads then never reach memory.
#include "compiler/schedule/kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "compiler/schedule/analysis/access.h"
#include "compiler/schedule/analysis/legality.h"
#include "compiler/schedule/primitives/online_softmax.h"
#include "compiler/schedule/primitives/row_blocks.h"
#include "compiler/schedule/primitives/window_blocks.h"
#include "compiler/schedule/strategies/rule_parts.h"
#include "compiler/schedule/trace/trace.h"
#include "compiler/tir/verify.h"

namespace relaxc::schedule {

using analysis::Nest;

namespace {

/// What is in focus takes its place in the kernel again.
void leave_focus(Tree& tree) {
  RELAXC_CHECK(apply(tree, FocusWhole{}), "the whole kernel can always be seen");
}

class Rules {
 public:
  Rules(Tree& s, const Target& target, Choices& choices, const Freedom& freedom)
      : s_(s), target_(target), choices_(choices), freedom_(freedom) {}

  /// All nests, each group of them by the rule that fits; in blocks of rows where that is to be.
  void run() {
    if (keeps_legal([&] { return schedule_in_blocks(); })) return;
    in_blocks_ = false;
    schedule_sections();
  }

  /// Why the first rule that made an illegal step was given up; empty: none did.
  const std::string& remark() const { return remark_; }

 private:
  /// Runs a rule; all is as it was if it does not fit (false), or makes a step that is not legal: kernels that somebody
  /// wrote and scheduled by hand have forms that rules do not know.
  template <typename F>
  bool keeps_legal(F rule) {
    const Tree before = s_;
    const Choices choices = choices_;
    const Legal<bool> done = rule();
    if (done && *done) return true;
    if (!done && remark_.empty()) remark_ = done.illegal().reason;
    s_ = before;
    choices_ = choices;
    return false;
  }

  Legal<bool> schedule_in_blocks() {
    RELAXC_STEP(std::vector<RowBlock> blocks, cut_rows());
    in_blocks_ = !blocks.empty();
    if (const int64_t window_rows = in_blocks_ ? 0 : rows_of_windows(); window_rows > 0) {
      RELAXC_STEP(const uint32_t loop, apply(s_, WindowBlockLoop{window_rows}));
      blocks = {{loop}};
    }
    if (blocks.empty()) return false;
    schedule_whole(blocks.size());
    std::vector<uint32_t> loops;
    for (const RowBlock& block : blocks) {
      RELAXC_LEGAL(schedule_block(block));
      loops.push_back(block.rows);
    }
    share_among_tasks(loops);
    return true;
  }

  void share_among_tasks(const std::vector<uint32_t>& done) {
    keeps_legal([&]() -> Legal<bool> {
      RELAXC_LEGAL(schedule_parallel(s_, target_, done));
      return true;
    });
  }

  /// A loop over blocks of rows; the loop over blocks of keys in it, or 0.
  struct RowBlock {
    uint32_t rows = 0, keys = 0;
  };

  Legal<std::vector<RowBlock>> cut_rows() {
    std::vector<RowBlock> blocks;
    const int64_t rows = rows_of_block(s_, target_);
    if (rows == 0) return blocks;
    const Tree before = s_;
    RELAXC_STEP(std::vector<uint32_t> loops, apply(s_, RowBlockLoops{rows}));
    const int64_t keys = keys_of_block(s_, loops.front(), freedom_.online_softmax);
    if (keys > 0) {
      s_ = before;
      RELAXC_STEP(loops, apply(s_, RowBlockLoops{rows_of_block(s_, target_, keys)}));
    }
    for (uint32_t loop : loops) {
      blocks.push_back({loop, 0});
      if (keys == 0) continue;
      RELAXC_STEP(blocks.back().keys, apply(s_, OnlineSoftmax{loop, keys}));
    }
    return blocks;
  }

  /// Minimal filtering has blocks of its own, and saves more than memory takes.
  int64_t rows_of_windows() {
    const int64_t rows = rows_of_window_block(s_, target_);
    if (rows == 0) return 0;
    Tree direct = s_;
    Choices choices = choices_;
    Rules trial(direct, target_, choices, freedom_);
    trial.schedule_whole(0);
    return trial.filters_ ? 0 : rows;
  }

  /// Sections one by one, so that a kernel of very many nests (a wide concatenation) costs what they are many.
  void schedule_sections() {
    std::vector<size_t> ends = section_ends(statements_of(s_.root()));
    for (size_t i = ends.size(); i-- > 0;) {
      if (ends.size() > 1) {
        const auto begin = static_cast<int64_t>(i == 0 ? 0 : ends[i - 1]), end = static_cast<int64_t>(ends[i]);
        RELAXC_CHECK(apply(s_, FocusSection{begin, end}), "a section of a kernel's statements");
      }
      schedule_whole(0);
      share_among_tasks({});
    }
  }

  /// A section ends before a nest that reads nothing of what the section makes, if it is long enough.
  static std::vector<size_t> section_ends(const std::vector<Stmt>& parts) {
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

  /// All that is seen but the last `others` statements.
  void schedule_whole(size_t others) {
    std::vector<Stmt> parts = statements_of(s_.root());
    parts.resize(parts.size() - others);
    schedule_parts(std::move(parts), [](const Tree& s) { return s.root(); });
  }

  /// The nests of a block of rows, and how many tasks share the blocks.
  Legal<> schedule_block(const RowBlock& block) {
    if (block.keys != 0) schedule_body(block.keys);
    schedule_body(block.rows);
    const tir::For& loop = s_.loop(block.rows);
    const int64_t tasks = tasks_worth(loop.body, loop.extent, target_);
    uint32_t serial = block.rows;
    if (tasks > 1) {
      RELAXC_STEP(serial, apply(s_, Share{block.rows, tasks}));
    }
    return apply(s_, LiftAllocs{serial});
  }

  void schedule_body(uint32_t loop) {
    auto body = [=](const Tree& s) { return s.loop(loop).body; };
    schedule_parts(statements_of(body(s_)), body);
  }

  /// The parts that `all` of the kernel begins with: each as its rule says, then those over the same rows together.
  void schedule_parts(std::vector<Stmt> parts, std::function<Stmt(const Tree&)> all) {
    parts_ = std::move(parts);
    all_ = std::move(all);
    sizes_.clear();
    for (size_t i = 0; i < parts_.size();) i = schedule_part(i);
    leave_focus(s_);
    const std::vector<Stmt> now = statements_of(all_(s_));
    std::vector<uint32_t> loops;
    size_t place = 0;
    for (size_t size : sizes_) {
      loops.push_back(size == 1 ? row_loop(s_.context(), now.at(place)) : 0);
      place += size;
    }
    keeps_legal([&]() -> Legal<bool> {
      RELAXC_LEGAL(schedule_rows(s_, loops, target_));
      return true;
    });
  }

  /// Gives the part to go on with.
  size_t schedule_part(size_t i) {
    const Nest nest = analysis::as_nest(parts_[i]);
    if (fills_next(i)) return i + 1;  // schedule_group sees to it
    if (is_reduction(nest) && is_normal(nest)) return schedule_group(i, nest);
    add_spatial(i);
    return i + 1;
  }

  void add_spatial(size_t i) {
    const Nest nest = analysis::as_nest(parts_[i]);
    bool done = nest.block != nullptr && attempt(i, i + 1, [&] { return schedule_spatial(s_, target_); });
    if (!done) sizes_.push_back(1);
  }

  /// Part `i` only fills in the neutral element of the reduction behind it.
  bool fills_next(size_t i) const {
    if (i + 1 >= parts_.size()) return false;
    const Nest next = analysis::as_nest(parts_[i + 1]);
    return is_reduction(next) && is_normal(next) && fills_for(analysis::as_nest(parts_[i]), next);
  }

  size_t schedule_group(size_t i, const Nest& nest) {
    std::vector<BufferRef> results{nest.store->buffer};
    size_t next = i + 1;
    for (; next < parts_.size() && joins(analysis::as_nest(parts_[next]), nest, results); ++next) {
      if (fills_next(next)) break;
      results.push_back(analysis::as_nest(parts_[next]).store->buffer);
    }
    const bool fill = i > 0 && fills_next(i - 1);
    const size_t begin = fill ? i - 1 : i;
    auto whole = [&](auto rule) { return attempt(begin, next, [&] { return rule(*group_in(s_)); }); };
    auto reduction = [&](const ReductionGroup& group) {
      return schedule_reduction(s_, group, target_, !in_blocks_, choices_);
    };
    bool done = !in_blocks_ && whole([&](const ReductionGroup& group) {
      return schedule_winograd(s_, group, target_, freedom_.winograd, choices_);
    });
    filters_ |= done;
    done =
        done || (!in_blocks_ && whole([&](const ReductionGroup& group) { return schedule_pool(s_, group, target_); }));
    done = done || whole(reduction);
    if (!done && next > i + 1) {  // at least each by itself
      next = i + 1;
      done = whole(reduction);
    }
    if (done) return next;
    if (fill) add_spatial(i - 1);
    sizes_.push_back(1);
    return next;
  }

  /// Applies a rule to the parts from `begin` to before `end`; all is as it was if it does not fit.
  template <typename F>
  bool attempt(size_t begin, size_t end, F rule) {
    const size_t others = statements() - (end - begin);
    std::vector<uint32_t> blocks;
    for (size_t i = begin; i < end; ++i) blocks.push_back(analysis::as_nest(parts_[i]).block->id);
    const bool done = keeps_legal([&]() -> Legal<bool> {
      RELAXC_LEGAL(apply(s_, FocusNests{{blocks}}));
      return rule();
    });
    if (done) sizes_.push_back(statements() - others);
    return done;
  }

  size_t statements() const {
    Tree now = s_;
    now.leave_focus();
    return statements_of(all_(now)).size();
  }

  Tree& s_;
  const Target& target_;
  Choices& choices_;
  const Freedom& freedom_;
  std::function<Stmt(const Tree&)> all_;  ///< what the parts are of
  std::vector<Stmt> parts_;
  std::vector<size_t> sizes_;  ///< of what the parts so far have become, in statements
  bool filters_ = false;       ///< some convolution goes by minimal filtering
  std::string remark_;
  bool in_blocks_ = false;  ///< the kernel is cut by row_blocks: its nests may stand there twice, and pack nothing
};

/// Constants that a step wants in another form are packed.
Legal<> all_packed(const Tree& tree) {
  for (const Operand& operand : tree.operands())
    RELAXC_REQUIRE(operand.buffer == operand.param,
                   fmt::format("{} is to be packed, and no step does it", operand.buffer->name));
  return Done{};
}

/// What only steps in between needed goes away.
Stmt without_unused(Context& context, Stmt s) {
  tir::Rewriter rewriter;
  rewriter.on_stmt = [](Stmt inner) {
    const auto* view = inner.as<tir::View>();
    if (view != nullptr && !is_used(view->body, view->buffer)) return view->body;
    const auto* alloc = inner.as<tir::Alloc>();
    return alloc != nullptr && !is_used(alloc->body, alloc->buffer) ? alloc->body : inner;
  };
  return tir::rewrite(context, s, rewriter);
}

/// The schedule's tree becomes the kernel's body; packed constants take the places of the parameters they were.
void finish(Tree& s, tir::PrimFunc& kernel, std::vector<PackedParam>& packed) {
  s.leave_section();
  kernel.body = without_unused(s.context(), s.root());
  for (const PackedParam& one : s.packed()) {
    for (tir::Param& param : kernel.params)
      if (param.buffer == one.param) param.buffer = one.packed;
    packed.push_back(one);
  }
  kernel.schedule.steps = in_one_line(s.trace());
}

}  // namespace

bool schedule_kernel(arith::Context& context, tir::PrimFunc& kernel, const Target& target,
                     const std::vector<BufferRef>& constants, std::vector<PackedParam>& packed,
                     const arith::Facts& facts, const Freedom& freedom) {
  if (statements_of(kernel.body).empty() || !statements_of(kernel.body)[0]) return false;
  Choices choices(kernel.schedule.choices.value_or(""));
  Tree s(context, kernel.body, facts, constants, kernel.is_private);
  Rules rules(s, target, choices, freedom);
  rules.run();
  if (!rules.remark().empty()) kernel.schedule.remark = rules.remark();
  if (s.trace().empty()) return false;
  finish(s, kernel, packed);
  if (kernel.schedule.choices) kernel.schedule.choices = choices.text();
  return true;
}

bool schedule_kernel(arith::Context& context, tir::PrimFunc& kernel, const Target& target) {
  std::vector<PackedParam> none;
  return schedule_kernel(context, kernel, target, {}, none);
}

Status replay_kernel(arith::Context& context, tir::PrimFunc& kernel, const std::vector<BufferRef>& constants,
                     std::vector<PackedParam>& packed, const arith::Facts& facts, const TextSpan& steps,
                     Sources& sources, Diagnostics& diag) {
  Tree s(context, kernel.body, facts, constants, kernel.is_private);
  const std::string_view text = std::string_view(steps.file->text).substr(steps.begin, steps.length);
  TextSpan at = steps;
  auto refused = [&](const Illegal& illegal) {
    return diag.error(sources.at(at), Kind::invalid_value, "kernel '{}': {}", kernel.name, illegal.reason);
  };
  for (const StepText& step : steps_of(text)) {
    at.begin = steps.begin + static_cast<uint32_t>(step.begin);
    at.length = static_cast<uint32_t>(step.text.size());
    if (const Legal<> done = apply_text(s, step.text); !done) return refused(done.illegal());
  }
  if (const Legal<> packed_all = all_packed(s); !packed_all) return refused(packed_all.illegal());
  tir::PrimFunc made = kernel;
  std::vector<PackedParam> own;
  finish(s, made, own);
  if (std::string fault = tir::first_fault(made); !fault.empty())
    return diag.error(sources.at(at), Kind::invalid_value,
                      "kernel '{}': the steps up to here leave no valid kernel: {}", kernel.name, fault);
  kernel = std::move(made);
  packed.insert(packed.end(), own.begin(), own.end());
  return Done{};
}

}  // namespace relaxc::schedule
