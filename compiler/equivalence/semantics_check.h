// semantics_check.h: does a module still compute what it computed when it was read?
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/equivalence/outcome.h"
#include "compiler/interface/object.h"
#include "compiler/relax/op_def.h"

namespace relaxc::equivalence {

/// Runs every public function of a module on random inputs and keeps the results; runs it again after a pass, as Relax
/// or as what it was lowered to, and compares.
class SemanticsCheck {
 public:
  using MakeEvaluator = std::function<std::unique_ptr<tir::Evaluator>(tir::FindFunction, tir::CallExternal)>;
  /// `make` gives what runs prim funcs; it is called once. The module's types must be known.
  SemanticsCheck(relax::Module& module, const relax::OpTable& ops, const MakeEvaluator& make);

  /// What a function of `module`, or of the object that it was lowered to, gives otherwise than at first; empty if all
  /// is the same. Where a pass or a schedule rounds otherwise, floats may differ by a thousandth of their output's
  /// largest element. Calls of external functions that there were not before make what the module gives then the new
  /// measure.
  std::string difference(relax::Module& module, const interface::Object& object);
  /// Functions whose runs all ended early, so that they were compared in how they end and nothing else, or took too
  /// many repetitions, so that they were not compared.
  const std::vector<std::string>& not_run() const { return not_run_; }

 private:
  struct Trial {
    std::string function;
    std::vector<HostTensor> inputs;
    Outcome outcome;
    std::string effects;
  };
  bool has_new_externals(const relax::Module& module);
  Outcome run(const std::string& function, const std::vector<HostTensor>& inputs, int64_t budget, std::string& effects);

  const relax::OpTable& ops_;
  relax::Module* module_;  ///< the one being run
  const interface::Object* object_ = nullptr;
  const Externals
      first_;  ///< before any call, by the module as it was read: a lowered one no longer says what has effects
  std::set<std::string> callees_;  ///< external functions that any form of the module has called
  std::unique_ptr<Externals> externals_;
  std::unique_ptr<tir::Evaluator> evaluator_;
  std::vector<Trial> trials_;
  std::vector<std::string> not_run_;
};

}  // namespace relaxc::equivalence
