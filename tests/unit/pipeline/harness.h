// harness.h: programs through passes, with whatever runs prim funcs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/ops/op_table.h"
#include "compiler/pipeline/pipelines.h"
#include "compiler/pipeline/runner.h"

namespace relaxc::test {

/// A module and what passes need to work on it.
class Program {
 public:
  explicit Program(const std::string& text);

  relax::Module& module() { return *module_; }
  const relax::OpTable& ops() const { return ops_; }
  interface::Object& object() {
    return object_;
  }
  /// Runs passes with `evaluator` for what they compute (the interpreter if it is null); requires that they succeed.
  void run(const std::vector<Pass>& passes, const PassOptions& options = {}, tir::Evaluator* evaluator = nullptr);

 private:
  relax::OpTable ops_ = ops::op_table();
  Diagnostics diag_;
  std::unique_ptr<relax::Module> module_;
  interface::Object object_;
};

/// The passes of these names.
std::vector<Pass> passes(const std::vector<std::string>& names);

}  // namespace relaxc::test
