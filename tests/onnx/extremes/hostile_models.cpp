// hostile_models.cpp: casts in front of inputs, and chains of operators.
#include "tests/onnx/extremes/hostile_models.h"

#include <fstream>
#include <set>

#include "tests/onnx/models.h"

namespace relaxc::onnx_tests {
namespace {

using onnx::TensorProto;

constexpr int64_t kFewElements = 64;

bool read(const std::string& path, onnx::ModelProto& proto) {
  std::ifstream in(path, std::ios::binary);
  return proto.ParseFromIstream(&in);
}

/// Whether the input is a tensor of few integers.
bool is_small(const onnx::ValueInfoProto& input) {
  const auto& type = input.type().tensor_type();
  bool integer = type.elem_type() == TensorProto::INT64 || type.elem_type() == TensorProto::INT32;
  if (!integer || !type.has_shape()) return false;
  int64_t elements = 1;
  for (const auto& dim : type.shape().dim()) elements *= dim.has_dim_value() ? dim.dim_value() : kFewElements + 1;
  return elements <= kFewElements;
}

/// One operator of the generator: its integer inputs (shapes and true values), for data of [2, 3].
struct Sized {
  const char* op;
  std::vector<std::string> operands;  ///< "x": the data, "": none, anything else is an integer input
  std::vector<std::vector<int64_t>> shapes, values;
};

const std::vector<Sized>& sized_operators() {
  static const std::vector<Sized> table = {
      {"Reshape", {"x", "s"}, {{3}}, {{1, 3, 2}}},
      {"Expand", {"x", "s"}, {{3}}, {{2, 2, 3}}},
      {"ConstantOfShape", {"s"}, {{2}}, {{2, 3}}},
      {"Tile", {"x", "s"}, {{2}}, {{2, 2}}},
      {"Resize", {"x", "", "", "s"}, {{2}}, {{3, 4}}},
      {"Pad", {"x", "s"}, {{4}}, {{1, 0, 1, 2}}},
      {"Slice", {"x", "a", "b", "c", "d"}, {{2}, {2}, {2}, {2}}, {{0, 0}, {2, 3}, {0, 1}, {1, 1}}},
      {"Range", {"a", "b", "c"}, {{}, {}, {}}, {{0}, {6}, {2}}},
      {"OneHot", {"k", "d", "v"}, {{2}, {}, {2}}, {{0, 1}, {3}, {0, 1}}},
      {"TopK", {"x", "k"}, {{1}}, {{2}}},
      {"CenterCropPad", {"x", "s"}, {{2}}, {{3, 2}}},
      {"Gather", {"x", "i"}, {{2}}, {{0, 1}}},
      {"Unsqueeze", {"x", "a"}, {{1}}, {{0}}},
      {"Trilu", {"x", "k"}, {{}}, {{1}}},
      {"CumSum", {"x", "k"}, {{}}, {{1}}},
      {"ReduceSum", {"x", "a"}, {{1}}, {{1}}},
      {"Compress", {"x", "i"}, {{2}}, {{1, 1}}},
  };
  return table;
}

SizedModel make(const Sized& row, const std::string& tail) {
  ModelWriter model(18);
  model.graph().set_name("g");
  SizedModel made;
  made.name = std::string(row.op) + (tail.empty() ? "" : "_") + tail;
  model.input("x", {2, 3});
  made.shapes.push_back({2, 3});
  size_t next = 0;
  for (const std::string& name : row.operands) {
    if (name == "x" || name.empty()) continue;
    std::vector<Dim> dims(row.shapes[next].begin(), row.shapes[next].end());
    model.input(name, dims, TensorProto::INT64);
    made.shapes.push_back(row.shapes[next]), made.integers.push_back(row.values[next]);
    ++next;
  }
  std::vector<std::string> operands = row.operands;
  if (made.name.rfind("Compress", 0) == 0) {
    model.node("Cast", {"i"}, {"b"}).add_attribute()->CopyFrom([] {
      onnx::AttributeProto to;
      to.set_name("to"), to.set_type(onnx::AttributeProto::INT), to.set_i(TensorProto::BOOL);
      return to;
    }());
    operands = {"x", "b"};
  }
  bool pair = made.name.rfind("TopK", 0) == 0;
  model.node(row.op, operands, pair ? std::vector<std::string>{"t", "places"} : std::vector<std::string>{"t"});
  onnx::NodeProto& as_float = model.node("Cast", {"t"}, {"u"});
  onnx::AttributeProto& to = *as_float.add_attribute();
  to.set_name("to"), to.set_type(onnx::AttributeProto::INT), to.set_i(TensorProto::FLOAT);
  if (tail.empty()) {
    model.node("Identity", {"u"}, {"y"});
  } else if (tail == "Exp") {
    model.node("Exp", {"u"}, {"y"});
  } else if (tail == "ReduceSum") {
    model.node("ReduceSum", {"u"}, {"y"});
  } else {  // all pairs of elements
    model.tensor("one", {1}, TensorProto::INT64).add_int64_data(1);
    model.tensor("flat", {1}, TensorProto::INT64).add_int64_data(-1);
    model.node("Reshape", {"u", "flat"}, {"row"});
    model.node("Unsqueeze", {"row", "one"}, {"column"});
    model.node("Mul", {"row", "column"}, {"y"});
  }
  onnx::ValueInfoProto& output = *model.graph().add_output();
  output.set_name("y");
  output.mutable_type()->mutable_tensor_type()->set_elem_type(TensorProto::FLOAT);
  made.bytes = model.proto.SerializeAsString();
  return made;
}

}  // namespace

std::string write_computed(const std::string& model, const std::string& copy, bool& changed) {
  onnx::ModelProto proto;
  if (!read(model, proto)) return "cannot parse " + model;
  onnx::GraphProto& graph = *proto.mutable_graph();
  onnx::GraphProto casts;
  std::set<std::string> constants;
  for (const onnx::TensorProto& tensor : graph.initializer()) constants.insert(tensor.name());
  changed = false;
  for (onnx::ValueInfoProto& input : *graph.mutable_input()) {
    if (!is_small(input) || constants.count(input.name()) != 0) continue;
    changed = true;
    auto& type = *input.mutable_type()->mutable_tensor_type();
    onnx::NodeProto& cast = *casts.add_node();
    cast.set_op_type("Cast");
    onnx::AttributeProto& to = *cast.add_attribute();
    to.set_name("to"), to.set_type(onnx::AttributeProto::INT), to.set_i(type.elem_type());
    cast.add_output(input.name());
    input.set_name(input.name() + "_real");
    cast.add_input(input.name());
    type.set_elem_type(TensorProto::DOUBLE);
  }
  casts.mutable_node()->MergeFrom(graph.node());
  graph.mutable_node()->Swap(casts.mutable_node());
  graph.clear_value_info();
  for (onnx::ValueInfoProto& output : *graph.mutable_output())
    if (output.type().has_tensor_type()) output.mutable_type()->mutable_tensor_type()->clear_shape();
  std::ofstream out(copy, std::ios::binary);
  return proto.SerializeToOstream(&out) && out.flush() ? "" : "cannot write " + copy;
}

std::vector<bool> size_inputs(const std::string& model) {
  onnx::ModelProto proto;
  if (!read(model, proto)) return {};
  std::set<std::string> sizes;
  for (const onnx::NodeProto& node : proto.graph().node()) {
    const std::string& op = node.op_type();
    bool cast = op == "Cast" && node.input_size() == 1 && node.input(0).ends_with("_real");
    bool scaled = op == "Resize" || op == "Upsample" || op == "Range";
    for (int i = 0; i < node.input_size(); ++i)
      if (cast || (scaled && (i > 0 || op == "Range"))) sizes.insert(node.input(i));
  }
  std::vector<bool> found;
  for (const onnx::ValueInfoProto& input : proto.graph().input()) found.push_back(sizes.count(input.name()) != 0);
  return found;
}

std::vector<SizedModel> sized_models() {
  std::vector<SizedModel> models;
  for (const Sized& row : sized_operators())
    for (const char* tail : {"", "Exp", "ReduceSum", "outer"}) models.push_back(make(row, tail));
  return models;
}

}  // namespace relaxc::onnx_tests
