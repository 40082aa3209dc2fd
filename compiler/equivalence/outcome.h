// outcome.h: the outcome of running a program, by any means, and the comparison of two outcomes.
#pragma once

#include <set>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "compiler/relax/interpret.h"

namespace relaxc::equivalence {

using relax::HostTensor;

/// The outputs, or why the run ended early.
using Outcome = std::variant<std::vector<HostTensor>, relax::RunFault>;

/// How far elements of floats may differ between two runs.
struct Tolerance {
  double relative = 0;    ///< times the largest finite element of their output; 0: bits agree
  double absolute = 0;    ///< is added to that
  bool any_zero = false;  ///< 0 and -0 are equal

  Tolerance(double part = 0, double least = 0) : relative(part), absolute(least) {}
};

/// Returns what differs; empty if both have the same outputs within `tolerance`, or both ended early with codes that
/// mean the same. The payload of a NaN is not part of a program's meaning: NaNs of one dtype are equal.
std::string difference(const Outcome& a, const Outcome& b, const Tolerance& tolerance = {});

/// Whether results may differ from the source's in bits: a schedule changed the order of a reduction, or a schedule or
/// pass rounds differently.
bool reorders(const relax::Module& module);
/// Whether a kernel of the module uses instructions with a rounding of their own, so that results of machines and of
/// the interpreter may differ in bits.
bool rounds_by_machine(const relax::Module& module);
/// Returns how far floats may then differ from the source's: `reordered`, or more if a pass narrowed the operands of
/// products; 0 if bits must agree. Instructions that flush subnormals lose less than 2^-126 times a factor with each
/// product: less than 2^-100 for sums of up to 2^16 terms with factors up to 2^10.
Tolerance tolerance_of(const relax::Module& module, double reordered);

/// Replaces every external function: writes numbers that depend on its name and their position to its last argument,
/// and records the calls that a program makes for their effect.
class Externals {
 public:
  /// Finds the names that `program` calls for their effect; other calls may be removed or moved and are not recorded.
  explicit Externals(const relax::Module& program);
  int32_t call(const std::string& name, std::span<const tir::ExternalArg> args);
  tir::CallExternal function() {
    return [this](const std::string& name, std::span<const tir::ExternalArg> args) { return call(name, args); };
  }
  /// One line for each recorded call: the name and the contents of its arguments.
  const std::string& effects() const { return effects_; }

 private:
  std::set<std::string> effectful_;
  std::string effects_;
};

/// Returns the external functions that Relax functions of `module` call. If a pass introduces one, what it computes is
/// not known here, and results cannot be compared with those before the pass.
std::set<std::string> external_callees(const relax::Module& module);

/// Whether the run was stopped because its iterations and calls took more than its budget.
bool gave_up(const Outcome& outcome);

/// Interprets a Relax function of a module.
Outcome interpret(relax::Module& module, const relax::OpTable& ops, const relax::Function& function,
                  const std::vector<HostTensor>& inputs, const tir::CallExternal& external);

}  // namespace relaxc::equivalence
