// choose_target.cpp: flags about the machine, put together.
#include "compiler/driver/choose_target.h"

#include "compiler/codegen/llvm/target.h"
#include "compiler/driver/cc_target.h"

namespace relaxc::driver {
namespace {

/// The machine of --target, if objects of the C compiler's machine can be linked with it.
Result<Target> same_target(const Options& options, const Machine& asked, const Machine& of_compiler,
                           Diagnostics& diag) {
  RELAXC_TRY(Target target, codegen_llvm::resolve_target(asked, diag));
  RELAXC_TRY(Target found, codegen_llvm::resolve_target(of_compiler, diag));
  if (codegen_llvm::link_together(target.triple, found.triple)) return target;
  return diag.error(nullptr, Kind::usage, "--target {} is {}, but '{}' compiles for {}", options.target, target.triple,
                    options.target_from_cc, found.triple);
}

bool names_levels(const Options& options) {
  return options.cpu.find(',') != std::string::npos;
}

Result<Target> machine_of_flags(const Options& options, Diagnostics& diag) {
  RELAXC_TRY(Machine machine, read_machine(options.target, diag));
  if (!options.target_from_cc.empty()) {
    RELAXC_TRY(Machine found, machine_of_compiler(options.target_from_cc, diag));
    if (!options.target.empty()) return same_target(options, machine, found, diag);
    machine = found;
  }
  if (!options.cpu.empty()) {
    machine.cpu = options.cpu;
    machine.features.clear();
  }
  if (!options.features.empty()) machine.features += (machine.features.empty() ? "" : ",") + options.features;
  if (!options.float_abi.empty()) machine.float_abi = options.float_abi;
  return codegen_llvm::resolve_target(machine, diag);
}

}  // namespace

Result<std::vector<codegen_llvm::CpuLevel>> choose_levels(const Options& options, Diagnostics& diag) {
  if (!names_levels(options)) return std::vector<codegen_llvm::CpuLevel>{};
  if (!options.features.empty())
    return diag.error(nullptr, Kind::usage,
                      "--mattr={} would be of every CPU of the list; write features behind one of them: {}{}",
                      options.features, options.cpu, options.features);
  if (options.hooks.trace)
    return diag.error(nullptr, Kind::usage, "--trace numbers the kernels of one CPU; --mcpu={} names several",
                      options.cpu);
  Options one = options;
  one.cpu.clear();
  Machine machine;
  RELAXC_TRY(Target usual, machine_of_flags(one, diag));
  machine.triple = usual.triple;
  RELAXC_TRY(auto levels, codegen_llvm::resolve_levels(machine, options.cpu, diag));
  for (codegen_llvm::CpuLevel& level : levels)
    if (options.task_slots > 0) level.target.task_slots = options.task_slots;
  return levels;
}

Result<Target> choose_target(const Options& options, Diagnostics& diag) {
  if (names_levels(options)) {
    RELAXC_TRY(std::vector<codegen_llvm::CpuLevel> levels, choose_levels(options, diag));
    return levels.back().target;
  }
  RELAXC_TRY(Target target, machine_of_flags(options, diag));
  if (options.task_slots > 0) target.task_slots = options.task_slots;
  return target;
}

}  // namespace relaxc::driver
