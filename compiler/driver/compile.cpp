// compile.cpp: read, transform, write.
#include "compiler/driver/compile.h"

#include <fmt/format.h>

#include <deque>
#include <filesystem>

#include "compiler/driver/choose_target.h"
#include "compiler/driver/input/read_input.h"
#include "compiler/driver/install.h"
#include "compiler/driver/messages.h"
#include "compiler/driver/output/identity.h"
#include "compiler/driver/output/levels.h"
#include "compiler/driver/output/outputs.h"
#include "compiler/driver/output/plan.h"
#include "compiler/driver/output/selftest.h"
#include "compiler/driver/output/write_object.h"
#include "compiler/driver/output/write_text.h"
#include "compiler/driver/report/bounds_note.h"
#include "compiler/driver/report/summary.h"
#include "compiler/driver/report/write_reports.h"
#include "compiler/driver/run_pipeline.h"
#include "compiler/ops/op_table.h"
#include "compiler/relax/mapped_file.h"
#include "compiler/relax/print.h"
#include "compiler/support/quote.h"
#include "compiler/support/tell.h"
#include "targets/machine.h"

namespace relaxc::driver {
namespace {

class Compilation {
 public:
  Compilation(const Options& options, const ModuleEdit& edit, const Look& look)
      : options_(options),
        edit_(edit),
        look_(look),
        checks_(options.check != CheckFormat::kNone),
        inspects_(options.tool.kind == ToolOptions::kInspect),
        stops_(!options.passes.stop_after.empty()),
        ops_(ops::op_table()),
        outputs_(diag_) {
    bool asks_text = !checks_ && !options.output.empty() && names_text(options);
    writes_ = !checks_ && !inspects_ && (!stops_ || asks_text);
    writes_text_ = writes_ && asks_text;
  }

  int run() {
    bool done = static_cast<bool>(all_steps());
    progress_.clear();
    RELAXC_CHECK(done || diag_.has_errors(), "a step failed without saying why");
    print_diagnostics(diag_, options_, proposals_, findings_);
    return exit_code(diag_, options_);
  }

 private:
  Status all_steps() {
    Diagnostics& diag = diag_;
    RELAXC_TRY(PassNumbers numbers, check_pass_flags(options_, diag));
    if (writes_) {
      RELAXC_TRY(plan_, plan_outputs(options_, diag));
    }
    if (options_.target.ends_with(".json")) RELAXC_DO(note_read(options_.target, target_files_));
    RELAXC_TRY(Target target, choose_target(options_, diag));
    RELAXC_TRY(levels_, choose_levels(options_, diag));
    if (plan_.emit == Emit::kC) levels_.clear();  // what C is compiled for, its compiler decides
    RELAXC_TRY(relax::Module module, read());
    interface::Object object;
    object.hooks = options_.hooks;
    bool looks = !options_.report.empty() || !options_.manifest.empty() || !options_.write_schedules.empty() ||
                 inspects_ || look_;
    if (!writes_text_ || stops_)
      RELAXC_DO(run_pipeline(options_, numbers, ops_, target, module, object, looks ? &observed_ : nullptr,
                             tell_bounds(), progress_, diag));
    progress_.clear();
    if (checks_) proposals_ = propose_states(object);
    if (stops_ && !writes_text_) fmt::print("{}", relax::to_string(module));
    Compiled compiled{module, object, target, observed_};
    if (inspects_ && !stops_) print_contents(options_, compiled);
    if (look_) look_(compiled);
    if (!writes_) return Done{};
    if (!writes_text_) {
      if (!levels_.empty()) RELAXC_DO(add_lesser_levels(numbers, object));
      RELAXC_DO(finish(object, target));
      for (const std::string& line : summary(object, target)) say("{}", line);
      if (options_.verbose)  // weights are compared for it
        for (const std::string& line : several_forms(object.weights)) say("{}", line);
      for (const std::string& line : duplicated(object, lesser_, levels_)) say("{}", line);
    }
    if (refused()) return Done{};
    RELAXC_DO(writes_text_ ? write_text(options_, plan_, module, files_, outputs_, diag) : write(compiled));
    if (refused()) return Done{};
    if (!options_.write_schedules.empty())
      RELAXC_DO(outputs_.write(options_.write_schedules, schedule_file_text(observed_.schedules)));
    RELAXC_DO(check_inputs());
    if (diag.has_errors()) return diag.failed();
    RELAXC_DO(outputs_.commit());
    for (const std::string& path : outputs_.paths()) say("wrote {} ({} bytes)", path, size_of(path));
    return Done{};
  }

  Result<relax::Module> read() {
    Diagnostics& diag = diag_;
    RELAXC_TRY(relax::Module module, read_input(options_, ops_, diag, files_, findings_));
    if (!options_.schedules.empty()) RELAXC_DO(note_read(options_.schedules, files_));
    files_.insert(files_.end(), target_files_.begin(), target_files_.end());
    for (const relax::FileRef& file : files_) say("read {} ({} bytes)", file->path(), file->bytes().size());
    if (edit_) edit_(module);
    return module;
  }

  /// A file that is read later, by its path; who reads it says if it is missing.
  Status note_read(const std::string& path, std::vector<relax::FileRef>& files) {
    Diagnostics& diag = diag_;
    if (!std::filesystem::exists(path)) return Done{};
    RELAXC_TRY(relax::FileRef file, relax::map_file(path, nullptr, diag));
    files.push_back(std::move(file));
    return Done{};
  }

