// emission.h: a way to emit operators for one node of the graph, and to say what is wrong with it.
#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/relax/builder.h"

namespace relaxc::frontend {

using arith::Expr;
using relax::Attrs;
using relax::AttrValue;
using relax::OpName;
using relax::TensorInfo;
using relax::Value;

class GraphImporter;

/// Where the conversion of one node is.
class NodeSite {
 public:
  NodeSite(GraphImporter& importer, Location location);

  const Location location;
  Diagnostics& diag;

  GraphImporter& importer() const { return importer_; }

  template <typename... Args>
  Failure error(Kind kind, fmt::format_string<Args...> text, Args&&... args) {
    return diag.error(location, kind, text, std::forward<Args>(args)...);
  }

 private:
  GraphImporter& importer_;
};

class Emission : public NodeSite {
 public:
  using NodeSite::NodeSite;

  relax::GraphBuilder& builder();
  arith::Context& context();
  const arith::Facts& facts();
  /// An operator of ours; `unsupported` if this build has no such operator.
  Result<Value*> call(OpName op, std::vector<Value*> operands, Attrs attrs = {});
  Result<std::vector<Value*>> call_many(OpName op, std::vector<Value*> operands, Attrs attrs = {});
  Value* shape(std::vector<Expr> dims) { return builder().shape(std::move(dims)); }
  Value* scalar(DType dtype, double value) { return builder().scalar(dtype, value); }
  Expr index(int64_t value) { return context().index(value); }
  /// Each of them as an index expression.
  std::vector<Expr> indices(const std::vector<int64_t>& values);
  Expr simplify(Expr e);
  /// What the facts say of a condition on sizes, and of a size.
  arith::Truth decide(Expr condition);
  arith::Range bounds(Expr e);
};

/// `axis` in -rank..rank-1 as 0..rank-1, or an error at the node.
Result<int64_t> normal_axis(NodeSite& node, int64_t axis, int64_t rank);
/// The same for a list without duplicates.
Result<std::vector<int64_t>> normal_axes(NodeSite& node, std::vector<int64_t> axes, int64_t rank);
/// `value` seen under another shape of as many elements.
Result<Value*> reshape(Emission& node, Value* value, std::vector<Expr> dims);
/// The numbers in a small tensor of any dtype as symbols that are bound when the program runs; of floats the whole
/// part.
Result<std::vector<Expr>> values_of(Emission& node, Value* value);
/// `value` with the dims that `what` promises: an error if they differ, checked at run time where that is not known, by
/// an op that `builder` places (null: the node's own).
Result<Value*> with_shape(Emission& node, Value* value, std::vector<Expr> dims, std::string_view what,
                          relax::GraphBuilder* builder = nullptr);
/// `value` itself if it has the dtype.
Result<Value*> astype(Emission& node, Value* value, DType dtype);

}  // namespace relaxc::frontend
