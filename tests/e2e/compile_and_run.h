// compile_and_run.h: a program in the text IR, run three ways that must agree to the bit: by the interpreter, and
// compiled by each backend, linked and called through the generic interface.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "compiler/api/compile_options.h"
#include "compiler/support/temporary_folder.h"
#include "tests/host_tensors.h"
#include "tests/onnx/loaded_model.h"

namespace relaxc::e2e {

using onnx_tests::LoadedModel;
using relax::HostTensor;
using test::floats;
using test::ints;
using test::scalar;
using test::tensor;
using test::values_of;

/// One program, compiled by both backends when made. A failure of any step is a failed requirement.
class CompiledProgram {
 public:
  /// `file`: below the repository's root. `options`: what is on the command line besides input and output.
  explicit CompiledProgram(const std::string& file, api::CompileOptions options = {});
  CompiledProgram(const CompiledProgram&) = delete;

  /// What the interpreter and both objects give; requires that they agree.
  std::vector<HostTensor> run(const std::vector<HostTensor>& inputs, uint32_t entry = 0) const;
  /// What both objects give; requires that they agree.
  std::vector<HostTensor> run_compiled(const std::vector<HostTensor>& inputs, uint32_t entry = 0) const;
  /// How both objects refuse the inputs; requires that they do, with the same record.
  std::string refusal(const std::vector<HostTensor>& inputs, uint32_t entry = 0) const;
  /// The name of the status with which the interpreter refuses the inputs; requires that it does.
  std::string fault(const std::vector<HostTensor>& inputs, uint32_t entry = 0) const;

  const rlx_function& function(uint32_t entry = 0) const { return llvm_->function(entry); }
  const LoadedModel& llvm() const { return *llvm_; }
  const LoadedModel& c() const { return *c_; }
  LoadedModel& llvm() { return *llvm_; }
  LoadedModel& c() { return *c_; }

 private:
  std::unique_ptr<LoadedModel> load(api::CompileOptions options, const std::string& name, const char* extension) const;
  std::variant<std::vector<HostTensor>, relax::RunFault> interpreted(const std::vector<HostTensor>& inputs,
                                                                     uint32_t entry) const;

  std::string file_;
  TemporaryFolder folder_;  ///< outlives what is loaded from it
  std::unique_ptr<LoadedModel> llvm_, c_;
};

}  // namespace relaxc::e2e
