// compile.cpp: read, transform, emit.
#include "compiler/driver/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>

#include "compiler/codegen/c/emit.h"
#include "compiler/codegen/llvm/emit.h"
#include "compiler/codegen/llvm/hash.h"
#include "compiler/codegen/llvm/jit.h"
#include "compiler/codegen/llvm/target.h"
#include "compiler/driver/budget.h"
#include "compiler/driver/cc_target.h"
#include "compiler/driver/depfile.h"
#include "compiler/driver/evaluator.h"
#include "compiler/driver/input.h"
#include "compiler/driver/manifest.h"
#include "compiler/driver/outputs.h"
#include "compiler/driver/performance_report.h"
#include "compiler/driver/plan.h"
#include "compiler/driver/report.h"
#include "compiler/driver/selftest.h"
#include "compiler/driver/summary.h"
#include "compiler/driver/version.h"
#include "compiler/driver/weights.h"
#include "compiler/interface/header.h"
#include "compiler/interface/rust.h"
#include "compiler/interface/typed_call.h"
#include "compiler/meaning/semantics_check.h"
#include "compiler/ops/op_table.h"
#include "compiler/pipeline/pipelines.h"
#include "compiler/relax/print.h"

namespace relaxc::driver {
namespace {

namespace fs = std::filesystem;

/// A path of the tree that this program runs from, PREFIX/lib beside PREFIX/bin; empty if there is none.
std::string beside_program(const char* path) {
  std::error_code error;
  fs::path program = fs::read_symlink("/proc/self/exe", error);
  fs::path place = program.parent_path().parent_path() / path;
  return fs::exists(place, error) ? place.string() : std::string();
}
std::string own_runtime() {
  return beside_program("lib/librelax_rt.a");
}

class Compilation {
 public:
  Compilation(const Options& options, const ModuleEdit& edit)
      : options_(options),
        edit_(edit),
        inspects_(options.tool.kind == ToolOptions::kInspect),
        ops_(ops::op_table()),
        outputs_(diag_) {}

  /// Prints the machine that the flags mean, as flags that mean it.
  int print_target() {
    if (Result<Target> target = asked_target())
      fmt::print("--target={} --mcpu={}{}{}\n", target->triple, target->cpu,
                 target->features.empty() ? "" : " --mattr=", target->features);
    print_diagnostics(diag_, options_, {});
    return exit_code(diag_, options_);
  }

  int run() {
    bool done = static_cast<bool>(all_steps());
    RELAXC_CHECK(done || diag_.has_errors(), "a step failed without saying why");
    print_diagnostics(diag_, options_, proposals_, findings_);
    return exit_code(diag_, options_);
  }

