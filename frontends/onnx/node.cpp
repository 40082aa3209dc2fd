// node.cpp: sets the outputs of a node, and reads the number in an input.
#include "frontends/onnx/node.h"

#include <cmath>

#include "frontends/onnx/importer.h"

namespace relaxc::frontend {

Status Node::set(size_t index, Value* value) {
  if (!wants(index)) return Done{};
  const std::string& name = proto.output(static_cast<int>(index));
  if (value->name.empty()) value->name = name;
  importer().scope().slots[name] = NamedValue{value, std::nullopt, false};
  return Done{};
}

Status Node::set(size_t index, Result<Value*> value) {
  RELAXC_TRY(Value * made, std::move(value));
  return set(index, made);
}

bool Node::set_known(size_t index, Known known) {
  if (known.size() > kMostKnown) return false;
  for (Expr& element : known.elements) element = simplify(element);
  if (wants(index))
    importer().scope().slots[proto.output(static_cast<int>(index))] = NamedValue{nullptr, std::move(known), false};
  return true;
}

Status Node::forward(size_t index, size_t from) {
  if (!has(from)) return error(Kind::wrong_arity, "input {} is missing", from);
  if (!wants(index)) return Done{};
  NamedValue slot = *importer().find(proto.input(static_cast<int>(from)));
  importer().scope().slots[proto.output(static_cast<int>(index))] = std::move(slot);
  return Done{};
}

Result<Expr> number_in(Node& node, size_t input) {
  RELAXC_TRY(const TensorInfo* type, node.info(input));
  std::vector<Expr> list;
  if (type->dtype == DType::i(64) || type->dtype == DType::i(32)) {
    RELAXC_TRY(list, node.ints(input, 1));
  } else if (std::optional<double> number = node.constant_scalar(input); number && std::abs(*number) < 1e15) {
    return node.index(static_cast<int64_t>(*number));
  } else {
    RELAXC_TRY(Value * value, node.input(input));
    RELAXC_TRY(value, reshape(node, value, {}));
    RELAXC_TRY(list, values_of(node, value));
  }
  return list.at(0);
}

}  // namespace relaxc::frontend
