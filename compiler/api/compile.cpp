// compile.cpp: reads, transforms and writes a program.
#include "compiler/api/compile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "compiler/api/choose_target.h"
#include "compiler/api/input/external_patterns.h"
#include "compiler/api/input/read_input.h"
#include "compiler/api/output/identity.h"
#include "compiler/api/output/selftest.h"
#include "compiler/api/output/write_text.h"
#include "compiler/api/report/write_reports.h"
#include "compiler/api/row_budget.h"
#include "compiler/api/wasm_versions.h"
#include "compiler/ops/op_table.h"
#include "compiler/transform/passes.h"
#include "compiler/transform/tvm/tvm_dialect.h"
#include "targets/isa_features.h"

namespace relaxc::api {
namespace {

class Compilation {
 public:
  Compilation(const CompileOptions& options, const std::vector<std::string>& targets, Goal goal, Outputs& outputs,
              Diagnostics& diag, const Watch& watch)
      : options_(options),
        targets_(targets),
        goal_(goal),
        outputs_(outputs),
        diag_(diag),
        watch_(watch),
        ops_(ops::op_table()) {}

  Result<std::unique_ptr<Artifact>> run() {
    Diagnostics& diag = diag_;
    RELAXC_DO(prepare());
    RELAXC_DO(read());
    fit_ram();
    made_->object.hooks = options_.hooks;
    if (writes_for_tvm())
      RELAXC_DO(lower_for_tvm());
    else if (goal_ != Goal::kText || !options_.passes.stop_after.empty())
      RELAXC_DO(run_pipeline(options_, numbers_, ops_, made_->target, made_->module, made_->object,
                             observes() ? &made_->observed : nullptr, bounds(), watch_.progress, diag));
    if (watch_.compiled) watch_.compiled(*made_);
    if (goal_ == Goal::kObject) {
      if (!made_->levels.empty()) RELAXC_DO(add_lesser_levels());
      RELAXC_DO(finish());
      if (watch_.finished) watch_.finished(*made_);
    }
    bool refused = options_.warnings_are_errors && !diag.all().empty();
    if (goal_ != Goal::kModule && !refused) RELAXC_DO(write());
    return std::move(made_);
  }

 private:
  /// Checks everything that does not need the input, so that a mistake in the options is reported at once.
  Status prepare() {
    Diagnostics& diag = diag_;
    RELAXC_TRY(numbers_, check_pass_flags(options_, diag));
    if (goal_ != Goal::kModule) {
      RELAXC_TRY(made_->plan, plan_outputs(options_, diag));
      note_name();
    }
    RELAXC_DO(check_not_cancelled(options_, diag));
    if (options_.target.ends_with(".json")) RELAXC_DO(note_read(options_.target, target_files_));
    RELAXC_TRY(made_->target, choose_target(options_, diag));
    RELAXC_TRY(made_->levels, choose_levels(options_, diag));
    if (made_->plan.emit == Emit::kC) made_->levels.clear();  // the C compiler decides which CPU C is compiled for
    return check_targets();
  }

  /// Fails (usage) if no module chooses between the targets of --target.
  Status check_targets() const {
    Diagnostics& diag = diag_;
    if (goal_ == Goal::kModule) return Done{};
    for (size_t i = 1; i < targets_.size(); ++i) {
      CompileOptions options = options_;
      options.target = targets_[i];
      RELAXC_TRY(const Target other, choose_target(options, diag));
      RELAXC_DO(check_versions(made_->plan, fmt::format("{}", fmt::join(targets_, ",")), made_->target, other, diag));
    }
    return Done{};
  }

  /// Says how C calls the model if the output's stem is no C name.
  void note_name() const {
    const OutputPlan& plan = made_->plan;
    const std::string stem = std::filesystem::path(options_.output).stem().string();
    if (plan.header.empty() || !options_.name.empty() || plan.name == stem) return;
    print_note(options_,
               fmt::format("C names begin with '{0}_', since '{1}' is none; --name={0} chooses it without this note",
                           plan.name, stem));
  }

  Status read() {
    Diagnostics& diag = diag_;
    frontend::Findings unheard;
    frontend::Findings& findings = watch_.findings != nullptr ? *watch_.findings : unheard;
    std::vector<relax::FileRef>& files = made_->files;
    RELAXC_TRY(made_->module, read_input(options_, ops_, diag, files, findings));
    if (!options_.schedules.empty()) RELAXC_DO(note_read(options_.schedules, files));
    RELAXC_TRY(std::vector<relax::FileRef> patterns, open_external_patterns(options_, diag));
    files.insert(files.end(), patterns.begin(), patterns.end());
    files.insert(files.end(), target_files_.begin(), target_files_.end());
    if (watch_.read) watch_.read(*made_);
    if (watch_.edit) watch_.edit(made_->module);
    return Done{};
  }

