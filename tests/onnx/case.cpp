// case.cpp: finding tests, reading their data, comparing results.
#include "tests/onnx/case.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "frontends/onnx/load.h"
#include "tests/onnx/models.h"

namespace relaxc::onnx_tests {
namespace {

namespace fs = std::filesystem;

using onnx::TypeProto;

std::string read_tensor(const std::string& path, std::vector<HostTensor>& list) {
  Diagnostics diag;
  Result<relax::ConstantRef> data = frontend::load_tensor(path, nullptr, diag);
  if (!data) return "cannot read " + fs::path(path).filename().string() + ": " + diag.all()[0].text;
  list.push_back({(*data)->dtype(), (*data)->shape(), (*data)->to_vector()});
  return {};
}

/// A tensor inside of another message, by way of a file, which is where tensors are read from.
std::string read_tensor(const onnx::TensorProto& tensor, std::vector<HostTensor>& list) {
  ModelFolder folder;
  return read_tensor(folder.write("element.pb", tensor.SerializeAsString()), list);
}

HostTensor int64s(std::vector<int64_t> shape, const std::vector<int64_t>& values) {
  HostTensor made{DType::i(64), std::move(shape), std::vector<std::byte>(values.size() * sizeof(int64_t))};
  if (!values.empty()) std::memcpy(made.bytes.data(), values.data(), made.bytes.size());
  return made;
}

/// The two tensors that stand for strings: spans, and the bytes that they are of.
std::string read_strings(std::istream& file, std::vector<HostTensor>& list) {
  onnx::TensorProto tensor;
  if (!tensor.ParseFromIstream(&file)) return "not a tensor of strings";
  std::vector<int64_t> shape(tensor.dims().begin(), tensor.dims().end()), spans;
  HostTensor bytes{DType::u(8), {0}, {}};
  for (const std::string& text : tensor.string_data()) {
    spans.push_back(bytes.shape[0]);
    spans.push_back(static_cast<int64_t>(text.size()));
    bytes.shape[0] += spans.back();
    for (char c : text) bytes.bytes.push_back(static_cast<std::byte>(c));
  }
  shape.push_back(2);
  list.push_back(int64s(std::move(shape), spans));
  list.push_back(std::move(bytes));
  return {};
}

/// The two tensors that stand for a sequence: its elements one after another, and the shape of each.
std::string read_sequence(const TypeProto& type, const onnx::SequenceProto& sequence, std::vector<HostTensor>& list) {
  std::vector<HostTensor> items;
  for (const onnx::TensorProto& tensor : sequence.tensor_values())
    if (std::string fault = read_tensor(tensor, items); !fault.empty()) return fault;
  const TypeProto::Tensor& element = type.sequence_type().elem_type().tensor_type();
  Diagnostics diag;
  Result<DType> dtype = frontend::dtype_of(element.elem_type(), nullptr, diag);
  if (!dtype) return diag.all()[0].text;
  size_t rank = items.empty() ? static_cast<size_t>(element.shape().dim_size()) : items[0].shape.size();
  HostTensor elements{*dtype, {0}, {}};
  std::vector<int64_t> shapes;
  for (const HostTensor& item : items) {
    if (item.shape.size() != rank) return "elements of different ranks are in one sequence";
    elements.shape[0] += item.elements();
    elements.bytes.insert(elements.bytes.end(), item.bytes.begin(), item.bytes.end());
    shapes.insert(shapes.end(), item.shape.begin(), item.shape.end());
  }
  list.push_back(std::move(elements));
  list.push_back(int64s({static_cast<int64_t>(items.size()), static_cast<int64_t>(rank)}, shapes));
  return {};
}

/// Whether it is there, and its content; of one that is not there, no elements or zeros.
std::string read_optional(const TypeProto& type, const onnx::OptionalProto& optional, std::vector<HostTensor>& list) {
  const TypeProto& content = type.optional_type().elem_type();
  bool present = optional.has_tensor_value() || optional.has_sequence_value();
  list.push_back({DType::boolean(), {}, {static_cast<std::byte>(present)}});
  if (content.has_sequence_type()) return read_sequence(content, optional.sequence_value(), list);
  if (present) return read_tensor(optional.tensor_value(), list);
  Diagnostics diag;
  Result<DType> dtype = frontend::dtype_of(content.tensor_type().elem_type(), nullptr, diag);
  if (!dtype) return diag.all()[0].text;
  HostTensor zeros{*dtype, {}, {}};
  for (const auto& dim : content.tensor_type().shape().dim()) zeros.shape.push_back(dim.dim_value());
  zeros.bytes.resize(static_cast<size_t>(zeros.elements() * zeros.dtype.bytes()));
  list.push_back(std::move(zeros));
  return {};
}

using Declared = google::protobuf::RepeatedPtrField<onnx::ValueInfoProto>;

/// All values of a kind. `found` learns where in `list` the tensors are that need care when they are compared.
std::string read(const std::string& folder, const char* kind, const Declared& declared, std::vector<HostTensor>& list,
                 DataSet* found = nullptr) {
  for (int i = 0;; ++i) {
    std::string path = fmt::format("{}/{}_{}.pb", folder, kind, i);
    if (!fs::exists(path)) return {};
    TypeProto type = i < declared.size() ? declared[i].type() : TypeProto();
    std::ifstream file(path, std::ios::binary);
    std::string fault;
    bool strings = type.tensor_type().elem_type() == onnx::TensorProto::STRING;
    if (strings) {
      fault = read_strings(file, list);
    } else if (type.has_sequence_type()) {
      onnx::SequenceProto sequence;
      fault = sequence.ParseFromIstream(&file) ? read_sequence(type, sequence, list) : "not a sequence: " + path;
    } else if (type.has_optional_type()) {
      onnx::OptionalProto optional;
      fault = optional.ParseFromIstream(&file) ? read_optional(type, optional, list) : "not an optional: " + path;
    } else {
      fault = read_tensor(path, list);
    }
    if (!fault.empty()) return fault;
    bool composite = type.has_sequence_type() || type.has_optional_type();
    if (composite && found != nullptr && list.back().shape.size() == 2 && list.back().shape[0] == 0)
      found->no_elements.push_back(list.size() - 1);
    if (strings && found != nullptr) found->spans.push_back(list.size() - 2);
  }
}

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string text;
  for (int64_t extent : shape) text += (text.empty() ? "" : ", ") + std::to_string(extent);
  return "[" + text + "]";
}

/// How far beyond the tolerance, as a multiple of it; at most 1 is fine.
double excess(double a, double b, const Case& test) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b) ? 0 : INFINITY;
  if (std::isinf(a) || std::isinf(b)) return a == b ? 0 : INFINITY;
  return std::fabs(a - b) / (test.atol + test.rtol * std::fabs(b));
}

}  // namespace

