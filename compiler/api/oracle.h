// oracle.h: runs a program by the meaning of its operators, to compare with.
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

/// A module as it was read, interpreted operator by operator. `options` and `diag` must outlive it.
class Oracle {
 public:
  Oracle(const CompileOptions& options, std::string function, Diagnostics& diag);

  /// Reads the input that the options name. Fails like read_input(), and (usage) if it has no such function.
  Status read();
  /// Returns the function that run() interprets; read() must have succeeded.
  relax::Function* function() { return module_->find_function(name_); }
  /// Returns the outputs of the function. `inputs` must be complete. Fails (invalid_value) if the program refuses them.
  Result<std::vector<relax::HostTensor>> run(const Tensors& inputs);

 private:
  Status match_object(const Target& target);

  const CompileOptions& options_;
  std::string name_;
  Diagnostics& diag_;
  relax::OpTable ops_;
  std::optional<relax::Module> module_;
  std::unique_ptr<tir::Evaluator> evaluator_;
};

}  // namespace relaxc::api