 private:
  Status all_steps() {
    Diagnostics& diag = diag_;
    RELAXC_DO(check_pass_names());
    bool stops = !options_.passes.stop_after.empty();
    bool writes_text = options_.check == CheckFormat::kNone && !options_.output.empty() && names_text(options_);
    bool writes = options_.check == CheckFormat::kNone && !inspects_ && (!stops || writes_text);
    if (writes) {
      RELAXC_TRY(plan_, plan_outputs(options_, diag));
    }
    RELAXC_TRY(Target target, asked_target());
    if (options_.task_slots > 0) target.task_slots = options_.task_slots;
    RELAXC_TRY(relax::Module module, read_input(options_, ops_, diag, files_, findings_));
    if (options_.target.ends_with(".json")) files_.push_back(options_.target);
    for (const std::string& file : files_) say("read {} ({} bytes)", file, size_of(file));
    if (edit_) edit_(module);
    interface::Object object;
    if (!writes_text || stops) RELAXC_DO(transform(module, target, object));
    if (options_.check != CheckFormat::kNone) proposals_ = propose_states(object);
    if (stops && !writes_text) fmt::print("{}", relax::to_string(module));
    if (inspects_ && !stops) show_contents(module, object, target);
    if (!writes) return Done{};
    if (writes_text) return write_text(module);
    RELAXC_DO(plan_weights(plan_, object.weights.bytes, options_, diag));
    object.weights.separate = !plan_.weights.empty();
    if (options_.selftest) {
      RELAXC_TRY(object.selftest, make_selftest(options_, object, diag));
    }
    name_object(object, target);
    RELAXC_DO(check_externals(object));
    for (const std::string& line : summary(object, target)) say("{}", line);
    if (refused()) return Done{};
    RELAXC_DO(write(object, target));
    if (options_.flash_budget != 0 || options_.ram_budget != 0) {
      codegen_llvm::ObjectContents found;
      if (options_.flash_budget != 0) {
        RELAXC_TRY(found, codegen_llvm::inspect_object(written_, plan_.output, diag));
      }
      RELAXC_DO(check_budgets(options_, object, found, diag));
    }
    if (!options_.report.empty()) RELAXC_DO(write_report(module, object, target));
    if (!options_.manifest.empty()) RELAXC_DO(write_manifest(module, object, target));
    if (refused()) return Done{};
    RELAXC_DO(outputs_.commit());
    std::string beside;
    if (!plan_.header.empty()) beside += ", " + plan_.header;
    if (!plan_.weights.empty()) beside += fmt::format(", {} ({} bytes)", plan_.weights, size_of(plan_.weights));
    if (!plan_.depfile.empty()) beside += ", " + plan_.depfile;
    say("wrote {} ({} bytes){}", plan_.output, size_of(plan_.output), beside);
    return Done{};
  }

  /// The machine that --target names, with what the other flags say of it.
  Result<Target> asked_target() {
    Diagnostics& diag = diag_;
    RELAXC_TRY(Machine machine, read_machine(options_.target, diag));
    if (!options_.target_from_cc.empty()) {
      RELAXC_TRY(Machine found, machine_of_compiler(options_.target_from_cc, diag));
      if (!options_.target.empty()) return same_target(machine, found);
      machine = found;
    }
    if (!options_.cpu.empty()) {
      machine.cpu = options_.cpu;
      machine.features.clear();
    }
    if (!options_.features.empty()) machine.features += (machine.features.empty() ? "" : ",") + options_.features;
    if (!options_.float_abi.empty()) machine.float_abi = options_.float_abi;
    return codegen_llvm::resolve_target(machine, diag);
  }

  /// What --target says, if objects of the compiler's machine can be linked with it.
  Result<Target> same_target(const Machine& asked, const Machine& of_compiler) {
    Diagnostics& diag = diag_;
    RELAXC_TRY(Target target, codegen_llvm::resolve_target(asked, diag));
    RELAXC_TRY(Target found, codegen_llvm::resolve_target(of_compiler, diag));
    if (codegen_llvm::link_together(target.triple, found.triple)) return target;
    return diag.error(nullptr, Kind::usage, "--target {} is {}, but '{}' compiles for {}", options_.target,
                      target.triple, options_.target_from_cc, found.triple);
  }

  /// True if warnings forbid to write.
  bool refused() const { return options_.warnings_are_errors && !diag_.all().empty(); }

  static uint64_t size_of(const std::string& path) {
    std::error_code error;
    uint64_t size = fs::file_size(path, error);
    return error ? 0 : size;
  }

  Status check_pass_names() {
    std::vector<std::string> named = options_.passes.print_before;
    named.insert(named.end(), options_.passes.print_after.begin(), options_.passes.print_after.end());
    named.insert(named.end(), options_.passes.disabled.begin(), options_.passes.disabled.end());
    if (!options_.passes.stop_after.empty()) named.push_back(options_.passes.stop_after);
    for (const std::string& name : named)
      if (name != "all" && find_pass(name) == nullptr)
        return diag_.error(nullptr, Kind::usage, "there is no pass named '{}'; the passes are: {}", name, pass_names());
    Diagnostics& diag = diag_;
    for (const std::string& text : options_.pass_options) RELAXC_DO(read_pass_option(text));
    return Done{};
  }

