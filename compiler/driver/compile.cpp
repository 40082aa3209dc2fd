// compile.cpp: one run of the program: calls the API, prints messages and puts files in place.
#include "compiler/driver/compile.h"

#include <fmt/format.h>

#include <filesystem>

#include "compiler/api/choose_target.h"
#include "compiler/api/compile.h"
#include "compiler/api/install.h"
#include "compiler/driver/certificate/certificate.h"
#include "compiler/driver/certificate/check_certificate.h"
#include "compiler/driver/messages.h"
#include "compiler/driver/progress.h"
#include "compiler/driver/report/bounds_note.h"
#include "compiler/driver/report/print_contents.h"
#include "compiler/driver/report/proofs.h"
#include "compiler/driver/report/safety.h"
#include "compiler/driver/report/summary.h"
#include "compiler/relax/print.h"
#include "compiler/support/quote.h"
#include "compiler/support/tell.h"
#include "compiler/support/termination.h"
#include "targets/machine.h"

namespace relaxc::driver {
namespace {

/// The purpose of a run of the program.
enum class Mode {
  kCheck,    ///< says what prevents the input from being compiled
  kInspect,  ///< prints what would be compiled
  kPrint,    ///< prints the module after a pass
  kWrite,    ///< writes what the options name
};

Mode mode_of(const Options& options) {
  if (options.check != CheckFormat::kNone) return Mode::kCheck;
  if (options.tool.kind == ToolOptions::kInspect) return Mode::kInspect;
  bool prints = !options.passes.stop_after.empty() && goal_of(options) != Goal::kText;
  return prints ? Mode::kPrint : Mode::kWrite;
}

/// A folder for outputs, which goes again if they are not written.
class NewFolder {
 public:
  NewFolder() = default;
  NewFolder(const NewFolder&) = delete;
  ~NewFolder() {
    std::error_code error;
    if (!path_.empty()) std::filesystem::remove(path_, error);  // not if it holds anything
  }

  /// Makes the folder unless it exists. Fails (io) if it cannot be made.
  Status make(const std::string& path, Diagnostics& diag) {
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) return Done{};
    if (!std::filesystem::create_directory(path, error))
      return diag.error(nullptr, Kind::io, "cannot make the folder {}: {}", path,
                        error ? error.message() : "a file has this name");
    path_ = path;
    removal_.emplace(path);
    return Done{};
  }
  void keep() { path_.clear(), removal_.reset(); }

 private:
  std::string path_;
  std::optional<RemoveOnTermination> removal_;
};

class Run {
 public:
  explicit Run(const Options& options) : options_(options), mode_(mode_of(options)), outputs_(diag_) {}

  int run() {
    bool done = static_cast<bool>(all_steps());
    progress_.clear();
    RELAXC_CHECK(done || diag_.has_errors(), "a step failed without saying why");
    print_diagnostics(diag_, options_, proposals_, findings_);
    const int code = exit_code(diag_, options_);
    return code == 0 && refuted_ ? 1 : code;
  }

 private:
  Status all_steps() {
    Diagnostics& diag = diag_;
    Goal goal = mode_ == Mode::kWrite ? goal_of(options_) : Goal::kModule;
    RELAXC_DO(check_certifiable(goal));
    RELAXC_TRY(std::unique_ptr<Artifact> made, api::compile(options_, goal, outputs_, diag, watch()));
    progress_.clear();
    if (mode_ == Mode::kInspect && !options_.tool.explain.empty()) RELAXC_DO(print_explanations(options_, *made, diag));
    if (mode_ == Mode::kInspect && options_.passes.stop_after.empty()) answer_proofs_and_safety(*made);
    if (goal == Goal::kModule) return Done{};
    if (options_.warnings_are_errors && !diag.all().empty()) return Done{};
    if (!options_.certificate.empty()) RELAXC_DO(add_certificate(*made));
    RELAXC_DO(commit(*made, outputs_, diag));
    certificate_folder_.keep();
    for (const std::string& path : outputs_.paths()) say("wrote {} ({} bytes)", path, size_of(path));
    return Done{};
  }

  /// Prints the answers of `inspect --prove` and `--safety`.
  void answer_proofs_and_safety(const Artifact& made) {
    const std::string& safety = options_.tool.safety;
    std::optional<Proofs> proofs;
    if (!options_.tool.prove.empty())
      proofs = prove(made, options_.tool.prove, options_.jobs, [&](const std::string& text) {
        if (safety != "json") fmt::print("{}", text);
      });
    refuted_ = proofs && proofs->refuted();
    if (safety.empty()) return;
    const Proofs* found = proofs ? &*proofs : nullptr;
    const std::vector<SafetyRequirement> requirements = safety_requirements(made, findings_, found);
    fmt::print("{}", safety == "json" ? safety_json(requirements, made, found) : safety_text(requirements));
  }

  /// Fails (usage) if a certificate is wanted of what has none.
  Status check_certifiable(Goal goal) {
    Diagnostics& diag = diag_;
    if (options_.certificate.empty()) return Done{};
    if (goal == Goal::kObject) {
      RELAXC_TRY(const OutputPlan plan, plan_outputs(options_, diag));
      if (plan.emit == Emit::kObject || plan.emit == Emit::kSharedLibrary || plan.emit == Emit::kC) return Done{};
    }
    return diag.error(nullptr, Kind::usage,
                      "--certificate is about an object, a shared library or C that is written: give such an output");
  }

