// choose_target.cpp: combines the flags about the machine.
//
// If no flag, description or compiler flag names an x86-64 CPU, code is for x86-64-v3, and the object checks the CPU
// before it runs any of it. Rejected: x86-64 and x86-64-v3 in one object. For 12 models that took 2.2 times the
// processor time to compile and 1.7 times the bytes, for a form that few machines of today would run; the check adds
// 700 bytes and no time.
#include "compiler/api/choose_target.h"

#include <fmt/format.h>

#include <filesystem>

#include "compiler/api/cc_target.h"
#include "compiler/codegen/llvm/target.h"

namespace relaxc::api {
namespace {

/// Returns the machine of --target if its objects can be linked with objects of the C compiler's machine.
Result<Target> same_target(const CompileOptions& options, const Machine& asked, const Machine& of_compiler,
                           Diagnostics& diag) {
  RELAXC_TRY(Target target, codegen_llvm::resolve_target(asked, diag));
  RELAXC_TRY(Target found, codegen_llvm::resolve_target(of_compiler, diag));
  if (codegen_llvm::link_together(target.triple, found.triple)) return target;
  return diag.error(nullptr, Kind::usage, "--target {} is {}, but '{}' compiles for {}", options.target, target.triple,
                    options.target_from_cc, found.triple);
}

bool names_levels(const CompileOptions& options) {
  return options.cpu.find(',') != std::string::npos;
}

/// Whether the flags name a CPU: by --mcpu or --mattr, or by a machine that is called like its CPU.
bool names_cpu(const CompileOptions& options, const Machine& machine) {
  const KnownMachine* known = find_machine(options.target);
  bool by_name = known == nullptr || known->name == known->cpu;
  return !options.cpu.empty() || !options.features.empty() || !machine.features.empty() ||
         (!machine.cpu.empty() && by_name);
}

/// Returns --target, or if no flag names a machine, the only machine that can load the output's format.
std::string asked_target(const CompileOptions& options) {
  bool named = !options.target.empty() || !options.target_from_cc.empty();
  std::optional<Emit> emit = options.emit ? options.emit : format_of_path(options.output);
  bool wasm = std::filesystem::path(options.output).extension() == ".wasm" || emit == Emit::kJavaScript;
  return !named && wasm ? "wasm32" : options.target;
}

/// Refuses code in other formats than C for a machine that LLVM does not support.
Status check_format(const CompileOptions& options, const Machine& machine, Diagnostics& diag) {
  std::optional<Emit> emit = options.emit ? options.emit : format_of_path(options.output);
  if (!machine.c_only || options.output.empty() || !emit || emit == Emit::kC || emit == Emit::kText ||
      emit == Emit::kDot)
    return Done{};
  return diag.error(nullptr, Kind::usage, "LLVM has no code for target '{}'; its C compiler takes '-o {}'",
                    options.target, std::filesystem::path(options.output).replace_extension(".c").string());
}

struct Chosen {
  Target target;
  bool named = true;  ///< the user named a CPU, not only a machine
  bool c_only = false;
};

Result<Chosen> machine_of_flags(const CompileOptions& options, Diagnostics& diag) {
  Chosen chosen;
  RELAXC_TRY(Machine machine, read_machine(asked_target(options), diag));
  RELAXC_DO(check_format(options, machine, diag));
  if (!options.target_from_cc.empty()) {
    RELAXC_TRY(Machine found, machine_of_compiler(options.target_from_cc, diag));
    if (!options.target.empty()) {
      chosen.named = names_cpu(options, machine);
      RELAXC_TRY(chosen.target, same_target(options, machine, found, diag));
      return chosen;
    }
    machine = found;
  }
  chosen.named = names_cpu(options, machine);
  chosen.c_only = machine.c_only;
  if (!options.cpu.empty()) {
    machine.cpu = options.cpu;
    machine.features.clear();
  }
  if (!options.features.empty()) machine.features += (machine.features.empty() ? "" : ",") + options.features;
  if (!options.float_abi.empty()) machine.float_abi = options.float_abi;
  RELAXC_TRY(chosen.target, codegen_llvm::resolve_target(machine, diag));
  return chosen;
}

/// Returns the usual level for the machine if the user named no CPU; no levels otherwise.
Result<std::vector<codegen_llvm::CpuLevel>> usual_level(const CompileOptions& options, Diagnostics& diag) {
  std::vector<codegen_llvm::CpuLevel> levels;
  RELAXC_TRY(Chosen chosen, machine_of_flags(options, diag));
  if (chosen.named) return levels;
  std::optional<codegen_llvm::CpuLevel> level = codegen_llvm::only_level(chosen.target);
  if (level && level->needs != 0) levels.push_back(*std::move(level));
  return levels;
}

}  // namespace

Result<std::vector<codegen_llvm::CpuLevel>> choose_levels(const CompileOptions& options, Diagnostics& diag) {
  if (!names_levels(options)) {
    RELAXC_TRY(std::vector<codegen_llvm::CpuLevel> levels, usual_level(options, diag));
    if (!levels.empty() && options.task_slots > 0) levels[0].target.task_slots = options.task_slots;
    return levels;
  }
  if (!options.features.empty())
    return diag.error(nullptr, Kind::usage,
                      "--mattr={} would apply to every CPU of the list; append features to one of them: {}{}",
                      options.features, options.cpu, options.features);
  if (options.hooks.trace)
    return diag.error(nullptr, Kind::usage, "--trace numbers the kernels of one CPU; --mcpu={} names several",
                      options.cpu);
  CompileOptions one = options;
  one.cpu.clear();
  Machine machine;
  RELAXC_TRY(Chosen usual, machine_of_flags(one, diag));
  machine.triple = usual.target.triple;
  RELAXC_TRY(auto levels, codegen_llvm::resolve_levels(machine, options.cpu, diag));
  for (codegen_llvm::CpuLevel& level : levels)
    if (options.task_slots > 0) level.target.task_slots = options.task_slots;
  return levels;
}

Result<Target> choose_target(const CompileOptions& options, Diagnostics& diag) {
  if (names_levels(options)) {
    RELAXC_TRY(std::vector<codegen_llvm::CpuLevel> levels, choose_levels(options, diag));
    return levels.back().target;
  }
  RELAXC_TRY(Chosen chosen, machine_of_flags(options, diag));
  if (options.task_slots > 0) chosen.target.task_slots = options.task_slots;
  return chosen.target;
}

Result<std::string> target_flags(const CompileOptions& options, Diagnostics& diag) {
  if (names_levels(options)) {
    RELAXC_TRY(std::vector<codegen_llvm::CpuLevel> levels, choose_levels(options, diag));
    return fmt::format("--target={} --mcpu={}", levels.back().target.triple, options.cpu);
  }
  RELAXC_TRY(Chosen chosen, machine_of_flags(options, diag));
  RELAXC_TRY(std::vector<codegen_llvm::CpuLevel> usual, choose_levels(options, diag));
  const Target& target = chosen.target;
  if (!usual.empty()) return "--target=" + target.triple;
  if (chosen.c_only) return "--target=" + options.target;
  return fmt::format("--target={} --mcpu={}{}{}", target.triple, target.cpu,
                     target.features.empty() ? "" : " --mattr=", target.features);
}

}  // namespace relaxc::api
