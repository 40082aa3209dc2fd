// run_pipeline.cpp: flags about passes, and the run.
#include "compiler/driver/run_pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "compiler/driver/evaluator.h"
#include "compiler/driver/tools/tune_log.h"
#include "compiler/meaning/semantics_check.h"
#include "compiler/pipeline/schedule_kernels.h"
#include "compiler/transform/passes.h"

namespace relaxc::driver {
namespace {

std::string pass_names() {
  std::string names;
  for (const Pass& pass : compile_pipeline()) names += (names.empty() ? "" : ", ") + std::string(pass.name);
  return names;
}

Status check_pass_names(const Options& options, Diagnostics& diag) {
  std::vector<std::string> named = options.passes.print_before;
  named.insert(named.end(), options.passes.print_after.begin(), options.passes.print_after.end());
  named.insert(named.end(), options.passes.disabled.begin(), options.passes.disabled.end());
  if (!options.passes.stop_after.empty()) named.push_back(options.passes.stop_after);
  for (const std::string& name : named)
    if (name != "all" && find_pass(name) == nullptr)
      return diag.error(nullptr, Kind::usage, "there is no pass named '{}'; the passes are: {}", name, pass_names());
  return Done{};
}

/// Reads "fold_constants.budget=0" into `numbers`.
Status read_pass_option(const std::string& text, PassNumbers& numbers, Diagnostics& diag) {
  size_t equals = std::min(text.find('='), text.size());
  std::string name = text.substr(0, equals), known;
  for (const Pass& pass : compile_pipeline())
    for (const PassOption& option : pass.options) {
      known += (known.empty() ? "" : ", ") + std::string(option.name);
      if (option.name != name) continue;
      int64_t value = 0;
      const char *begin = text.data() + std::min(equals + 1, text.size()), *end = text.data() + text.size();
      auto [stop, error] = std::from_chars(begin, end, value);
      if (error != std::errc() || stop != end || value < option.least)
        return diag.error(nullptr, Kind::usage, "--pass-option {}: {} takes a number of at least {}", text, name,
                          option.least);
      numbers[name] = value;
      return Done{};
    }
  return diag.error(nullptr, Kind::usage, "--pass-option {}: there is no such option; the options are: {}", text,
                    known);
}

void note_pass(Observations& seen, std::string_view pass, const relax::Module& now, double milliseconds) {
  if (pass == "input") seen.before = view_graph(now);
  if (pass == "hoist_scratch") seen.after = view_graph(now);  // the last of the graph before it is lowered
  if (pass == "lower_functions" || pass == "order_calls") seen.unplanned = unplanned_bodies(now);
  if (pass != "input") seen.pass_milliseconds.emplace_back(pass, milliseconds);
}

}  // namespace

Result<PassNumbers> check_pass_flags(const Options& options, Diagnostics& diag) {
  RELAXC_DO(check_pass_names(options, diag));
  PassNumbers numbers;
  if (!options.mixed_precision.empty())
    numbers[std::string(kMixedPrecisionDType.name)] = options.mixed_precision == "float16" ? 1 : 2;
  if (options.opt == "s" || options.opt == "z")  // weights at points are more, and so is what the blocks of tiles hold
    numbers[std::string(kScheduleWinograd.name)] = 0;
  if (options.quantized_io) numbers[std::string(kQuantizedIo.name)] = 1;
  for (const std::string& text : options.pass_options) RELAXC_DO(read_pass_option(text, numbers, diag));
  return numbers;
}

Status run_pipeline(const Options& options, const PassNumbers& numbers, const relax::OpTable& ops, const Target& target,
                    relax::Module& module, interface::Object& object, Observations* observed, Progress& progress,
                    Diagnostics& diag) {
  std::unique_ptr<tir::Evaluator> evaluator = make_evaluator();
  PassContext context{ops, target, diag, *evaluator, options.opt_level(), &object};
  context.max_recursion = options.max_recursion;
  context.options = numbers;
  context.pools = options.pools;
  object.arena_name = options.arena_name;
  PassOptions passes = options.passes;
  passes.time_passes |= options.verbose;
  passes.show = [](const std::string& text) { fmt::print(stderr, "{}", text); };
  bool prints = passes.time_passes || passes.statistics || !passes.print_before.empty() || !passes.print_after.empty();
  if (observed != nullptr || !prints)
    passes.observe = [&](std::string_view pass, const relax::Module& now, double milliseconds) {
      if (!prints) progress.at(fmt::format("after {}", pass));
      if (observed != nullptr) note_pass(*observed, pass, now, milliseconds);
      if (options.passes.observe) options.passes.observe(pass, now, milliseconds);
    };
  TuneLog log;
  if (!options.tune_log.empty()) {
    RELAXC_TRY(log, read_tune_log(options.tune_log, diag));
    if (log.target != target_text(target))
      fmt::print(stderr, "relaxc: note: '{}' was measured for {}, and is not used for {}\n", options.tune_log,
                 log.target, target_text(target));
    else
      passes.prepare = [&](std::string_view pass, relax::Module& now) {
        if (pass == "schedule_kernels") hand_out(log, now);
      };
  }
  std::optional<meaning::SemanticsCheck> semantics;
  if (options.verify_semantics) {
    auto make = [](tir::FindFunction find, tir::CallExternal external) {
      return make_evaluator(std::move(find), std::move(external));
    };
    semantics.emplace(module, ops, make);
    for (const std::string& function : semantics->not_run())
      diag.warning(nullptr, Kind::usage, "--verify-semantics: no random input lets '{}' run to its end", function);
    passes.check = [&](relax::Module& now) { return semantics->difference(now, object); };
  }
  return run_passes(compile_pipeline(), module, context, passes);
}

}  // namespace relaxc::driver
