// machine.h: machines as data: what a name given to --target stands for.
//
// A description holds what LLVM cannot know or should not guess: which CPU a bare triple means, how large caches are.
// Everything that follows from CPU and features (registers, fused multiply-add, pointer size) is asked of LLVM, so that
// no number is in two places.
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

/// A machine as a user describes it, before LLVM completes it to a Target. Empty or absent: decided by the rest.
struct Machine {
  std::string triple;     ///< LLVM's
  std::string cpu;        ///< LLVM's name, or "native"
  std::string features;   ///< "+avx2,-fma"
  std::string float_abi;  ///< of ARM: "soft", "softfp" or "hard"
  bool c_only = false;  ///< LLVM has no code for it; the other fields are those of a similar machine, for whose loops C
                        ///< is written
  std::optional<int32_t> task_slots;
  std::optional<int32_t> vector_bits, vector_registers;       ///< that schedules use, of those that the CPU has
  std::vector<std::pair<const ModelField*, double>> numbers;  ///< what is said of its model; later ones count

  void say(std::string_view field, double value) { numbers.emplace_back(find_model_field(field), value); }
  bool says(std::string_view field) const;
  /// \return `model` with the numbers that are said
  MachineModel applied(MachineModel model) const;
};

/// A machine that has a name.
struct KnownMachine {
  std::string_view name, triple, cpu, features;
  MachineModel model;
  std::string_view about;
  bool c_only = false;  ///< see Machine

  Machine machine() const;
};

/// All of them. The first one of an architecture is what a triple of it means if no CPU is named.
std::span<const KnownMachine> known_machines();
/// Null if no machine has this name.
const KnownMachine* find_machine(std::string_view name);

/// What `--target` says: a known name, "native", the path of a description that ends in .json, or a triple.
Result<Machine> read_machine(const std::string& target, Diagnostics& diag);

/// The fields of Machine as JSON: {"target": "cortex-m4", "cpu": …, "features": …, "float_abi": …, "task_slots": 1,
/// "vector_bits": 128, "vector_registers": 16, "l1_bytes": …}, where "target" is a known name or a triple; any of
/// model_fields() may be given. Fails (usage) on an unknown field or a value of another type or out of range; `path` is
/// for messages.
Result<Machine> parse_machine(const std::string& path, const std::string& text, Diagnostics& diag);

}  // namespace relaxc