  /// Notes a file that is read later by its path. A missing file is reported by the code that reads it.
  Status note_read(const std::string& path, std::vector<relax::FileRef>& files) {
    Diagnostics& diag = diag_;
    if (!std::filesystem::exists(path)) return Done{};
    RELAXC_TRY(relax::FileRef file, relax::map_file(path, nullptr, diag));
    files.push_back(std::move(file));
    return Done{};
  }

  /// Finds the row budget by compiling the program several times. Messages are suppressed, since the compilation itself
  /// reports them.
  void fit_ram() {
    const std::string option(kStreamRowsBudget.name);
    const bool runs_whole = goal_ != Goal::kText && options_.passes.stop_after.empty();
    if (options_.ram_budget == 0 || numbers_.count(option) != 0 || !runs_whole) return;
    CompileOptions quiet = options_;
    quiet.passes = PassOptions();
    quiet.passes.disabled = options_.passes.disabled;
    quiet.passes.bisect_limit = options_.passes.bisect_limit;
    quiet.passes.verify = quiet.verify_semantics = false;
    quiet.passes.show = [](const std::string&) {};
    quiet.remark = quiet.passes.show;
    numbers_[option] = find_row_budget(options_.ram_budget, [&](int64_t bytes) { return memory_with(quiet, bytes); });
  }

  std::optional<uint64_t> memory_with(const CompileOptions& options, int64_t row_budget) {
    Diagnostics quiet;
    std::vector<relax::FileRef> files;
    frontend::Findings findings;
    Result<relax::Module> module = read_input(options, ops_, quiet, files, findings);
    if (!module) return std::nullopt;
    if (watch_.edit) watch_.edit(*module);
    PassNumbers numbers = numbers_;
    numbers[std::string(kStreamRowsBudget.name)] = row_budget;
    interface::Object object;
    object.hooks = options.hooks;
    if (!run_pipeline(options, numbers, ops_, made_->target, *module, object, nullptr, {}, {}, quiet))
      return std::nullopt;
    return memory_of(object);
  }

  TellBounds bounds() const { return made_->plan.emit == Emit::kExecutable ? TellBounds() : watch_.bounds; }

  /// Compiles the program again for each lesser CPU. Messages of reading it again would repeat the first ones.
  Status add_lesser_levels() {
    Diagnostics& diag = diag_;
    interface::Object& object = made_->object;
    for (size_t i = 0; i + 1 < made_->levels.size(); ++i) {
      LesserVersion& version = made_->lesser.emplace_back();
      Diagnostics known;
      std::vector<relax::FileRef> files;
      frontend::Findings findings;
      Result<relax::Module> module = read_input(options_, ops_, known, files, findings);
      if (!module) return diag.error(nullptr, Kind::io, "{} has changed since it was read", options_.input);
      version.module = std::move(*module);
      if (watch_.edit) watch_.edit(version.module);
      version.object.hooks = object.hooks;
      version.object.weights = object.weights;  // weights that both versions use keep their offsets
      RELAXC_DO(run_pipeline(options_, numbers_, ops_, made_->levels[i].target, version.module, version.object, nullptr,
                             {}, watch_.progress, diag));
      version.own_weights = version.object.weights.bytes - object.weights.bytes;
      object.weights = version.object.weights;
    }
    RELAXC_DO(cover(object, made_->lesser, diag_));
    return Done{};
  }

  /// Completes what no pass knows of the object: the place of its weights, its self-test and its name.
  Status finish() {
    Diagnostics& diag = diag_;
    interface::Object& object = made_->object;
    RELAXC_DO(plan_weights(made_->plan, object.weights.bytes, options_, diag));
    object.weights.separate = !made_->plan.weights.empty();
    if (options_.selftest) {
      RELAXC_TRY(object.selftest, make_selftest(options_, object, diag));
    }
    return name_object(options_, made_->plan, made_->target, made_->files, object, diag);
  }

  bool observes() const {
    return watch_.observe || !options_.report.empty() || !options_.manifest.empty() ||
           !options_.write_schedules.empty();
  }

