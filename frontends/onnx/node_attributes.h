// node_attributes.h: the attributes of one node, with ONNX's defaults.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/relax/constant.h"
#include "frontends/onnx/emission.h"
#include "frontends/onnx/onnx.pb.h"

namespace relaxc::frontend {

class NodeAttributes {
 public:
  NodeAttributes(const NodeSite& site, const onnx::NodeProto& proto) : site_(site), proto_(proto) {}

  /// Returns null if neither the node nor, if it refers to it, the call of its function has the attribute. Checking the
  /// node has reported attributes of a wrong type.
  const onnx::AttributeProto* attribute(std::string_view name) const;
  bool has_attr(std::string_view name) const { return attribute(name) != nullptr; }
  int64_t int_attr(std::string_view name, int64_t fallback) const;
  double float_attr(std::string_view name, double fallback) const;
  std::string string_attr(std::string_view name, std::string_view fallback) const;
  std::vector<int64_t> ints_attr(std::string_view name, std::vector<int64_t> fallback = {}) const;
  std::vector<double> floats_attr(std::string_view name) const;
  std::vector<std::string> strings_attr(std::string_view name) const;
  Result<relax::ConstantRef> tensor_attr(const onnx::TensorProto& tensor);

 private:
  const NodeSite& site_;
  const onnx::NodeProto& proto_;
};

}  // namespace relaxc::frontend
