// case.h: one test in the layout of ONNX's backend tests: a folder with model.onnx and test_data_set_K of inputs and
// outputs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/relax/interpret.h"

namespace relaxc::onnx_tests {

using relax::HostTensor;

struct DataSet {
  std::string name;
  std::vector<HostTensor> inputs, outputs;  ///< strings, sequences and optionals as the tensors that stand for them
  std::vector<size_t> no_elements;          ///< outputs that are the shapes of a sequence without any: [0, whatever]
  std::vector<size_t> spans;                ///< outputs that are spans of the bytes that follow
};

/// Makes the spans of strings at `index`, and the bytes behind them, what they are when every string is by itself
/// in order: how they are is up to who makes them. Empty, or what is wrong with the spans.
std::string put_in_order(std::vector<HostTensor>& tensors, size_t index);

struct Case {
  std::string name;    ///< "node/test_abs": suite and folder
  std::string folder;  ///< where it is
  double rtol = 1e-3, atol = 1e-7;
  /// The expected outputs were drawn at random: shapes and types are all that can be compared.
  bool random = false;

  std::string model() const { return folder + "/model.onnx"; }
  /// Reads all data sets; the reason instead if one cannot be read (a map, say).
  std::string load(std::vector<DataSet>& sets) const;
};

/// Every folder below `root` with a model.onnx, by name; `suite` is put before each name.
std::vector<Case> find_cases(const std::string& root, const std::string& suite);

/// How far another implementation's own variants differ on a model, by model: column opt_noise_abs of `root`/INDEX.tsv.
/// Nothing can be expected to agree better than that.
std::map<std::string, double> read_noise(const std::string& root);

/// Empty if all outputs agree with what was expected: |a - b| <= atol + rtol * |b| (NaN equals NaN, infinities must be
/// equal, integers too), as the suite itself compares. Otherwise what differs most.
std::string compare(const std::vector<HostTensor>& actual, const std::vector<HostTensor>& expected, const Case& test);

}  // namespace relaxc::onnx_tests
