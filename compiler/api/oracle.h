// oracle.h: what a program computes by the meaning of its operators.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/api/compile_options.h"
#include "compiler/api/input/tensor_files.h"
#include "compiler/relax/module.h"
#include "compiler/relax/op_def.h"
#include "compiler/tir/evaluator.h"
#include "targets/target.h"

namespace relaxc::api {

/// A module as it was read, and an interpreter that runs it operator by operator. `options` and `diag` outlive it.
class Oracle {
 public:
  Oracle(const CompileOptions& options, std::string function, Diagnostics& diag);

  /// Reads the input that the options name. Fails as read_input() does, and (usage) if it has no such function.
  Status read();
  /// The function that is run; read() has succeeded.
  relax::Function* function() { return module_->find_function(name_); }
  /// The outputs of the function. Every input is there. Fails (invalid_value) if the program refuses them.
  Result<std::vector<relax::HostTensor>> run(const Tensors& inputs);

 private:
  Status quantize_border(const Target& target);

  const CompileOptions& options_;
  std::string name_;
  Diagnostics& diag_;
  relax::OpTable ops_;
  std::optional<relax::Module> module_;
  std::unique_ptr<tir::Evaluator> evaluator_;
};

}  // namespace relaxc::api
