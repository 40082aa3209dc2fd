// pack.cpp: see pack.h.
#include "compiler/schedule/primitives/pack.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "compiler/schedule/primitives/conditions.h"
#include "compiler/schedule/tree/edit.h"

namespace relaxc::schedule {

using tir::Indices;

Legal<Pack::Facts> Pack::legal(const Tree& tree) const {
  RELAXC_STEP(const size_t place, own_operand(tree, buffer));
  const Operand& operand = tree.operands()[place];
  Packing packing = operand.made;
  std::vector<int64_t> all = order;
  all.push_back(axis);
  std::sort(all.begin(), all.end());
  bool fits = panel > 0 && panel <= 4096 && all.size() == buffer->shape.size();
  for (size_t i = 0; i < all.size(); ++i) fits &= all[i] == static_cast<int64_t>(i);
  RELAXC_REQUIRE(fits, fmt::format("panels of {} along axis {}, order [{}] do not fit a tensor of {} axes", panel, axis,
                                   fmt::join(order, ", "), buffer->shape.size()));
  for (Expr dim : buffer->shape) {
    RELAXC_REQUIRE(dim.constant() != nullptr, buffer->name + " has a dim that is not known");
    packing.shape.push_back(*dim.constant());
  }
  packing.axis = static_cast<size_t>(axis), packing.panel = panel;
  packing.order.assign(order.begin(), order.end());
  return Facts{operand.param, operand.buffer, packing};
}

Pack::Made Pack::apply(Tree& tree, const Facts& facts) const {
  tir::Builder build(tree.context());
  const Packing& packing = facts.packing;
  std::vector<Expr> dims;
  for (int64_t dim : packing.packed_shape()) dims.push_back(tree.context().index(dim));
  BufferRef packed = build.buffer(buffer->name + "_packed", buffer->dtype, std::move(dims), buffer->scope);
  tree.set_root(redirect(tree.context(), tree.root(), buffer, packed, [&](const Indices& from) {
    Expr along = from[packing.axis];
    Indices to{arith::floordiv(along, packing.panel)};
    for (size_t i : packing.order) to.push_back(from[i]);
    to.push_back(arith::floormod(along, packing.panel));
    return std::optional(to);
  }));
  tree.packed().push_back({facts.param, packed, packing});
  std::erase_if(tree.operands(), [&](const Operand& one) { return one.buffer == facts.operand; });
  return packed;
}

}  // namespace relaxc::schedule
