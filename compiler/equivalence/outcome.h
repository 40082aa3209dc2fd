// outcome.h: what a run of a program gives, whichever way it was run, and whether two runs gave the same.
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

/// How far elements of floats may be from those of another run.
struct Tolerance {
  double relative = 0;    ///< as a part of the largest finite element of their output; 0: bits agree
  double absolute = 0;    ///< beside that
  bool any_zero = false;  ///< 0 and -0 are equal

  Tolerance(double part = 0, double least = 0) : relative(part), absolute(least) {}
};

/// Empty if both have the same outputs to the bit, or both ended early with one code; else what differs. Which payload
/// a NaN has is not part of a program's meaning: NaNs of one dtype are equal.
std::string difference(const Outcome& a, const Outcome& b, const Tolerance& tolerance = {});

/// Whether a schedule changed the order of a reduction, or it or a pass rounds differently: then bits may differ from
/// the source's.
bool reorders(const relax::Module& module);
/// Whether a kernel of the module is computed by instructions that round in their own way, so that machines, and the
/// interpreter, may differ in bits.
bool rounds_by_machine(const relax::Module& module);
/// How far floats may then be from the source's: `reordered`, or more if a pass made the operands of products narrower;
/// 0 where bits must agree. Instructions that flush subnormals lose less than 2^-126 times a factor with each product:
/// less than 2^-100 for sums of up to 2^16 terms with factors up to 2^10.
Tolerance tolerance_of(const relax::Module& module, double reordered);

/// Stands for every external function: writes numbers that depend on its name and position into its last argument, and
/// keeps a record of the calls that a program makes for their effect.
class Externals {
 public:
  /// The names that `program` calls for their effect; other calls may be dropped or moved and are not recorded.
  explicit Externals(const relax::Module& program);
  int32_t call(const std::string& name, std::span<const tir::ExternalArg> args);
  tir::CallExternal function() {
    return [this](const std::string& name, std::span<const tir::ExternalArg> args) { return call(name, args); };
  }
  /// One line a call: the name and what its arguments held.
  const std::string& effects() const { return effects_; }

 private:
  std::set<std::string> effectful_;
  std::string effects_;
};

/// The external functions that Relax functions of `module` call. Where a pass brings one in, what it computes is known
/// only to who wrote it, and results cannot be compared with those before the pass.
std::set<std::string> external_callees(const relax::Module& module);

/// Whether the run was given up because its repetitions took more than its budget.
bool gave_up(const Outcome& outcome);

/// Interprets a Relax function of a module.
Outcome interpret(relax::Module& module, const relax::OpTable& ops, const relax::Function& function,
                  const std::vector<HostTensor>& inputs, const tir::CallExternal& external);

}  // namespace relaxc::equivalence
