// machine.h: the machines that --target can name, as data.
//
// A description holds what LLVM cannot know or should not guess: which CPU a bare triple means, how large caches are.
// What follows from CPU and features (registers, fused multiply-add, pointer size) is asked of LLVM, so that no number
// is stored twice.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/support/result.h"
#include "targets/machine_model.h"

namespace relaxc {

/// A machine as a user describes it, before LLVM completes it to a Target. Empty or absent fields follow from the rest.
struct Machine {
  std::string triple;     ///< in LLVM's form
  std::string cpu;        ///< LLVM's name, or "native"
  std::string features;   ///< such as "+avx2,-fma"
  std::string float_abi;  ///< for ARM: "soft", "softfp" or "hard"
  bool c_only = false;    ///< LLVM has no backend for it, so only C can be written; the other fields are those of a
                          ///< similar machine, for whose schedules C is written
  std::optional<int32_t> task_slots;
  std::optional<int32_t> vector_bits, vector_registers;       ///< limits for schedules, within what the CPU has
  std::vector<std::pair<const ModelField*, double>> numbers;  ///< given fields of the model; later ones override

  void say(std::string_view field, double value) { numbers.emplace_back(find_model_field(field), value); }
  bool says(std::string_view field) const;
  /// Returns `model` with the given numbers.
  MachineModel applied(MachineModel model) const;
};

/// A machine that has a name.
struct KnownMachine {
  std::string_view name, triple, cpu, features;
  MachineModel model;
  std::string_view about;
  bool c_only = false;  ///< as in Machine

  Machine machine() const;
};

/// Returns all named machines. The first one of an architecture is used for a triple without a CPU.
std::span<const KnownMachine> known_machines();
/// Returns null if no machine has this name.
const KnownMachine* find_machine(std::string_view name);

/// Returns the numbers of a CPU by LLVM's name for it; those that no row of the CPU gives are MachineModel's defaults.
MachineModel model_of_cpu(std::string_view cpu);
/// Returns whether CPUs, and not named machines, decide this number.
bool differs_by_cpu(const ModelField& field);

/// Resolves the value of `--target`: a known name, "native", the path of a description (*.json), or a triple.
Result<Machine> read_machine(const std::string& target, Diagnostics& diag);

/// Reads a Machine from JSON: {"target": "cortex-m4", "cpu": …, "features": …, "float_abi": …, "task_slots": 1,
/// "vector_bits": 128, "vector_registers": 16, "l1_bytes": …}, where "target" is a known name or a triple; any of
/// model_fields() may be given. Reports `usage` for an unknown field and for a value of another type or out of range;
/// messages name `path`.
Result<Machine> parse_machine(const std::string& path, const std::string& text, Diagnostics& diag);

}  // namespace relaxc