  /// Proves what can be proved of the object, and adds the certificate to the outputs.
  Status add_certificate(const Artifact& made) {
    Diagnostics& diag = diag_;
    progress_.at("proving memory and schedules");
    const Proofs proofs = prove(made, "all", options_.jobs, [](const std::string&) {});
    progress_.clear();
    if (proofs.refuted())
      return diag.error(nullptr, Kind::ill_formed,
                        "the code is not certified: a claim about it is refuted, which `relaxc inspect --prove` shows");
    Certified subject{options_, made, findings_, proofs, {}};
    RELAXC_TRY(const std::vector<relax::FileRef> contents, outputs_.contents());
    const std::vector<std::string> paths = outputs_.paths();
    for (size_t i = 0; i < paths.size(); ++i)
      subject.written.push_back({std::filesystem::path(paths[i]).filename().string(), contents[i]});
    RELAXC_TRY(const Certificate certificate, make_certificate(subject, diag));
    RELAXC_DO(certificate_folder_.make(options_.certificate, diag));
    RELAXC_DO(outputs_.write(options_.certificate + "/" + kCertificateFile, certificate.json));
    return outputs_.write(options_.certificate + "/" + kCertificatePage, certificate.page);
  }

  Watch watch() {
    Watch watch;
    watch.findings = &findings_;
    watch.progress = [this](std::string_view what) { progress_.at(what); };
    watch.generated = [this](size_t begun, size_t all) {
      progress_.at(fmt::format("generating code, function {} of {}", begun, all));
    };
    watch.observe = mode_ == Mode::kInspect || !options_.certificate.empty();
    watch.read = [this](const Artifact& made) {
      for (const relax::FileRef& file : made.files) say("read {} ({} bytes)", file->path(), file->bytes().size());
    };
    watch.compiled = [this](const Artifact& made) { show(made); };
    watch.finished = [this](const Artifact& made) { say_summary(made); };
    if (options_.tool.kind == ToolOptions::kNone && mode_ != Mode::kPrint)
      watch.bounds = [this](const std::vector<lower::SuggestedBounds>& helpful) {
        std::string note = bounds_note(helpful, !options_.more_inputs.empty());
        if (!note.empty()) findings_.remarks.push_back(std::move(note));
      };
    return watch;
  }

  /// Prints what the options ask for about the program after its passes.
  void show(const Artifact& made) {
    progress_.clear();
    bool stopped = !options_.passes.stop_after.empty();
    if (mode_ == Mode::kCheck) proposals_ = propose_states(made.object);
    if (stopped && mode_ != Mode::kWrite) fmt::print("{}", relax::to_string(made.module));
    const bool only_json = options_.tool.safety == "json";
    if (mode_ == Mode::kInspect && !stopped && !only_json) print_contents(options_, made);
  }

  void say_summary(const Artifact& made) {
    if (!options_.verbose) return;
    progress_.clear();
    for (const std::string& line : summary(made.object, made.target)) say("{}", line);
    for (const std::string& line : several_forms(made.object.weights)) say("{}", line);
    for (const std::string& line : duplicated(made.object, made.lesser, made.levels)) say("{}", line);
  }

  static uint64_t size_of(const std::string& path) {
    std::error_code error;
    uint64_t size = std::filesystem::file_size(path, error);
    return error ? 0 : size;
  }

  template <typename... Args>
  void say(fmt::format_string<Args...> text, Args&&... args) const {
    if (options_.verbose) tell("relaxc: {}\n", printable(fmt::format(text, std::forward<Args>(args)...)));
  }

  const Options& options_;
  Mode mode_;
  Diagnostics diag_;
  NewFolder certificate_folder_;  ///< outlives the files that are staged in it
  Outputs outputs_;
  frontend::Findings findings_;
  std::vector<StateProposal> proposals_;
  Progress progress_;
  bool refuted_ = false;  ///< a claim of --prove is refuted
};

int print_targets() {
  for (const KnownMachine& machine : known_machines())
    fmt::print("{:<14} {:<36} {}\n", machine.name, machine.c_only ? "-" : machine.triple, machine.about);
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

/// Holds the files that the options name against a certificate.
int check_files(const Options& options) {
  Diagnostics diag;
  std::vector<std::string> files = options.more_inputs;
  if (!options.input.empty()) files.push_back(options.input);
  if (Result<std::string> agreed = check_certificate(options.check_certificate, files, diag)) fmt::print("{}", *agreed);
  print_diagnostics(diag, options, {});
  return exit_code(diag, options);
}

/// Prints the machine that the flags select, as complete flags that select it again.
int print_target(const Options& options) {
  Diagnostics diag;
  if (Result<std::string> flags = target_flags(options, diag)) fmt::print("{}\n", *flags);
  print_diagnostics(diag, options, {});
  return exit_code(diag, options);
}

}  // namespace

int compile(const Options& options) {
  if (options.print_targets) return print_targets();
  if (options.print_cmake_dir) return print_cmake_dir();
  if (options.print_target) return print_target(options);
  if (!options.check_certificate.empty()) return check_files(options);
  return Run(options).run();
}

}  // namespace relaxc::driver