  Status read_pass_option(const std::string& text) {
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
          return diag_.error(nullptr, Kind::usage, "--pass-option {}: {} takes a number of at least {}", text, name,
                             option.least);
        pass_options_[name] = value;
        return Done{};
      }
    return diag_.error(nullptr, Kind::usage, "--pass-option {}: there is no such option; the options are: {}", text,
                       known);
  }

  static std::string pass_names() {
    std::string names;
    for (const Pass& pass : compile_pipeline()) names += (names.empty() ? "" : ", ") + std::string(pass.name);
    return names;
  }

  Status transform(relax::Module& module, const Target& target, interface::Object& object) {
    std::unique_ptr<tir::Evaluator> evaluator = make_evaluator();
    PassContext context{ops_, target, diag_, *evaluator, options_.opt_level(), &object};
    context.max_recursion = options_.max_recursion;
    context.options = pass_options_;
    PassOptions passes = options_.passes;
    passes.time_passes |= options_.verbose;
    passes.show = [](const std::string& text) { fmt::print(stderr, "{}", text); };
    if (!options_.report.empty() || !options_.manifest.empty() || inspects_)
      passes.observe = [&](std::string_view pass, const relax::Module& now, double milliseconds) {
        if (pass == "input") report_.before = view_graph(now);
        if (pass == "hoist_scratch") report_.after = view_graph(now);  // the last of the graph before it is lowered
        if (pass == "lower_functions") unplanned_ = unplanned_bodies(now);
        if (pass != "input") report_.pass_milliseconds.emplace_back(pass, milliseconds);
      };
    std::optional<meaning::SemanticsCheck> semantics;
    if (options_.verify_semantics) {
      auto make = [](tir::FindFunction find, tir::CallExternal external) {
        return make_evaluator(std::move(find), std::move(external));
      };
      semantics.emplace(module, ops_, make);
      for (const std::string& function : semantics->not_run())
        diag_.warning(nullptr, Kind::usage, "--verify-semantics: no random input lets '{}' run to its end", function);
      passes.check = [&](relax::Module& now) { return semantics->difference(now, object); };
    }
    return run_passes(compile_pipeline(), module, context, passes);
  }

  Status write_report(const relax::Module& module, const interface::Object& object, const Target& target) {
    report_.model = fs::path(options_.input).filename().string();
    report_.producer = object.producer;
    report_.target = fmt::format("{}, {}", target.triple, target.cpu);
    report_.weight_bytes = object.weights.bytes;
    for (const interface::Entry& entry : object.entries)
      for (EntryProfile& profile : profile_entry(module, unplanned_, entry, target))
        report_.profiles.push_back(std::move(profile));
    bool page = fs::path(options_.report).extension() == ".html";
    return outputs_.write(options_.report, page ? report_html(report_) : report_json(report_));
  }

  void show_contents(const relax::Module& module, const interface::Object& object, const Target& target) {
    fmt::print("{}\n{}", fs::path(options_.input).filename().string(), contents(object, target));
    for (const interface::Entry& entry : object.entries) {
      std::vector<EntryProfile> profiles = profile_entry(module, unplanned_, entry, target);
      if (!profiles.empty()) fmt::print("{}", work(profiles.front()));
    }
  }

  /// Everything besides input, target and compiler that decides what the object is.
  std::vector<std::string> flags(const Target& target) const {
    std::vector<std::string> out{"-O" + options_.opt, fmt::format("--threads={}", target.task_slots),
                                 fmt::format("--max-recursion={}", options_.max_recursion)};
    for (const frontend::DimOverride& dim : options_.dims)
      out.push_back(fmt::format("--dim={}={}..{}:{}", dim.name, dim.lower, dim.upper, dim.multiple_of));
    for (const State& state : options_.states) out.push_back("--state=" + state.input + ":" + state.output);
    if (options_.selftest) out.emplace_back("--emit-selftest");
    if (options_.line_tables) out.emplace_back("-g");
    if (options_.keep_initializers_as_inputs) out.emplace_back("--keep-initializers-as-inputs");
    for (const std::string& op : options_.custom_ops) out.push_back("--custom-op=" + op);
    for (const std::string& pass : options_.passes.disabled) out.push_back("--disable-pass=" + pass);
    for (const auto& [name, value] : pass_options_) out.push_back(fmt::format("--pass-option={}={}", name, value));
    if (options_.passes.bisect_limit >= 0)
      out.push_back(fmt::format("--opt-bisect-limit={}", options_.passes.bisect_limit));
    return out;
  }

