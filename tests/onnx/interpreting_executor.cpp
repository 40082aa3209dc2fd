// interpreting_executor.cpp: the oracle as an executor.
#include "compiler/ops/op_table.h"
#include "frontends/onnx/import.h"
#include "tests/onnx/executor.h"

namespace relaxc::onnx_tests {
namespace {

class Interpreted : public Prepared {
 public:
  Interpreted(relax::Module module, const relax::OpTable& ops)
      : module_(std::move(module)), ops_(ops), evaluator_(tir::make_interpreter()) {}

  std::variant<std::vector<HostTensor>, std::string> run(const std::vector<HostTensor>& inputs) override {
    const relax::Function* main = module_.find_function("main");
    size_t wanted = main->body().arguments.size();
    if (inputs.size() < wanted) return "the data has " + std::to_string(inputs.size()) + " inputs";
    auto result = relax::interpret(module_, ops_, *main, std::span(inputs.data(), wanted), *evaluator_);
    if (auto* fault = std::get_if<relax::RunFault>(&result)) return "fault: " + fault->text;
    return std::get<std::vector<HostTensor>>(std::move(result));
  }

 private:
  relax::Module module_;
  const relax::OpTable& ops_;
  std::unique_ptr<tir::Evaluator> evaluator_;
};

class InterpretingExecutor : public Executor {
 public:
  std::unique_ptr<Prepared> prepare(const std::string& model, std::string& fault) override {
    Diagnostics diag;
    Result<relax::Module> module = frontend::import_onnx(model, {}, ops_, diag);
    if (!module) {
      fault = diag.all()[0].text;
      for (const Diagnostic& message : diag.all())
        if (message.severity == Severity::kError) {
          fault = short_name(message.location) + ": " + message.text;
          break;
        }
      return nullptr;
    }
    return std::make_unique<Interpreted>(std::move(*module), ops_);
  }

 private:
  relax::OpTable ops_ = ops::op_table();
};

}  // namespace

std::unique_ptr<Executor> make_interpreting_executor() {
  return std::make_unique<InterpretingExecutor>();
}

}  // namespace relaxc::onnx_tests
