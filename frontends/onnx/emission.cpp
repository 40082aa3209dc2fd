// emission.cpp: see emission.h.
#include "frontends/onnx/emission.h"

#include <algorithm>

#include "frontends/onnx/importer.h"

namespace relaxc::frontend {

NodeSite::NodeSite(GraphImporter& importer, Location location)
    : location(location), diag(importer.diagnostics()), importer_(importer) {}

relax::GraphBuilder& Emission::builder() {
  return importer().builder();
}

arith::Context& Emission::context() {
  return importer().module().context();
}

const arith::Facts& Emission::facts() {
  return importer().function().facts;
}

Result<std::vector<Value*>> Emission::call_many(OpName op, std::vector<Value*> operands, Attrs attrs) {
  RELAXC_TRY(std::vector<Value*> values, builder().call_many(op, std::move(operands), std::move(attrs)));
  for (Value* value : values) importer().sizes().add_facts(value->info);
  return importer().small_constants().evaluated(builder(), std::move(values));
}

Result<Value*> Emission::call(OpName op, std::vector<Value*> operands, Attrs attrs) {
  RELAXC_TRY(std::vector<Value*> values, call_many(op, std::move(operands), std::move(attrs)));
  RELAXC_CHECK(values.size() == 1, std::string(op.text()) + " has several results");
  return values[0];
}

std::vector<Expr> Emission::indices(const std::vector<int64_t>& values) {
  std::vector<Expr> out;
  for (int64_t value : values) out.push_back(index(value));
  return out;
}

Expr Emission::simplify(Expr e) {
  return importer().sizes().simplify(e);
}

arith::Truth Emission::decide(Expr condition) {
  return importer().sizes().prover().decide(condition);
}

arith::Range Emission::bounds(Expr e) {
  return importer().sizes().prover().bounds(e);
}

Result<int64_t> normal_axis(NodeSite& node, int64_t axis, int64_t rank) {
  if (rank == 0) return node.error(Kind::invalid_attribute, "axis {} is an axis of a scalar, which has none", axis);
  if (axis < -rank || axis >= rank)
    return node.error(Kind::invalid_attribute, "axis {} is outside {}..{}", axis, -rank, rank - 1);
  return axis < 0 ? axis + rank : axis;
}

Result<std::vector<int64_t>> normal_axes(NodeSite& node, std::vector<int64_t> axes, int64_t rank) {
  for (int64_t& axis : axes) {
    RELAXC_TRY(axis, normal_axis(node, axis, rank));
  }
  std::vector<int64_t> sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  if (auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
    return node.error(Kind::invalid_attribute, "axis {} is named twice", *twice);
  return axes;
}

Result<Value*> reshape(Emission& node, Value* value, std::vector<Expr> dims) {
  return node.call("reshape", {value, node.shape(std::move(dims))});
}

Result<std::vector<Expr>> values_of(Emission& node, Value* value) {
  RELAXC_TRY(value, astype(node, value, DType::i(64)));
  RELAXC_TRY(Value * read, node.call("tensor_to_shape", {value}));
  return *read->info->as<relax::ShapeInfo>()->dims;
}

Result<Value*> with_shape(Emission& node, Value* value, std::vector<Expr> dims, std::string_view what,
                          relax::GraphBuilder* builder) {
  const std::vector<Expr>& found = value->shape();
  bool same = found.size() == dims.size(), possible = same;
  for (size_t i = 0; possible && i < dims.size(); ++i) {
    bool equal = arith::prove_equal(found[i], dims[i], node.facts());
    same = same && equal;
    possible = equal || arith::simplify(arith::eq(found[i], dims[i]), node.facts()).constant() == nullptr;
  }
  if (same) return value;
  relax::Info info = relax::tensor_info(node.context(), std::move(dims), value->dtype());
  if (!possible)
    return node.error(Kind::shape_mismatch, "{} promises {}, found {}", what, relax::to_string(info),
                      relax::to_string(value->info));
  return (builder != nullptr ? *builder : node.builder()).match_cast(value, info, {});
}

Result<Value*> astype(Emission& node, Value* value, DType dtype) {
  if (value->dtype() == dtype) return value;
  return node.call("astype", {value}, {{"dtype", dtype}});
}

}  // namespace relaxc::frontend
