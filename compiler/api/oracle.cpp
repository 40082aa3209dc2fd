// oracle.cpp: interprets the program as it was read.
#include "compiler/api/oracle.h"

#include <algorithm>

#include "compiler/api/input/read_input.h"
#include "compiler/codegen/llvm/jit.h"
#include "compiler/codegen/llvm/target.h"
#include "compiler/ops/op_table.h"
#include "compiler/transform/passes.h"

extern "C" {
#include "runtime-lite/include/relax_rt.h"
}

namespace relaxc::api {
namespace {

/// Returns the text that a caller of the compiled model would get for this error record.
std::string fault_text(const relax::RunFault& fault) {
  const char* nodes[] = {fault.text.c_str()};
  rlx_function function{};
  function.nodes = nodes, function.num_nodes = 1;
  const rlx_model model{};
  const tir::RunStatus& s = fault.status;
  const rlx_error found{s.code, s.tensor, s.axis, s.symbol, 0, s.expected, s.actual};
  std::string text(rlx_error_text(&model, &function, &found, nullptr, 0), ' ');
  rlx_error_text(&model, &function, &found, text.data(), text.size() + 1);
  return fmt::format("{} ({})", text, rlx_status_name(s.code));
}

}  // namespace

Oracle::Oracle(const CompileOptions& options, std::string function, Diagnostics& diag)
    : options_(options), name_(std::move(function)), diag_(diag), ops_(ops::op_table()) {}

Status Oracle::read() {
  Diagnostics& diag = diag_;
  std::vector<relax::FileRef> files;
  frontend::Findings findings;
  RELAXC_TRY(module_, read_input(options_, ops_, diag, files, findings));
  RELAXC_TRY(Target target, codegen_llvm::resolve_target("", "native", "", diag));
  evaluator_ = codegen_llvm::make_jit(target);
  RELAXC_DO(match_object(target));
  if (function() != nullptr) return Done{};
  return diag.error(nullptr, Kind::usage, "the program has no function '{}'", name_);
}

Result<std::vector<relax::HostTensor>> Oracle::run(const Tensors& inputs) {
  std::vector<relax::HostTensor> given;
  for (const auto& input : inputs) given.push_back(*input);
  auto result = relax::interpret(*module_, ops_, *function(), given, *evaluator_);
  if (auto* outputs = std::get_if<0>(&result)) return std::move(*outputs);
  return diag_.error(nullptr, Kind::invalid_value, "the interpreter refuses: {}", fault_text(std::get<1>(result)));
}

/// Gives the interpreted module the gradients, and the quantized inputs and outputs, that the object has.
Status Oracle::match_object(const Target& target) {
  Diagnostics& diag = diag_;
  const std::vector<relax::Function*> all = module_->functions();
  auto asked = [](const relax::Function* function) { return function->gradient.has_value(); };
  if (!options_.quantized_io && std::none_of(all.begin(), all.end(), asked)) return Done{};
  PassContext context{ops_, target, diag, *evaluator_};
  context.options[std::string(kQuantizedIo.name)] = options_.quantized_io ? 1 : 0;
  RELAXC_DO(infer(*module_, context));
  RELAXC_DO(gradient(*module_, context));
  RELAXC_DO(quantized_io(*module_, context));
  return Done{};
}

}  // namespace relaxc::api
