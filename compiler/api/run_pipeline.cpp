// run_pipeline.cpp: applies flags about passes and runs the pipeline.
#include "compiler/api/run_pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "compiler/api/evaluator.h"
#include "compiler/api/input/external_patterns.h"
#include "compiler/equivalence/semantics_check.h"
#include "compiler/pipeline/schedule_kernels.h"
#include "compiler/support/tell.h"
#include "compiler/transform/passes.h"
#include "targets/byte_tile.h"

namespace relaxc::api {
namespace {

std::string pass_names() {
  std::string names;
  for (const Pass& pass : compile_pipeline()) names += (names.empty() ? "" : ", ") + std::string(pass.name);
  return names;
}

Status check_pass_names(const CompileOptions& options, Diagnostics& diag) {
  std::vector<std::string> named = options.passes.print_before;
  named.insert(named.end(), options.passes.print_after.begin(), options.passes.print_after.end());
  named.insert(named.end(), options.passes.disabled.begin(), options.passes.disabled.end());
  if (!options.passes.stop_after.empty()) named.push_back(options.passes.stop_after);
  for (const std::string& name : named) {
    const std::string now = current_name(name);
    if (now != name) print_note(options, fmt::format("the pass '{}' is now called '{}'", name, now));
    if (name != "all" && find_pass(now) == nullptr)
      return diag.error(nullptr, Kind::usage, "there is no pass named '{}'; the passes are: {}", name, pass_names());
  }
  return Done{};
}

/// Returns the options with former names of passes replaced by current ones.
PassOptions with_current_names(PassOptions options) {
  for (std::vector<std::string>* names : {&options.print_before, &options.print_after, &options.disabled})
    for (std::string& name : *names) name = current_name(name);
  options.stop_after = current_name(options.stop_after);
  return options;
}

/// Reads an option of a pass, such as "fold_constants.budget=0", into `numbers`.
Status read_pass_option(const CompileOptions& options, const std::string& text, PassNumbers& numbers,
                        Diagnostics& diag) {
  size_t equals = std::min(text.find('='), text.size());
  const std::string written = text.substr(0, equals), name = current_name(written);
  if (name != written) print_note(options, fmt::format("the option '{}' is now called '{}'", written, name));
  std::string known;
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

/// Records the steps of the kernels that `file` lists. Equal kernels share a key; one of them that was scheduled in
/// another way, since other operands of it are constants, is listed by its name only.
void note_schedules(ScheduleFile& file, const relax::Module& now) {
  std::map<std::string, std::string> steps;
  for (const tir::PrimFunc* kernel : now.prim_funcs()) steps[kernel->name] = kernel->schedule.steps;
  std::vector<KernelSchedule> kept;
  for (KernelSchedule& kernel : file.kernels) {
    kernel.steps = steps[kernel.name];
    auto same = std::find_if(kept.begin(), kept.end(), [&](const auto& one) { return one.key == kernel.key; });
    if (same != kept.end() && same->steps == kernel.steps) continue;
    if (same != kept.end()) kernel.key.clear();
    kept.push_back(kernel);
  }
  std::erase_if(kept, [](const KernelSchedule& kernel) { return kernel.steps.empty() && !kernel.key.empty(); });
  file.kernels = std::move(kept);
}

/// Records names and keys of the kernels that are about to be scheduled.
void note_kernels(ScheduleFile& file, const relax::Module& now, const Target& target) {
  file = {target_text(target), {}};
  for (const tir::PrimFunc* kernel : now.prim_funcs()) {
    KernelSchedule& one = file.kernels.emplace_back();
    one.name = kernel->name, one.key = kernel_key(*kernel);
  }
}

void note_pass(Observations& seen, std::string_view pass, const relax::Module& now, double milliseconds) {
  if (pass == "input") seen.before = view_graph(now);
  if (pass == "hoist_scratch") seen.after = view_graph(now);  // the last graph before lowering
  if (pass == "schedule_kernels") note_schedules(seen.schedules, now);
  if (pass == "lower_functions" || pass == "schedule_calls_for_memory") seen.unplanned = unplanned_bodies(now);
  if (pass == "input") return;
  auto& times = seen.pass_milliseconds;
  auto known = std::find_if(times.begin(), times.end(), [&](const auto& one) { return one.first == pass; });
  if (known == times.end())
    times.emplace_back(pass, milliseconds);
  else
    known->second += milliseconds;  // a clean-up, which runs after several passes
}

/// Returns the context in which passes run.
PassContext pass_context(const CompileOptions& options, const PassNumbers& numbers, const relax::OpTable& ops,
                         const Target& target, tir::Evaluator& evaluator, interface::Object& object,
                         Observations* observed, Diagnostics& diag) {
  PassContext context{ops, target, diag, evaluator, options.opt_level(), &object};
  context.max_recursion = options.max_recursion;
  context.max_data_nodes = options.max_data_nodes;
  context.options = numbers;
  // With vectors, the tails that open sizes need are longer than what is saved; loops of MISRA C need constant ends.
  if (target.vector_bits == 0 && options.c_style.profile == codegen_c::Profile::kPlain) {
    if (options.opt == "z") context.options.try_emplace(std::string(kDeduplicateSizes.name), 16);
    const bool small = options.opt == "s" || options.opt == "z";
    const ByteTileForm tiles = byte_tile_form(target);  // loops in assembly need constant extents
    if (small && (tiles == ByteTileForm::kNone || tiles == ByteTileForm::kHalves))
      context.options.try_emplace(std::string(kDeduplicateScheduledSizes.name), 16);
  }
  context.pools = options.pools;
  context.remark = [&options](const std::string& text) { print_note(options, text); };
  if (observed == nullptr) return context;
  context.explain = [observed](const std::string& kernel, std::string text) {
    observed->explanations[kernel] = std::move(text);
  };
  context.scheduled = [observed](const tir::PrimFunc& before, const tir::PrimFunc& after,
                                 const std::vector<schedule::PackedParam>& packed, const arith::Facts& facts) {
    observed->scheduled_kernels.push_back({before, after, packed, facts});
  };
  return context;
}

/// Returns the options for the pass runner, with the callbacks that observe a run.
PassOptions watched_passes(const CompileOptions& options, interface::Object& object, Observations* observed,
                           const TellBounds& tell_bounds, const TellProgress& progress) {
  PassOptions passes = with_current_names(options.passes);
  if (!passes.show) passes.show = [](const std::string& text) { tell("{}", text); };
  bool prints = passes.time_passes || passes.statistics || !passes.print_before.empty() || !passes.print_after.empty();
  if (observed == nullptr && !tell_bounds && !progress && !options.passes.observe) return passes;
  passes.observe = [&options, &object, observed, &tell_bounds, &progress, prints](
                       std::string_view pass, const relax::Module& now, double milliseconds) {
    if (!prints && progress) progress(fmt::format("after {}", pass));
    if (observed != nullptr) note_pass(*observed, pass, now, milliseconds);
    if (tell_bounds && pass == "plan_memory") tell_bounds(lower::suggested_bounds(now, object));
    if (options.passes.observe) options.passes.observe(pass, now, milliseconds);
  };
  return passes;
}

/// Reads the file of --schedules; its kernels are dropped if it is for another target.
Result<ScheduleFile> given_schedules(const CompileOptions& options, const Target& target, const relax::Module& module,
                                     Diagnostics& diag) {
  if (options.schedules.empty()) return ScheduleFile{};
  RELAXC_TRY(ScheduleFile schedules, read_schedule_file(options.schedules, module.sources(), diag));
  if (schedules.target.empty() || schedules.target == target_text(target)) return schedules;
  print_note(options, fmt::format("'{}' is for {}, and is not used for {}", options.schedules, schedules.target,
                                  target_text(target)));
  schedules.kernels.clear();
  return schedules;
}

}  // namespace

Result<PassNumbers> check_pass_flags(const CompileOptions& options, Diagnostics& diag) {
  RELAXC_DO(check_pass_names(options, diag));
  PassNumbers numbers;
  if (!options.mixed_precision.empty())
    numbers[std::string(kMixedPrecisionDType.name)] = options.mixed_precision == "float16" ? 1 : 2;
  if (options.opt == "s" || options.opt == "z")  // Winograd weights, the blocks of tiles and two forms take more memory
    numbers[std::string(kScheduleWinograd.name)] = 0, numbers[std::string(kFixedPointByChannel.name)] = 0,
    numbers[std::string(kUnswitchBroadcasts.name)] = 0,
    numbers[std::string(kScheduleSmall.name)] = options.opt == "z" ? 2 : 1;
  if (options.lift_params) numbers[std::string(kLiftTransformParams.name)] = 1;
  if (options.quantized_io) numbers[std::string(kQuantizedIo.name)] = 1;
  for (const std::string& text : options.pass_options) RELAXC_DO(read_pass_option(options, text, numbers, diag));
  return numbers;
}

Status run_pipeline(const CompileOptions& options, const PassNumbers& numbers, const relax::OpTable& ops,
                    const Target& target, relax::Module& module, interface::Object& object, Observations* observed,
                    const TellBounds& tell_bounds, const TellProgress& progress, Diagnostics& diag) {
  std::unique_ptr<tir::Evaluator> evaluator = make_evaluator();
  PassContext context = pass_context(options, numbers, ops, target, *evaluator, object, observed, diag);
  object.arena_name = options.arena_name;
  PassOptions passes = watched_passes(options, object, observed, tell_bounds, progress);
  RELAXC_TRY(ExternalPatterns patterns, read_external_patterns(options, ops, module.sources(), diag));
  if (!options.external_patterns.empty()) context.external_patterns = &patterns;
  RELAXC_TRY(ScheduleFile schedules, given_schedules(options, target, module, diag));
  bool scheduled = false;
  passes.prepare = [&](std::string_view pass, relax::Module& now, PassContext& own) -> Status {
    RELAXC_DO(check_not_cancelled(options, diag));
    if (options.passes.prepare) RELAXC_DO(options.passes.prepare(pass, now, own));
    // Kernels that later passes add, such as copies and kernels shared by two calls, are noted before math is expanded.
    if (observed != nullptr && (pass == "schedule_kernels" || pass == "lower_scalar_math"))
      for (const tir::PrimFunc* kernel : now.prim_funcs()) observed->definitions.try_emplace(kernel->name, *kernel);
    if (pass != "schedule_kernels") return Done{};
    scheduled = true;
    if (observed != nullptr && !options.write_schedules.empty()) note_kernels(observed->schedules, now, target);
    return schedules.kernels.empty() ? Status(Done{}) : assign_schedules(schedules, options, now, own);
  };
  std::optional<equivalence::SemanticsCheck> semantics;
  if (options.verify_semantics) {
    auto make = [](tir::FindFunction find, tir::CallExternal external) {
      return make_evaluator(std::move(find), std::move(external));
    };
    semantics.emplace(module, ops, make);
    for (const std::string& function : semantics->not_run())
      diag.warning(nullptr, Kind::usage, "--verify-semantics: no random input lets '{}' run to its end", function);
    passes.check = [&](relax::Module& now) { return semantics->difference(now, object); };
  }
  RELAXC_DO(run_passes(compile_pipeline(), module, context, passes));
  if (!scheduled && !options.schedules.empty())
    diag.warning(nullptr, Kind::usage, "'{}' is not used: the pass schedule_kernels does not run", options.schedules);
  return Done{};
}

}  // namespace relaxc::api