  Status write_manifest(const relax::Module& module, const interface::Object& object, const Target& target) {
    Diagnostics& diag = diag_;
    Manifest manifest;
    manifest.output = fs::path(plan_.output).filename().string();
    manifest.weights_file = fs::path(plan_.weights).filename().string();
    manifest.output_bytes = size_of(written_);
    manifest.stack_max = stack_max_;
    manifest.flags = flags(target);
    RELAXC_TRY(manifest.contents, codegen_llvm::inspect_object(written_, plan_.output, diag));
    for (const interface::Entry& entry : object.entries)
      manifest.profiles.push_back(profile_entry(module, unplanned_, entry, target));
    return outputs_.write(options_.manifest, manifest_json(manifest, object, target));
  }

  void name_object(interface::Object& object, const Target& target) {
    object.name = plan_.name;
    object.producer = std::string("relaxc ") + kVersion;
    std::vector<std::string> parts{object.producer, target.triple, target.cpu, target.features};
    for (const std::string& flag : flags(target)) parts.push_back(flag);
    object.hash = codegen_llvm::hash_of_files(files_, parts);
    object.interface_hash = interface_hash(object);
  }

  /// What the linking program defines cannot be what the object defines.
  Status check_externals(const interface::Object& object) {
    std::set<std::string> own = {object.name + "_model"};
    for (const interface::Entry& entry : object.entries) own.insert(interface::entry_prefix(object, entry));
    for (const interface::PublicPrimFunc& function : object.public_prim_funcs)
      own.insert(object.name + "_" + interface::identifier(function.name));
    for (const interface::External& external : object.externals)
      if (own.count(external.name) != 0)
        return diag_.error(nullptr, Kind::usage,
                           "the object defines '{}', which the program calls as an external function; --name gives "
                           "the object another prefix than '{}'",
                           external.name, object.name);
    return Done{};
  }

  /// Of all that the header promises; two objects with one header have one.
  static std::array<uint8_t, 8> interface_hash(const interface::Object& object) {
    std::array<uint8_t, 32> full = codegen_llvm::hash_of({interface::c_header(object)});
    std::array<uint8_t, 8> part{};
    std::copy_n(full.begin(), part.size(), part.begin());
    return part;
  }

  /// The module as text, and its large constants beside it.
  Status write_text(const relax::Module& module) {
    Diagnostics& diag = diag_;
    if (refused()) return Done{};
    if (plan_.emit == Emit::kDot) return write_graph(module);
    std::vector<relax::ConstantRef> constants = relax::large_constants(module);
    for (const std::string& file : files_)
      if (std::error_code none; !constants.empty() && fs::equivalent(file, plan_.params, none))
        return diag.error(nullptr, Kind::usage, "'{}' cannot be both read and the file of constants", file);
    std::string text = relax::to_string(module);
    if (!constants.empty()) text = load_params_line(fs::path(plan_.params).filename().string()) + text;
    RELAXC_DO(outputs_.write(plan_.output, text));
    if (!constants.empty()) {
      RELAXC_TRY(std::string temporary, outputs_.add(plan_.params));
      RELAXC_DO(write_params(constants, temporary, plan_.params, diag));
    }
    RELAXC_DO(write_depfile());
    RELAXC_DO(outputs_.commit());
    say("wrote {} ({} bytes){}{}", plan_.output, size_of(plan_.output), constants.empty() ? "" : ", ",
        constants.empty() ? "" : plan_.params);
    return Done{};
  }

  Status write_graph(const relax::Module& module) {
    Diagnostics& diag = diag_;
    RELAXC_DO(outputs_.write(plan_.output, dot_text(view_graph(module), module.name)));
    RELAXC_DO(write_depfile());
    return outputs_.commit();
  }

