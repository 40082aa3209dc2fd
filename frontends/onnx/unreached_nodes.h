// unreached_nodes.h: checks the nodes of a file that the import does not reach (unreached_nodes.cpp says why).
#pragma once

#include <set>

#include "frontends/onnx/importer.h"

namespace relaxc::frontend {

class UnreachedNodes {
 public:
  /// `visited`: the nodes that the import reached.
  UnreachedNodes(GraphImporter& importer, const NodeConversion& tables, const onnx::ModelProto& model,
                 const ImportOptions& options, const std::set<const onnx::NodeProto*>& visited)
      : importer_(importer), tables_(tables), model_(model), options_(options), visited_(visited) {}

  void check();

 private:
  struct Visible;
  void check_graph(const onnx::GraphProto& graph, const Visible* outer);
  void check_nodes(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes, Visible& visible);
  void check_node(const onnx::NodeProto& proto, int number, const Visible& visible);

  GraphImporter& importer_;
  const NodeConversion& tables_;
  const onnx::ModelProto& model_;
  const ImportOptions& options_;
  const std::set<const onnx::NodeProto*>& visited_;
};

}  // namespace relaxc::frontend
