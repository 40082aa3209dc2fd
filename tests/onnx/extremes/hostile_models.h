// hostile_models.h: models whose sizes come from their inputs.
#pragma once

#include <string>
#include <vector>

namespace relaxc::onnx_tests {

/// Writes a copy of the model at `model` to `copy` in which every small integer input of a fixed shape is a float64
/// input and a Cast: what it says is then known only while running. Sets `changed`: whether there was one. Returns
/// empty, or why there is no copy.
std::string write_computed(const std::string& model, const std::string& copy, bool& changed);

/// Of each input of the graph, whether an operator takes sizes, scales or limits from it.
std::vector<bool> size_inputs(const std::string& model);

/// A model of the generator: an operator that makes a tensor of a size that its inputs decide, and what uses it.
struct SizedModel {
  std::string name, bytes;
  std::vector<std::vector<int64_t>> shapes;    ///< of the inputs: the data, then sizes
  std::vector<std::vector<int64_t>> integers;  ///< values of the inputs after the first
};
/// Every operator with sizes among its inputs, alone, below an element-wise operator, below a reduction that takes the
/// size away again, and below a product.
std::vector<SizedModel> sized_models();

}  // namespace relaxc::onnx_tests
