// interpreting_executor.cpp: the oracle as an executor.
#include "compiler/codegen/llvm/jit.h"
#include "compiler/codegen/llvm/target.h"
#include "compiler/ops/op_table.h"
#include "compiler/relax/verify.h"
#include "frontends/onnx/import.h"
#include "tests/onnx/executor.h"

namespace relaxc::onnx_tests {
namespace {

class Interpreted : public Prepared {
 public:
  Interpreted(relax::Module module, const relax::OpTable& ops, std::unique_ptr<tir::Evaluator> evaluator)
      : module_(std::move(module)), ops_(ops), evaluator_(std::move(evaluator)) {}

  std::variant<std::vector<HostTensor>, std::string> run(const std::vector<HostTensor>& inputs) override {
    const relax::Function* main = module_.find_function("main");
    size_t wanted = main->body().arguments.size();
    if (inputs.size() < wanted) return "the data has " + std::to_string(inputs.size()) + " inputs";
    std::vector<HostTensor> given(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(wanted));
    for (size_t i = 0; i < wanted; ++i) retag(given[i], *main->body().arguments[i]);
    auto result = relax::interpret(module_, ops_, *main, given, *evaluator_);
    if (auto* fault = std::get_if<relax::RunFault>(&result)) return "fault: " + fault->text;
    return std::get<std::vector<HostTensor>>(std::move(result));
  }

 private:
  /// Data sets made before bfloat16 had a number of its own hold it as uint16.
  static void retag(HostTensor& tensor, const relax::Value& parameter) {
    if (tensor.dtype == DType::u(16) && parameter.dtype() == DType::bf16()) tensor.dtype = DType::bf16();
  }

  relax::Module module_;
  const relax::OpTable& ops_;
  std::unique_ptr<tir::Evaluator> evaluator_;
};

class InterpretingExecutor : public Executor {
 public:
  explicit InterpretingExecutor(bool compile) : compile_(compile) {}

  std::unique_ptr<Prepared> prepare(const std::string& model, bool, std::string& fault) override {
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
    fault = relax::first_fault(*module);
    if (!fault.empty()) {
      fault = "ill-formed: " + fault;
      return nullptr;
    }
    Result<Target> target = codegen_llvm::resolve_target("", "native", "", diag);
    auto evaluator = compile_ && target ? codegen_llvm::make_jit(*target) : tir::make_interpreter();
    return std::make_unique<Interpreted>(std::move(*module), ops_, std::move(evaluator));
  }

 private:
  bool compile_;
  relax::OpTable ops_ = ops::op_table();
};

}  // namespace

std::unique_ptr<Executor> make_interpreting_executor(bool compile) {
  return std::make_unique<InterpretingExecutor>(compile);
}

}  // namespace relaxc::onnx_tests
