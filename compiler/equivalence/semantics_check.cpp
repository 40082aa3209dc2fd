// semantics_check.cpp: one set of inputs, many runs.
//
// Inputs are seeded by the function's name and the trial, so that a difference can be reproduced. Results of the module
// as it was read are kept instead of the module, since passes change it in place.
#include "compiler/equivalence/semantics_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/equivalence/entry_call.h"
#include "compiler/equivalence/prepared.h"
#include "compiler/equivalence/random_inputs.h"
#include "compiler/equivalence/stored.h"

namespace relaxc::equivalence {
namespace {

constexpr uint32_t kTrials = 3;
constexpr double kRounding = 1e-3;
/// The interpreter's budget for a run: 65,536 iterations or calls, or fewer that carry many bytes. On random inputs, a
/// loop whose end depends on data may not end.
constexpr int64_t kBudget = int64_t{1} << 28;
/// The factor by which budgets of later runs are larger, since passes may add iterations and calls.
constexpr int64_t kRoom = 4;

uint32_t seed_of(const std::string& name, uint32_t trial) {
  for (char c : name) trial = trial * 31 + static_cast<unsigned char>(c);
  return trial;
}

/// Returns small sizes, except for the last trial, which has one that fills vectors and tiles.
SizeOf sizes(uint32_t trial) {
  constexpr int64_t kLarge = 33;
  return trial + 1 < kTrials ? SizeOf{} : [](arith::Var) { return kLarge; };
}

}  // namespace

SemanticsCheck::SemanticsCheck(relax::Module& module, const relax::OpTable& ops, const MakeEvaluator& make)
    : ops_(ops), module_(&module), first_(module), callees_(external_callees(module)) {
  evaluator_ = make(
      [this](const std::string& name) { return module_->find_prim_func(name); },
      [this](const std::string& name, std::span<const tir::ExternalArg> args) { return externals_->call(name, args); });
  for (const relax::Function* function : module.functions()) {
    if (function->is_private) continue;
    bool ran = false;
    for (uint32_t i = 0; i < kTrials; ++i) {
      Trial trial{function->name,
                  input_names(module, {}, function->name),
                  random_inputs(*function, seed_of(function->name, i), sizes(i)),
                  {},
                  {}};
      trial.outcome = run(trial.function, trial.inputs, kBudget, trial.effects);
      if (gave_up(trial.outcome)) continue;  // there is no result to compare with, and later runs would not end
      ran |= std::holds_alternative<std::vector<HostTensor>>(trial.outcome);
      trials_.push_back(std::move(trial));
    }
    if (!ran) not_run_.push_back(function->name);
  }
}

Outcome SemanticsCheck::run(const std::string& name, const std::vector<HostTensor>& inputs, int64_t budget,
                            std::string& effects) {
  externals_ = std::make_unique<Externals>(first_);
  Outcome outcome = relax::RunFault{{.code = -1}, "there is no function of that name"};
  if (const relax::Function* function = module_->find_function(name)) {
    outcome = relax::interpret(*module_, ops_, *function, inputs, *evaluator_, externals_->function(), budget);
  } else if (object_ != nullptr) {
    for (const interface::Entry& entry : object_->entries)
      if (entry.name == name) outcome = call_entry(*module_, *object_, entry, inputs, *evaluator_);
  }
  effects = externals_->effects();
  return outcome;
}

bool SemanticsCheck::has_new_externals(const relax::Module& module) {
  const size_t known = callees_.size();
  callees_.merge(external_callees(module));
  return callees_.size() > known;
}

std::string SemanticsCheck::difference(relax::Module& module, const interface::Object& object) {
  module_ = &module, object_ = &object;
  if (has_new_externals(module)) {
    for (Trial& trial : trials_) trial.outcome = run(trial.function, trial.inputs, kRoom * kBudget, trial.effects);
    return {};
  }
  const Tolerance tolerance = tolerance_of(module, kRounding);
  for (const Trial& trial : trials_) {
    std::string effects;
    StoredInterface border = stored_interface(module, object, trial.function);
    auto run_one = [&](const std::string& name, const std::vector<HostTensor>& inputs) {
      return run(name, inputs, kRoom * kBudget, effects);
    };
    Outcome now = as_floats(
        border, run_prepared(module, object, trial.function, trial.names, stored(border, trial.inputs), run_one));
    std::string text = equivalence::difference(trial.outcome, now, tolerance);
    // Passes may move guards before calls with an effect, so a run that a guard ends may have made fewer of them.
    const bool ended = std::holds_alternative<std::vector<HostTensor>>(now);
    if (text.empty() && ended && tolerance.relative == 0 && effects != trial.effects)
      text = fmt::format("the calls made for their effect were\n{}and are\n{}", trial.effects, effects);
    if (!text.empty()) return fmt::format("of '{}', {}", trial.function, text);
  }
  return {};
}

}  // namespace relaxc::equivalence
