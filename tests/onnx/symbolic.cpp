// symbolic.cpp: dims become dim_params.
#include "tests/onnx/symbolic.h"

#include <fmt/format.h>

#include <fstream>
#include <map>
#include <set>
#include <vector>

#include "frontends/onnx/onnx.pb.h"

namespace relaxc::onnx_tests {
namespace {

/// Operands, by operator and place, with dims that decide what no program can leave open.
struct Fixed {
  std::string op;
  std::vector<int> operands;
  bool last_dim = false;  ///< only the last dim, instead of all
  bool lists = false;     ///< only operands of one dim
};

const std::vector<Fixed>& fixed_operands() {
  static const std::vector<Fixed> table = {
      // Lists as long as the rank of something: a shape, axes, pads.
      {"AffineGrid", {1}},
      {"Col2Im", {1, 2}},
      {"ConstantOfShape", {0}},
      {"Expand", {1}},
      {"Pad", {1, 3}},
      {"Reshape", {1}},
      {"Resize", {1, 2, 3}},
      {"Slice", {1}},
      {"Squeeze", {1}},
      {"Unsqueeze", {1}},
      {"Upsample", {1}},
      {"ReduceL1", {1}},
      {"ReduceL2", {1}},
      {"ReduceLogSum", {1}},
      {"ReduceLogSumExp", {1}},
      {"ReduceMax", {1}},
      {"ReduceMean", {1}},
      {"ReduceMin", {1}},
      {"ReduceProd", {1}},
      {"ReduceSum", {1}},
      {"ReduceSumSquare", {1}},
      // How many numbers a list has is asked of sizes alone, by the bodies of functions, to choose a branch for their
      // rank.
      {"Size", {0}, false, true},
      // How many axes an index names, which is missing from the result's rank.
      {"GatherND", {1}, true},
      {"ScatterND", {1}, true},
      // Whether the numbers are real or complex.
      {"DFT", {0}, true},
      {"STFT", {0}, true},
  };
  return table;
}

/// By name of a value: whether its last dim alone stays.
std::map<std::string, bool> fixed_values(const onnx::GraphProto& graph) {
  std::map<std::string, bool> fixed;
  std::set<std::string> lists;
  for (const onnx::ValueInfoProto& input : graph.input())
    if (input.type().tensor_type().shape().dim_size() == 1) lists.insert(input.name());
  for (const onnx::TensorProto& tensor : graph.initializer()) fixed[tensor.name()] = false;
  for (const onnx::NodeProto& node : graph.node())
    for (const Fixed& row : fixed_operands())
      if (row.op == node.op_type())
        for (int place : row.operands)
          if (place < node.input_size() && (!row.lists || lists.count(node.input(place)) != 0))
            fixed.emplace(node.input(place), row.last_dim);
  return fixed;
}

}  // namespace

std::string write_symbolic(const std::string& model, const std::string& copy) {
  onnx::ModelProto proto;
  std::ifstream in(model, std::ios::binary);
  if (!proto.ParseFromIstream(&in)) return "cannot parse " + model;
  onnx::GraphProto& graph = *proto.mutable_graph();
  const std::map<std::string, bool> fixed = fixed_values(graph);
  int count = 0;
  for (onnx::ValueInfoProto& input : *graph.mutable_input()) {
    auto found = fixed.find(input.name());
    if ((found != fixed.end() && !found->second) || !input.type().tensor_type().has_shape()) continue;
    auto& dims = *input.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim();
    int open = dims.size() - (found != fixed.end() ? 1 : 0);
    for (int i = 0; i < open; ++i) dims[i].set_dim_param(fmt::format("d{}", count++));
  }
  for (onnx::ValueInfoProto& output : *graph.mutable_output())
    if (output.type().has_tensor_type()) output.mutable_type()->mutable_tensor_type()->clear_shape();
  graph.clear_value_info();
  std::ofstream out(copy, std::ios::binary);
  return proto.SerializeToOstream(&out) && out.flush() ? "" : "cannot write " + copy;
}

}  // namespace relaxc::onnx_tests
