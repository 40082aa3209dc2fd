// case.cpp: finding tests, reading their data, comparing results.
#include "tests/onnx/case.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "frontends/onnx/load.h"

namespace relaxc::onnx_tests {
namespace {

namespace fs = std::filesystem;

std::string read(const std::string& folder, const char* kind, std::vector<HostTensor>& list) {
  for (size_t i = 0;; ++i) {
    std::string path = fmt::format("{}/{}_{}.pb", folder, kind, i);
    if (!fs::exists(path)) return {};
    Diagnostics diag;
    Result<relax::ConstantRef> data = frontend::load_tensor(path, nullptr, diag);
    if (!data) return "cannot read " + fs::path(path).filename().string() + ": " + diag.all()[0].text;
    list.push_back({(*data)->dtype(), (*data)->shape(), (*data)->to_vector()});
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
  for (size_t k = 0;; ++k) {
    std::string data = fmt::format("{}/test_data_set_{}", folder, k);
    if (!fs::exists(data)) break;
    DataSet set{"set " + std::to_string(k), {}, {}};
    if (std::string fault = read(data, "input", set.inputs); !fault.empty()) return fault;
    if (std::string fault = read(data, "output", set.outputs); !fault.empty()) return fault;
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

std::string compare(const std::vector<HostTensor>& actual, const std::vector<HostTensor>& expected, const Case& test) {
  if (actual.size() < expected.size()) return fmt::format("{} outputs, expected {}", actual.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    const HostTensor &a = actual[i], &b = expected[i];
    bool bfloat16_as_bits = a.dtype == DType::bf16() && b.dtype == DType::u(16);  // how old data sets store it
    if (a.dtype != b.dtype && !bfloat16_as_bits)
      return fmt::format("output {} is {}, expected {}", i, to_string(a.dtype), to_string(b.dtype));
    if (a.shape != b.shape)
      return fmt::format("output {} has shape {}, expected {}", i, shape_text(a.shape), shape_text(b.shape));
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