std::string Case::load(std::vector<DataSet>& sets) const {
  Diagnostics diag;
  Result<frontend::LoadedModel> loaded = frontend::load_model(model(), {}, nullptr, diag);
  if (!loaded) return diag.all()[0].text;
  const onnx::GraphProto& graph = loaded->proto->graph();
  for (size_t k = 0;; ++k) {
    std::string data = fmt::format("{}/test_data_set_{}", folder, k);
    if (!fs::exists(data)) break;
    DataSet set{"set " + std::to_string(k), {}, {}, {}, {}};
    if (std::string fault = read(data, "input", graph.input(), set.inputs); !fault.empty()) return fault;
    if (std::string fault = read(data, "output", graph.output(), set.outputs, &set); !fault.empty()) return fault;
    sets.push_back(std::move(set));
  }
  return sets.empty() ? "no data" : "";
}

std::vector<Case> find_cases(const std::string& root, const std::string& suite) {
  std::vector<Case> cases;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(root, code))
    if (fs::exists(entry.path() / "model.onnx"))
      cases.push_back({suite + "/" + entry.path().filename().string(), entry.path().string()});
  std::sort(cases.begin(), cases.end(), [](const Case& a, const Case& b) { return a.name < b.name; });
  return cases;
}

std::map<std::string, double> read_noise(const std::string& root) {
  std::map<std::string, double> noise;
  std::ifstream file(root + "/INDEX.tsv");
  size_t column = 0;
  for (std::string line; std::getline(file, line);) {
    std::vector<std::string> cells;
    std::istringstream stream(line);
    for (std::string cell; std::getline(stream, cell, '\t');) cells.push_back(cell);
    if (noise.empty() && column == 0)
      column = static_cast<size_t>(std::find(cells.begin(), cells.end(), "opt_noise_abs") - cells.begin());
    else if (column < cells.size())
      noise[cells[0]] = std::strtod(cells[column].c_str(), nullptr);
  }
  return noise;
}

