// emission.h: emits operators for one node of the graph, and reports its errors.
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

/// The location of a node's conversion.
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
  /// Adds an operator of relaxc; fails (unsupported) if this build has no such operator.
  Result<Value*> call(OpName op, std::vector<Value*> operands, Attrs attrs = {});
  Result<std::vector<Value*>> call_many(OpName op, std::vector<Value*> operands, Attrs attrs = {});
  Value* shape(std::vector<Expr> dims) { return builder().shape(std::move(dims)); }
  Value* scalar(DType dtype, double value) { return builder().scalar(dtype, value); }
  Expr index(int64_t value) { return context().index(value); }
  /// Returns each of them as an index expression.
  std::vector<Expr> indices(const std::vector<int64_t>& values);
  Expr simplify(Expr e);
  /// Return what the facts imply for a condition on sizes, and the range of a size.
  arith::Truth decide(Expr condition);
  arith::Range bounds(Expr e);
};

/// Returns `axis` in [-rank, rank) as an index in [0, rank); reports others at the node.
Result<int64_t> normal_axis(NodeSite& node, int64_t axis, int64_t rank);
/// The same for a list without duplicates.
Result<std::vector<int64_t>> normal_axes(NodeSite& node, std::vector<int64_t> axes, int64_t rank);
/// Returns `value` with another shape of as many elements.
Result<Value*> reshape(Emission& node, Value* value, std::vector<Expr> dims);
/// Returns the numbers in a small tensor of any dtype as symbols that are bound at run time; floats are
/// truncated.
Result<std::vector<Expr>> values_of(Emission& node, Value* value);
/// Returns `value` with the dims that `what` promises: fails if they differ, and checks at run time what is not known,
/// by an op that `builder` places (null: the node's own).
Result<Value*> with_shape(Emission& node, Value* value, std::vector<Expr> dims, std::string_view what,
                          relax::GraphBuilder* builder = nullptr);
/// Casts `value`; returns it as it is if it has the dtype.
Result<Value*> astype(Emission& node, Value* value, DType dtype);

}  // namespace relaxc::frontend
