// models.h: small models written in C++, for tests of what a file may hold. No model file is kept in the repository for
// these: what matters is one wrong byte or name each, which is plainer here.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "compiler/support/temporary_folder.h"
#include "frontends/onnx/onnx.pb.h"

namespace relaxc::onnx_tests {

/// A temporary folder that files are written to.
class ModelFolder : public TemporaryFolder {
 public:
  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path() / name, std::ios::binary) << bytes;
    return file(name);
  }
};

/// A dim of a declared shape: a number or a name.
struct Dim {
  Dim(int64_t value) : value(value) {}
  Dim(const char* name) : name(name) {}
  int64_t value = 0;
  std::string name;
};

class ModelWriter {
 public:
  explicit ModelWriter(int64_t opset = 17) {
    proto.set_ir_version(8);
    proto.add_opset_import()->set_version(opset);
    proto.mutable_graph()->set_name("g");
  }

  onnx::GraphProto& graph() { return *proto.mutable_graph(); }
  ModelWriter& input(const std::string& name, std::vector<Dim> dims, int32_t type = onnx::TensorProto::FLOAT) {
    declare(*graph().add_input(), name, dims, type);
    return *this;
  }
  ModelWriter& output(const std::string& name, std::vector<Dim> dims, int32_t type = onnx::TensorProto::FLOAT) {
    declare(*graph().add_output(), name, dims, type);
    return *this;
  }
  onnx::NodeProto& node(const std::string& op, std::vector<std::string> inputs, std::vector<std::string> outputs) {
    onnx::NodeProto& made = *graph().add_node();
    made.set_op_type(op);
    made.set_name(op + "_" + std::to_string(graph().node_size()));
    for (const std::string& name : inputs) made.add_input(name);
    for (const std::string& name : outputs) made.add_output(name);
    return made;
  }
  onnx::TensorProto& tensor(const std::string& name, std::vector<int64_t> dims,
                            int32_t type = onnx::TensorProto::FLOAT) {
    onnx::TensorProto& made = *graph().add_initializer();
    made.set_name(name);
    made.set_data_type(type);
    for (int64_t dim : dims) made.add_dims(dim);
    return made;
  }
  std::string bytes() const { return proto.SerializeAsString(); }

  onnx::ModelProto proto;

 private:
  static void declare(onnx::ValueInfoProto& value, const std::string& name, const std::vector<Dim>& dims,
                      int32_t type) {
    value.set_name(name);
    auto& tensor = *value.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(type);
    tensor.mutable_shape();
    for (const Dim& dim : dims) {
      auto& made = *tensor.mutable_shape()->add_dim();
      if (dim.name.empty())
        made.set_dim_value(dim.value);
      else
        made.set_dim_param(dim.name);
    }
  }
};

/// An attribute of a node.
inline onnx::AttributeProto& attribute(onnx::NodeProto& node, const std::string& name,
                                       onnx::AttributeProto::AttributeType type) {
  onnx::AttributeProto& made = *node.add_attribute();
  made.set_name(name);
  made.set_type(type);
  return made;
}
inline void integer(onnx::NodeProto& node, const std::string& name, int64_t value) {
  attribute(node, name, onnx::AttributeProto::INT).set_i(value);
}
inline void ints(onnx::NodeProto& node, const std::string& name, const std::vector<int64_t>& values) {
  auto& made = attribute(node, name, onnx::AttributeProto::INTS);
  for (int64_t value : values) made.add_ints(value);
}
inline void number(onnx::NodeProto& node, const std::string& name, float value) {
  attribute(node, name, onnx::AttributeProto::FLOAT).set_f(value);
}
inline void word(onnx::NodeProto& node, const std::string& name, const std::string& value) {
  attribute(node, name, onnx::AttributeProto::STRING).set_s(value);
}
inline void words(onnx::NodeProto& node, const std::string& name, const std::vector<std::string>& values) {
  auto& made = attribute(node, name, onnx::AttributeProto::STRINGS);
  for (const std::string& value : values) made.add_strings(value);
}
inline void subgraph(onnx::NodeProto& node, const std::string& name, const ModelWriter& body) {
  *attribute(node, name, onnx::AttributeProto::GRAPH).mutable_g() = body.proto.graph();
}

inline void set_external(onnx::TensorProto& tensor, const std::string& location, const std::string& offset = "",
                         const std::string& length = "") {
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  auto add = [&](const char* key, const std::string& value) {
    if (value.empty()) return;
    auto& entry = *tensor.add_external_data();
    entry.set_key(key);
    entry.set_value(value);
  };
  add("location", location);
  add("offset", offset);
  add("length", length);
}

}  // namespace relaxc::onnx_tests