std::string put_in_order(std::vector<HostTensor>& tensors, size_t index) {
  if (index + 1 >= tensors.size()) return "spans without bytes";
  HostTensor &spans = tensors[index], &bytes = tensors[index + 1], ordered{DType::u(8), {0}, {}};
  if (spans.dtype != DType::i(64) || bytes.dtype != DType::u(8)) return "no spans and bytes";
  std::vector<int64_t> list(spans.bytes.size() / sizeof(int64_t));
  if (!list.empty()) std::memcpy(list.data(), spans.bytes.data(), spans.bytes.size());
  auto room = static_cast<int64_t>(bytes.bytes.size());
  for (size_t i = 0; i + 1 < list.size(); i += 2) {
    int64_t begin = list[i], length = list[i + 1];
    if (begin < 0 || length < 0 || length > room || begin > room - length)
      return fmt::format("the span {}, {} is outside of {} bytes", begin, length, room);
    list[i] = ordered.shape[0];
    ordered.bytes.insert(ordered.bytes.end(), bytes.bytes.begin() + begin, bytes.bytes.begin() + begin + length);
    ordered.shape[0] += length;
  }
  if (!list.empty()) std::memcpy(spans.bytes.data(), list.data(), spans.bytes.size());
  bytes = std::move(ordered);
  return {};
}

std::string compare(const std::vector<HostTensor>& actual, const std::vector<HostTensor>& expected, const Case& test) {
  if (actual.size() < expected.size()) return fmt::format("{} outputs, expected {}", actual.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    const HostTensor &a = actual[i], &b = expected[i];
    bool bfloat16_as_bits = a.dtype == DType::bf16() && b.dtype == DType::u(16);  // how old data sets store it
    if (a.dtype != b.dtype && !bfloat16_as_bits)
      return fmt::format("output {} is {}, expected {}", i, to_string(a.dtype), to_string(b.dtype));
    if (a.shape != b.shape)
      return fmt::format("output {} has shape {}, expected {}", i, shape_text(a.shape), shape_text(b.shape));
    if (test.random) continue;
    size_t step = static_cast<size_t>(a.dtype.bytes());
    double worst = 0;
    size_t where = 0;
    for (size_t at = 0; at < b.bytes.size(); at += step) {
      double far = excess(relax::decode_scalar(a.dtype, a.bytes.data() + at),
                          relax::decode_scalar(a.dtype, b.bytes.data() + at), test);
      if (far > worst) worst = far, where = at;
    }
    if (worst > 1)
      return fmt::format("output {}, element {}: {}, expected {}", i, where / step,
                         relax::decode_scalar(a.dtype, a.bytes.data() + where),
                         relax::decode_scalar(a.dtype, b.bytes.data() + where));
  }
  return {};
}

}  // namespace relaxc::onnx_tests
