// gradient_builder.cpp: see gradient_builder.h.
#include "compiler/ops/common/gradient_builder.h"

namespace relaxc::ops {

Value* GradientBuilder::sum_to(Value* g, const Dims& shape) {
  if (failed()) return nullptr;
  const Dims from = g->shape();
  const size_t added = from.size() - shape.size();
  std::vector<int64_t> axes;
  bool open = false;
  for (size_t k = 0; k < from.size(); ++k) {
    if (k >= added && arith::prove_equal(from[k], shape[k - added])) continue;
    if (k < added || shape[k - added].is_constant(1))
      axes.push_back(static_cast<int64_t>(k));
    else
      open = true;
  }
  if (open) return call("sum_to", {g, builder().shape(shape)});
  if (axes.empty()) return g;
  g = call("sum", {g}, {{"axis", axes}, {"keepdims", true}});
  return added == 0 ? g : reshape(g, shape);
}

Value* GradientBuilder::zeros(const Dims& shape, DType dtype) {
  return failed() ? nullptr : call("zeros", {builder().shape(shape)}, {{"dtype", dtype}});
}

Value* GradientBuilder::broadcast(Value* x, const Dims& shape) {
  return failed() ? nullptr : call("broadcast_to", {x, builder().shape(shape)});
}

Value* GradientBuilder::with_axes(Value* y, const Dims& full, const std::vector<int64_t>& axes) {
  if (failed() || y->shape().size() == full.size()) return y;
  Dims shape = full;
  for (int64_t axis : axes) shape[static_cast<size_t>(axis)] = builder().context().index(1);
  return reshape(y, std::move(shape));
}

relaxc::Failure refuse_gradient(relax::GraphBuilder& b, const Op& op, const std::string& what) {
  return b.diag().error(op.location, Kind::unsupported, "there is no gradient of '{}' {}", op.def->name, what);
}

Values no_gradient(relax::GraphBuilder&, const Op& op, ByResults) {
  return std::vector<Value*>(op.operands().size());
}

Values reshape_gradient(relax::GraphBuilder& b, const Op& op, ByResults by_results) {
  GradientSite site(b, op, by_results);
  return site.done({site.build.reshape(site.g.value, site.shape(0))});
}

}  // namespace relaxc::ops