  Status write() {
    RELAXC_DO(goal_ == Goal::kText ? write_module() : write_code());
    if (options_.write_schedules.empty()) return Done{};
    return outputs_.write(options_.write_schedules, schedule_file_text(made_->observed.schedules));
  }

  bool writes_for_tvm() const { return goal_ == Goal::kText && options_.dialect == "tvm"; }

  /// Expands operators into simpler ones. Nothing is optimized unless a pass is named, since TVM optimizes itself.
  Status lower_for_tvm() {
    CompileOptions options = options_;
    if (options.passes.stop_after.empty()) options.passes.stop_after = "expand_ops", options.opt = "0";
    RELAXC_DO(run_pipeline(options, numbers_, ops_, made_->target, made_->module, made_->object, nullptr, bounds(),
                           watch_.progress, diag_));
    return to_tvm_dialect(made_->module, ops_, diag_);
  }

  Status write_module() { return write_text(options_, made_->plan, made_->module, made_->files, outputs_, diag_); }

  /// Compiles the program for the further targets, the best first. Messages would repeat those of the first target.
  Status add_versions() {
    for (size_t i = targets_.size(); i-- > 1;) {
      Diagnostics known;
      const CompileOptions options = options_of_version(options_, made_->plan, targets_[i]);
      Watch watch;
      watch.edit = watch_.edit;
      watch.progress = watch_.progress;
      Result<std::unique_ptr<Artifact>> other = compile(options, Goal::kObject, outputs_, known, watch);
      if (!other) return diag_.error(nullptr, Kind::unsupported, "{}: {}", targets_[i], known.all().front().text);
      const std::string file = std::filesystem::path(options.output).filename().string();
      made_->plan.versions.push_back({file, (*other)->object.hash, wasm_features_to_test((*other)->target)});
    }
    return Done{};
  }

  Status write_code() {
    Diagnostics& diag = diag_;
    RELAXC_DO(add_versions());
    if (watch_.progress) watch_.progress("generating code");
    const interface::Object& object = made_->object;
    RELAXC_TRY(made_->written,
               write_object(options_, made_->plan, object, versions(object, made_->lesser, made_->levels),
                            made_->target, made_->files, watch_.generated, outputs_, diag));
    return write_reports(options_, *made_, outputs_, diag);
  }

  const CompileOptions& options_;
  const std::vector<std::string>& targets_;  ///< of --target; options_ has the first
  Goal goal_;
  Outputs& outputs_;
  Diagnostics& diag_;
  const Watch& watch_;
  relax::OpTable ops_;
  PassNumbers numbers_;
  std::vector<relax::FileRef> target_files_;  ///< files that describe the machine
  std::unique_ptr<Artifact> made_ = std::make_unique<Artifact>();
};

}  // namespace

Goal goal_of(const CompileOptions& options) {
  return !options.output.empty() && names_text(options) ? Goal::kText : Goal::kObject;
}

Result<std::unique_ptr<Artifact>> compile(const CompileOptions& options, Goal goal, Outputs& outputs, Diagnostics& diag,
                                          const Watch& watch) {
  const std::vector<std::string> targets = listed_targets(options.target);
  if (targets.size() < 2) return Compilation(options, targets, goal, outputs, diag, watch).run();
  CompileOptions first = options;
  first.target = targets.front();
  return Compilation(first, targets, goal, outputs, diag, watch).run();
}

Status commit(const Artifact& artifact, Outputs& outputs, Diagnostics& diag) {
  for (const relax::FileRef& file : artifact.files)
    for (const std::string& path : outputs.paths())
      if (std::error_code none; std::filesystem::equivalent(file->path(), path, none))
        return diag.error(nullptr, Kind::usage, "'{}' is an input of this compilation and cannot also be an output",
                          path);
  RELAXC_DO(relax::check_unchanged(artifact.files, diag));
  if (diag.has_errors()) return diag.failed();
  return outputs.commit();
}

Result<std::unique_ptr<Artifact>> compile_to_files(const CompileOptions& options, Diagnostics& diag,
                                                   const Watch& watch) {
  Outputs outputs(diag);
  RELAXC_TRY(std::unique_ptr<Artifact> made, compile(options, goal_of(options), outputs, diag, watch));
  bool refused = options.warnings_are_errors && !diag.all().empty();
  if (!refused) RELAXC_DO(commit(*made, outputs, diag));
  return made;
}

}  // namespace relaxc::api