  Status write_depfile() {
    if (plan_.depfile.empty()) return Done{};
    std::string about = options_.depfile_target.empty() ? make_escaped(plan_.output) : options_.depfile_target;
    return outputs_.write(plan_.depfile, depfile_text(about, files_, options_.phony_targets));
  }

  Status write(const interface::Object& object, const Target& target) {
    Diagnostics& diag = diag_;
    RELAXC_TRY(std::string temporary, outputs_.add(plan_.output));
    written_ = temporary;
    if (!options_.rust.empty()) RELAXC_DO(outputs_.write(options_.rust, interface::rust_module(object), true));
    RELAXC_DO(write_depfile());
    if (object.weights.separate) {
      RELAXC_TRY(std::string weights, outputs_.add(plan_.weights));
      RELAXC_DO(write_weights_file(object, weights, plan_.weights, diag));
    }
    RELAXC_DO(plan_.emit == Emit::kC ? write_c(object, fs::path(plan_.header).filename().string(), temporary)
                                     : write_binary(object, target, temporary));
    if (plan_.header.empty()) return Done{};
    return outputs_.write(plan_.header, interface::c_header(object, stack_max_), true);
  }

  Status write_binary(const interface::Object& object, const Target& target, const std::string& temporary) {
    codegen_llvm::EmitOptions emit;
    emit.stack_max = &stack_max_;
    emit.kind = static_cast<codegen_llvm::OutputKind>(plan_.emit);
    emit.opt = options_.opt;
    emit.line_tables = options_.line_tables;
    emit.runtime = options_.runtime.empty() ? own_runtime() : options_.runtime;
    emit.linker = options_.linker;
    emit.shown_path = plan_.output;
    return codegen_llvm::emit(object, target, emit, temporary, diag_);
  }

  Status write_c(const interface::Object& object, const std::string& header, const std::string& path) {
    errno = 0;
    std::ofstream out(path, std::ios::binary);
    bool fine = codegen_c::emit_c(object, header, [&](std::string_view text) {
      out << text;
      return static_cast<bool>(out);
    });
    out.close();
    if (!fine || !out)
      return diag_.error(nullptr, Kind::io, "cannot write {}: {}", plan_.output,
                         errno == 0 ? "writing failed" : std::strerror(errno));
    return Done{};
  }

  template <typename... Args>
  void say(fmt::format_string<Args...> text, Args&&... args) {
    if (options_.verbose) fmt::print(stderr, "relaxc: {}\n", fmt::format(text, std::forward<Args>(args)...));
  }

  const Options& options_;
  const ModuleEdit& edit_;
  bool inspects_;
  relax::OpTable ops_;
  Diagnostics diag_;
  Outputs outputs_;
  OutputPlan plan_;
  std::string written_;  ///< the output's file until it is in its place
  std::vector<std::string> files_;
  std::map<std::string, int64_t, std::less<>> pass_options_;
  frontend::Findings findings_;
  std::vector<StateProposal> proposals_;
  std::vector<uint64_t> stack_max_;  ///< of each entry, once code was written
  PerformanceReport report_;
  UnplannedBodies unplanned_;
};

}  // namespace

int compile(const Options& options, const ModuleEdit& edit) {
  if (options.print_targets) {
    for (const KnownMachine& machine : known_machines())
      fmt::print("{:<14} {:<36} {}\n", machine.name, machine.triple, machine.about);
    return std::fflush(stdout) == 0 ? 0 : 1;
  }
  if (options.print_cmake_dir) {
    std::string folder = beside_program("lib/cmake/relaxc");
    if (folder.empty())
      fmt::print(stderr, "relaxc: error: there is no package for CMake beside this program; install it\n");
    else
      fmt::print("{}\n", folder);
    return folder.empty() ? 1 : 0;
  }
  Compilation compilation(options, edit);
  return options.print_target ? compilation.print_target() : compilation.run();
}

}  // namespace relaxc::driver
