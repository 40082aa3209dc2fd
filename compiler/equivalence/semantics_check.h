// semantics_check.h: checks that a module still computes what it computed when it was read.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/equivalence/outcome.h"
#include "compiler/interface/object.h"
#include "compiler/relax/op_def.h"

namespace relaxc::equivalence {

/// Runs every public function of a module on random inputs and keeps the results; runs it again after a pass, as Relax
/// or as the entry that it was lowered to, and compares.
class SemanticsCheck {
 public:
  using MakeEvaluator = std::function<std::unique_ptr<tir::Evaluator>(tir::FindFunction, tir::CallExternal)>;
  /// `make` returns the evaluator that runs prim funcs; it is called once. The module's types must be known.
  SemanticsCheck(relax::Module& module, const relax::OpTable& ops, const MakeEvaluator& make);

  /// Returns how a function of `module`, or of the object that it was lowered to, differs from its first results; empty
  /// if none does. If a pass or a schedule rounds differently, floats may differ by a thousandth of their output's
  /// largest element. If the module calls external functions that no form of it called before, its results replace the
  /// first ones and nothing is compared.
  std::string difference(relax::Module& module, const interface::Object& object);
  /// Functions whose runs all ended early, so that only how they end was compared, or took too many repetitions, so
  /// that nothing was.
  const std::vector<std::string>& not_run() const { return not_run_; }

 private:
  struct Trial {
    std::string function;
    std::vector<std::string> names;  ///< of the inputs
    std::vector<HostTensor> inputs;
    Outcome outcome;
    std::string effects;
  };
  bool has_new_externals(const relax::Module& module);
  Outcome run(const std::string& function, const std::vector<HostTensor>& inputs, int64_t budget, std::string& effects);

  const relax::OpTable& ops_;
  relax::Module* module_;  ///< the one that is run
  const interface::Object* object_ = nullptr;
  const Externals
      first_;  ///< from the module as it was read, because a lowered one no longer says which calls have effects
  std::set<std::string> callees_;  ///< external functions that any form of the module has called
  std::unique_ptr<Externals> externals_;
  std::unique_ptr<tir::Evaluator> evaluator_;
  std::vector<Trial> trials_;
  std::vector<std::string> not_run_;
};

}  // namespace relaxc::equivalence