  /// What is read cannot be written too, and has to be what it was when it was read: the hash is of those bytes.
  Status check_inputs() {
    Diagnostics& diag = diag_;
    for (const relax::FileRef& file : files_)
      for (const std::string& path : outputs_.paths())
        if (std::error_code none; std::filesystem::equivalent(file->path(), path, none))
          return diag.error(nullptr, Kind::usage, "'{}' is read for this output and cannot be written too", path);
    return relax::check_unchanged(files_, diag);
  }

  /// The program again for each lesser CPU. Reading it a second time tells the user nothing new.
  Status add_lesser_levels(const PassNumbers& numbers, interface::Object& object) {
    Diagnostics& diag = diag_;
    for (size_t i = 0; i + 1 < levels_.size(); ++i) {
      LesserForm& form = lesser_.emplace_back();
      Diagnostics known;
      std::vector<relax::FileRef> files;
      frontend::Findings findings;
      Result<relax::Module> module = read_input(options_, ops_, known, files, findings);
      if (!module) return diag.error(nullptr, Kind::io, "{} has changed since it was read", options_.input);
      form.module = std::move(*module);
      if (edit_) edit_(form.module);
      form.object.hooks = object.hooks;
      form.object.weights = object.weights;  // those that it shares stay where they are
      RELAXC_DO(run_pipeline(options_, numbers, ops_, levels_[i].target, form.module, form.object, nullptr, {},
                             progress_, diag));
      form.own_weights = form.object.weights.bytes - object.weights.bytes;
      object.weights = form.object.weights;
    }
    cover(object, lesser_);
    return Done{};
  }

  /// What an object has that no pass knows: where its weights go, its self-test, its name.
  Status finish(interface::Object& object, const Target& target) {
    Diagnostics& diag = diag_;
    RELAXC_DO(plan_weights(plan_, object.weights.bytes, options_, diag));
    object.weights.separate = !plan_.weights.empty();
    if (options_.selftest) {
      RELAXC_TRY(object.selftest, make_selftest(options_, object, diag));
    }
    return name_object(options_, plan_, target, files_, object, diag);
  }

  Status write(const Compiled& compiled) {
    Diagnostics& diag = diag_;
    progress_.at("generating code");
    RELAXC_TRY(WrittenObject written,
               write_object(options_, plan_, compiled.object, forms(compiled.object, lesser_, levels_), compiled.target,
                            files_, outputs_, diag));
    progress_.clear();
    return write_reports(options_, plan_, compiled, written, outputs_, diag);
  }

  /// A program that relaxc links asks for its memory when it runs, and has no use for a bound.
  TellBounds tell_bounds() {
    bool of_use = checks_ || (writes_ && plan_.emit != Emit::kExecutable);
    if (options_.tool.kind != ToolOptions::kNone || !of_use) return {};
    return [this](const std::vector<lower::HelpfulBounds>& helpful) {
      std::string note = bounds_note(helpful, !options_.more_inputs.empty());
      if (!note.empty()) findings_.remarks.push_back(std::move(note));
    };
  }

  /// True if warnings forbid to write.
  bool refused() const { return options_.warnings_are_errors && !diag_.all().empty(); }

  static uint64_t size_of(const std::string& path) {
    std::error_code error;
    uint64_t size = std::filesystem::file_size(path, error);
    return error ? 0 : size;
  }

  template <typename... Args>
  void say(fmt::format_string<Args...> text, Args&&... args) {
    if (options_.verbose) tell("relaxc: {}\n", printable(fmt::format(text, std::forward<Args>(args)...)));
  }

  const Options& options_;
  const ModuleEdit& edit_;
  const Look& look_;
  bool checks_, inspects_, stops_, writes_ = false, writes_text_ = false;
  relax::OpTable ops_;
  Diagnostics diag_;
  Outputs outputs_;
  OutputPlan plan_;
  std::vector<relax::FileRef> files_, target_files_;  ///< what was read; of it what describes the machine
  frontend::Findings findings_;
  std::vector<StateProposal> proposals_;
  Observations observed_;
  Progress progress_;
  std::vector<codegen_llvm::CpuLevel> levels_;  ///< of choose_levels, least first
  std::deque<LesserForm> lesser_;               ///< of all levels but the last
};

int print_targets() {
  for (const KnownMachine& machine : known_machines())
    fmt::print("{:<14} {:<36} {}\n", machine.name, machine.triple, machine.about);
  return std::fflush(stdout) == 0 ? 0 : 1;
}

int print_cmake_dir() {
  std::string folder = installed("lib/cmake/relaxc");
  if (folder.empty())
    tell("relaxc: error: there is no package for CMake beside this program; install it\n");
  else
    fmt::print("{}\n", folder);
  return folder.empty() ? 1 : 0;
}

/// Prints the machine that the flags mean, as flags that mean it.
int print_target(const Options& options) {
  Diagnostics diag;
  if (Result<std::string> flags = target_flags(options, diag)) fmt::print("{}\n", *flags);
  print_diagnostics(diag, options, {});
  return exit_code(diag, options);
}

}  // namespace

int compile(const Options& options, const ModuleEdit& edit, const Look& look) {
  if (options.print_targets) return print_targets();
  if (options.print_cmake_dir) return print_cmake_dir();
  if (options.print_target) return print_target(options);
  return Compilation(options, edit, look).run();
}

}  // namespace relaxc::driver
