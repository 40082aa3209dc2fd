// imported.h: a small model, imported and run, for tests that look at numbers.
#pragma once

#include <cstring>
#include <variant>

#include "compiler/relax/interpret.h"
#include "frontends/onnx/import.h"
#include "tests/onnx/models.h"

namespace relaxc::onnx_tests {

using Outcome = std::variant<std::vector<relax::HostTensor>, relax::RunFault>;

/// Imports `model`, which must succeed, and runs it; `evaluator` null: interpreted.
Outcome run(const ModelWriter& model, const std::vector<relax::HostTensor>& inputs = {},
            const frontend::ImportOptions& options = {}, tir::Evaluator* evaluator = nullptr);
/// The results of a run that must succeed.
std::vector<relax::HostTensor> results(const ModelWriter& model, const std::vector<relax::HostTensor>& inputs = {},
                                       const frontend::ImportOptions& options = {},
                                       tir::Evaluator* evaluator = nullptr);
/// What an import that must fail says.
std::string refusal(const ModelWriter& model, const frontend::ImportOptions& options = {});
/// What an import that must succeed says nevertheless.
std::string remarks(const ModelWriter& model, const frontend::ImportOptions& options = {});

template <typename T>
relax::HostTensor tensor(DType dtype, std::vector<int64_t> shape, const std::vector<T>& values) {
  relax::HostTensor made{dtype, std::move(shape), std::vector<std::byte>(values.size() * sizeof(T))};
  if (!values.empty()) std::memcpy(made.bytes.data(), values.data(), made.bytes.size());
  return made;
}
inline relax::HostTensor int64s(std::vector<int64_t> shape, const std::vector<int64_t>& values) {
  return tensor(DType::i(64), std::move(shape), values);
}
inline relax::HostTensor floats(std::vector<int64_t> shape, const std::vector<float>& values) {
  return tensor(DType::f(32), std::move(shape), values);
}
relax::HostTensor filled(std::vector<int64_t> shape, float value);
inline relax::HostTensor truth(bool value) {
  return tensor(DType::boolean(), {}, std::vector<uint8_t>{value});
}

template <typename T>
std::vector<T> numbers_of(const relax::HostTensor& x) {
  std::vector<T> values(x.bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), x.bytes.data(), x.bytes.size());
  return values;
}

/// Strings of `shape` (none: a vector) as the two tensors that they are.
std::vector<relax::HostTensor> text(const std::vector<std::string>& strings, std::vector<int64_t> shape = {});
std::vector<std::string> strings_of(const relax::HostTensor& spans, const relax::HostTensor& bytes);

}  // namespace relaxc::onnx_tests
