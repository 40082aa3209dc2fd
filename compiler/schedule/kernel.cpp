// kernel.cpp: makes a draft of a prim func, and a prim func of the draft.
#include "compiler/schedule/kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/schedule/analysis/access.h"
#include "compiler/schedule/analysis/legality.h"
#include "compiler/schedule/scheduler.h"
#include "compiler/schedule/trace/trace.h"
#include "compiler/tir/verify.h"

namespace relaxc::schedule {
namespace {

/// Fails if a step reads a constant in another form, but no step packs it.
Legal<> all_packed(const Tree& tree) {
  for (const Operand& operand : tree.operands())
    RELAXC_REQUIRE(operand.buffer == operand.param,
                   fmt::format("{} is to be packed, and no step does it", operand.buffer->name));
  return Done{};
}

/// Removes views and allocations that no statement uses any more.
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

/// Makes the tree the kernel's body, and replaces parameters by their packed constants.
void finish(Tree& s, tir::PrimFunc& kernel, std::vector<PackedParam>& packed) {
  s.leave_section();
  kernel.body = without_unused(s.context(), s.root());
  for (const PackedParam& one : s.packed()) {
    for (tir::Param& param : kernel.params)
      if (param.buffer == one.param) param.buffer = one.packed;
    packed.push_back(one);
  }
  kernel.schedule.steps = to_string(s.trace());
}

}  // namespace

bool schedule_kernel(arith::Context& context, tir::PrimFunc& kernel, const Target& target,
                     const std::vector<BufferRef>& constants, std::vector<PackedParam>& packed,
                     const arith::Facts& facts, const ScheduleOptions& options, KernelExplanation* explanation) {
  if (statements_of(kernel.body).empty() || !statements_of(kernel.body)[0]) return false;
  Draft draft{.tree = Tree(context, kernel.body, facts, constants, kernel.is_private),
              .target = &target,
              .options = &options,
              .knobs = Knobs(kernel.schedule.choices.value_or(""))};
  draft.tree.let_overwrite_operands(!kernel.memory.in_place.empty());
  draft.explains = explanation != nullptr;
  Scheduler(draft, explanation).run();
  if (!draft.remark.empty()) kernel.schedule.remark = draft.remark;
  if (draft.tree.trace().empty()) return false;
  finish(draft.tree, kernel, packed);
  if (kernel.schedule.choices) kernel.schedule.choices = draft.knobs.text();
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
  s.let_overwrite_operands(!kernel.memory.in_place.empty());
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
