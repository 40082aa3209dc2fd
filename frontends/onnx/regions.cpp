// regions.cpp: see regions.h.
#include "frontends/onnx/regions.h"

#include <algorithm>

namespace relaxc::frontend {

const onnx::GraphProto* subgraph(Node& node, std::string_view name) {
  const onnx::AttributeProto* found = node.attribute(name);
  return found == nullptr || !found->has_g() ? nullptr : &found->g();
}

void discard(Node& node, relax::Op* op) {
  relax::erase_ops(*node.builder().block()->parent, [op](relax::Op* other) { return other == op; });
}

Result<std::vector<NamedValue>> fill(Node& node, relax::Region* region, const onnx::GraphProto& graph,
                                     std::vector<NamedValue> arguments) {
  relax::Block* block = node.importer().function().make_block(region, true);
  return node.importer().inline_graph(graph, std::move(arguments), block);
}

Result<std::vector<Value*>> flattened(Node& node, relax::Region* region, const std::vector<NamedValue>& slots,
                                      const std::vector<NamedValue>& likes) {
  GraphImporter::Inside inside(node.importer(), region->blocks.back());
  Composites composites(node.importer());
  std::vector<Value*> values;
  for (size_t i = 0; i < slots.size(); ++i) {
    NamedValue slot = slots[i];
    if (i < likes.size()) {
      RELAXC_TRY(slot, composites.coerced(slot, likes[i]));
    }
    RELAXC_TRY(std::vector<Value*> parts, composites.flatten(slot));
    values.insert(values.end(), parts.begin(), parts.end());
  }
  return values;
}

Status expect_one_size(Node& node, const relax::Op* loop, const std::vector<Expr>& dims, size_t output) {
  std::vector<relax::Op*> inside = relax::ops_of(*loop->regions[0], true);
  inside.push_back(const_cast<relax::Op*>(loop));
  for (Expr extent : dims)
    for (arith::Var var : arith::free_vars(extent))
      for (const relax::Op* op : inside)
        if (std::find(op->binds.begin(), op->binds.end(), var) != op->binds.end())
          return node.error(Kind::unsupported, "the size of scan output {} changes between iterations", output);
  return Done{};
}

Status set_rebuilt(Node& node, size_t first, const std::vector<NamedValue>& likes, const std::vector<Value*>& values) {
  std::span<Value* const> rest(values);
  for (size_t i = 0; i < likes.size(); ++i) {
    NamedValue slot = Composites(node.importer()).rebuild(likes[i], rest);
    if (!node.wants(first + i)) continue;
    if (slot.composite == nullptr)
      RELAXC_DO(node.set(first + i, slot.value));
    else
      node.importer().scope().slots[node.proto.output(static_cast<int>(first + i))] = std::move(slot);
  }
  return Done{};
}

Result<Value*> condition_of(Node& node, size_t input) {
  RELAXC_TRY(Value * condition, node.input(input));
  if (condition->shape().empty()) return condition;
  return reshape(node, condition, {});  // older exporters give a condition of shape [1]
}

}  // namespace relaxc::frontend
