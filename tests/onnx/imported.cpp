// imported.cpp: see imported.h.
#include "tests/onnx/imported.h"

#include <catch2/catch.hpp>

#include "compiler/ops/op_table.h"

namespace relaxc::onnx_tests {

using relax::HostTensor;

namespace {

Result<relax::Module> imported(const ModelWriter& model, const frontend::ImportOptions& options,
                               const relax::OpTable& ops, Diagnostics& diag) {
  ModelFolder folder;
  return frontend::import_onnx(folder.write("model.onnx", model.bytes()), options, ops, diag);
}

}  // namespace

Outcome run(const ModelWriter& model, const std::vector<HostTensor>& inputs, const frontend::ImportOptions& options,
            tir::Evaluator* evaluator) {
  relax::OpTable ops = ops::op_table();
  Diagnostics diag;
  Result<relax::Module> module = imported(model, options, ops, diag);
  INFO(render(diag));
  REQUIRE(module);
  auto interpreter = tir::make_interpreter();
  return relax::interpret(*module, ops, *module->find_function("main"), inputs,
                          evaluator != nullptr ? *evaluator : *interpreter);
}

std::vector<HostTensor> results(const ModelWriter& model, const std::vector<HostTensor>& inputs,
                                const frontend::ImportOptions& options, tir::Evaluator* evaluator) {
  Outcome outcome = run(model, inputs, options, evaluator);
  if (auto* fault = std::get_if<relax::RunFault>(&outcome)) FAIL("the run ends: " << fault->text);
  REQUIRE(std::holds_alternative<std::vector<HostTensor>>(outcome));
  return std::get<std::vector<HostTensor>>(outcome);
}

std::string refusal(const ModelWriter& model, const frontend::ImportOptions& options) {
  relax::OpTable ops = ops::op_table();
  Diagnostics diag;
  CHECK_FALSE(imported(model, options, ops, diag));
  CHECK(diag.has_errors());
  return render(diag);
}

std::string remarks(const ModelWriter& model, const frontend::ImportOptions& options) {
  relax::OpTable ops = ops::op_table();
  Diagnostics diag;
  frontend::Findings findings;
  frontend::ImportOptions asked = options;
  asked.findings = &findings;
  Result<relax::Module> module = imported(model, asked, ops, diag);
  INFO(render(diag));
  CHECK(module);
  std::string text = render(diag);
  for (const std::string& remark : findings.remarks) text += remark + "\n";
  return text;
}

HostTensor filled(std::vector<int64_t> shape, float value) {
  HostTensor made{DType::f(32), std::move(shape), {}};
  return floats(made.shape, std::vector<float>(static_cast<size_t>(made.elements()), value));
}

std::vector<HostTensor> text(const std::vector<std::string>& strings, std::vector<int64_t> shape) {
  std::vector<int64_t> spans;
  std::vector<char> bytes;
  for (const std::string& string : strings) {
    spans.push_back(static_cast<int64_t>(bytes.size()));
    spans.push_back(static_cast<int64_t>(string.size()));
    bytes.insert(bytes.end(), string.begin(), string.end());
  }
  auto length = static_cast<int64_t>(bytes.size());
  if (shape.empty()) shape = {static_cast<int64_t>(strings.size())};
  shape.push_back(2);
  return {int64s(std::move(shape), spans), tensor(DType::u(8), {length}, bytes)};
}

std::vector<std::string> strings_of(const HostTensor& spans, const HostTensor& bytes) {
  std::vector<std::string> strings;
  const auto* list = reinterpret_cast<const int64_t*>(spans.bytes.data());
  for (int64_t i = 0; i < spans.elements() / 2; ++i)
    strings.emplace_back(reinterpret_cast<const char*>(bytes.bytes.data()) + list[2 * i],
                         static_cast<size_t>(list[2 * i + 1]));
  return strings;
}

}  // namespace relaxc::onnx_tests
