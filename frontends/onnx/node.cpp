// node.cpp: inputs, attributes and emission for converters.
#include "frontends/onnx/node.h"

#include <algorithm>
#include <cmath>

#include "frontends/onnx/importer.h"

namespace relaxc::frontend {

using onnx::AttributeProto;

Node::Node(GraphImporter& importer, const onnx::NodeProto& proto, int64_t opset, Location location)
    : proto(proto), opset(opset), location(location), diag(importer.diagnostics()), importer_(importer) {}

bool Node::has(size_t index) const {
  if (index >= inputs() || proto.input(static_cast<int>(index)).empty()) return false;
  NamedValue* slot = importer_.find(proto.input(static_cast<int>(index)));
  return slot == nullptr || !slot->absent;
}

Result<Value*> Node::input(size_t index) {
  if (!has(index)) return error(Kind::wrong_arity, "input {} is missing", index);
  return importer_.materialize(proto.input(static_cast<int>(index)));
}

Result<Value*> Node::optional_input(size_t index) {
  if (!has(index)) return static_cast<Value*>(nullptr);
  return input(index);
}

Result<std::vector<Value*>> Node::all_inputs() {
  std::vector<Value*> values;
  for (size_t i = 0; i < inputs(); ++i) {
    RELAXC_TRY(Value * value, input(i));
    values.push_back(value);
  }
  return values;
}

Result<const TensorInfo*> Node::info(size_t index) {
  if (!has(index)) return error(Kind::wrong_arity, "input {} is missing", index);
  NamedValue* slot = importer_.find(proto.input(static_cast<int>(index)));
  relax::Info info = nullptr;
  if (slot != nullptr && slot->value != nullptr) {
    info = slot->value->info;
  } else if (slot != nullptr && slot->known) {
    std::vector<Expr> dims;
    for (int64_t dim : slot->known->shape) dims.push_back(this->index(dim));
    info = relax::tensor_info(context(), std::move(dims), slot->known->dtype);
  }
  const auto* tensor = info == nullptr ? nullptr : info->as<TensorInfo>();
  if (tensor == nullptr || !tensor->shape || !tensor->dtype)
    return error(Kind::unsupported, "input '{}' must be a tensor of known rank and type",
                 proto.input(static_cast<int>(index)));
  return tensor;
}

const Known* Node::known(size_t index) {
  if (!has(index)) return nullptr;
  NamedValue* slot = importer_.find(proto.input(static_cast<int>(index)));
  if (slot == nullptr) return nullptr;
  if (!slot->known && slot->value != nullptr && slot->value->op != nullptr &&
      slot->value->op->kind == relax::OpKind::kConstant)
    slot->known = known_constant(context(), *slot->value->op->constant);
  return slot->known ? &*slot->known : nullptr;
}

Result<std::vector<int64_t>> Node::constant_ints(size_t index, std::string_view what) {
  if (!has(index)) return error(Kind::wrong_arity, "input {} ({}) is missing", index, what);
  if (const Known* contents = known(index))
    if (std::optional<std::vector<int64_t>> values = contents->constants()) return *values;
  return error(Kind::unsupported, "{} ('{}') must be a constant", what, proto.input(static_cast<int>(index)));
}

namespace {

/// The op in the region where `value` was made that holds `block` within; null if the block is of that region itself.
relax::Op* holder(const Value* value, const relax::Block* block) {
  const relax::Region* home = value->op != nullptr ? value->op->block->parent : value->region;
  relax::Op* found = nullptr;
  for (const relax::Region* region = block->parent; region != home; region = found->block->parent) {
    if (region->parent_op == nullptr) return nullptr;
    found = region->parent_op;
  }
  return found;
}

}  // namespace

Result<std::vector<Expr>> Node::ints(size_t index, std::optional<int64_t> count) {
  if (!has(index)) return error(Kind::wrong_arity, "input {} is missing", index);
  const std::string& name = proto.input(static_cast<int>(index));
  if (const Known* contents = known(index)) {
    if (count && contents->elements.size() != static_cast<size_t>(*count))
      return error(Kind::shape_mismatch, "input '{}' must have {} numbers, found {}", name, *count,
                   contents->elements.size());
    return contents->elements;
  }
  RELAXC_TRY(const TensorInfo* type, info(index));
  if (type->shape->size() > 1 || !(type->dtype == DType::i(64) || type->dtype == DType::i(32)))
    return error(Kind::dtype_mismatch, "input '{}' must be a list of int64, found {}", name, relax::to_string(type));
  DType dtype = *type->dtype;
  RELAXC_TRY(Value * value, input(index));
  if (value->shape().size() == 1 && count) {
    RELAXC_TRY(value, with_shape(*this, value, {this->index(*count)}, fmt::format("input '{}'", name)));
  }
  std::vector<int64_t> shape;
  for (Expr extent : value->shape()) {
    if (extent.constant() == nullptr || *extent.constant() > kMostKnown)
      return error(Kind::unbounded, "input '{}' must be a list of at most {} numbers, found {}", name, kMostKnown,
                   relax::to_string(value->info));
    shape.push_back(*extent.constant());
  }
  if (shape.empty() && count.value_or(1) != 1)
    return error(Kind::shape_mismatch, "input '{}' must have {} numbers, found 1", name, *count);
  // What is outside of a loop is read there, so that sizes which depend on it are one for all iterations.
  Value* read = nullptr;
  if (relax::Op* outer = holder(value, builder().block())) {
    relax::GraphBuilder before(importer_.module(), importer_.ops(), outer, diag);
    before.location = location;
    RELAXC_TRY(read, before.call("tensor_to_shape", {value}));
  } else {
    RELAXC_TRY(read, call("tensor_to_shape", {value}));
  }
  const auto* dims = read->info->as<relax::ShapeInfo>();
  RELAXC_CHECK(dims != nullptr && dims->dims, "tensor_to_shape without dims");
  importer_.local(name).known = Known{dtype, std::move(shape), *dims->dims};
  return *dims->dims;
}

relax::ConstantRef Node::constant(size_t index) {
  if (!has(index)) return nullptr;
  NamedValue* slot = importer_.find(proto.input(static_cast<int>(index)));
  if (slot == nullptr) return nullptr;
  if (slot->value != nullptr && slot->value->op != nullptr && slot->value->op->kind == relax::OpKind::kConstant)
    return slot->value->op->constant;
  return slot->known && slot->known->constants() ? constant_of(*slot->known) : nullptr;
}

std::optional<double> Node::constant_scalar(size_t index) {
  relax::ConstantRef data = constant(index);
  if (data == nullptr || data->elements() != 1) return std::nullopt;
  double value = 0;
  data->with_bytes(
      [&](std::span<const std::byte> bytes) { value = relax::decode_scalar(data->dtype(), bytes.data()); });
  return value;
}

const AttributeProto* Node::attribute(std::string_view name) const {
  for (const AttributeProto& attribute : proto.attribute()) {
    if (attribute.name() != name) continue;
    if (attribute.ref_attr_name().empty()) return &attribute;
    auto outer = importer_.scope().attributes.find(attribute.ref_attr_name());
    return outer == importer_.scope().attributes.end() ? nullptr : outer->second;
  }
  return nullptr;
}

int64_t Node::int_attr(std::string_view name, int64_t fallback) const {
  const AttributeProto* found = attribute(name);
  return found == nullptr ? fallback : found->i();
}
double Node::float_attr(std::string_view name, double fallback) const {
  const AttributeProto* found = attribute(name);
  return found == nullptr ? fallback : static_cast<double>(found->f());
}
std::string Node::string_attr(std::string_view name, std::string_view fallback) const {
  const AttributeProto* found = attribute(name);
  return found == nullptr ? std::string(fallback) : found->s();
}
std::vector<int64_t> Node::ints_attr(std::string_view name, std::vector<int64_t> fallback) const {
  const AttributeProto* found = attribute(name);
  return found == nullptr ? fallback : std::vector<int64_t>(found->ints().begin(), found->ints().end());
}
std::vector<double> Node::floats_attr(std::string_view name) const {
  const AttributeProto* found = attribute(name);
  return found == nullptr ? std::vector<double>{} : std::vector<double>(found->floats().begin(), found->floats().end());
}
std::vector<std::string> Node::strings_attr(std::string_view name) const {
  const AttributeProto* found = attribute(name);
  if (found == nullptr) return {};
  return {found->strings().begin(), found->strings().end()};
}

Result<relax::ConstantRef> Node::tensor_attr(const onnx::TensorProto& tensor) {
  return tensor_constant(tensor, importer_.files(), location, diag);
}

relax::GraphBuilder& Node::builder() {
  return importer_.builder();
}
arith::Context& Node::context() {
  return importer_.module().context();
}
const arith::Facts& Node::facts() {
  return importer_.function().facts;
}

Result<std::vector<Value*>> Node::call_many(OpName op, std::vector<Value*> operands, Attrs attrs) {
  RELAXC_TRY(std::vector<Value*> values, builder().call_many(op, std::move(operands), std::move(attrs)));
  for (Value* value : values) importer_.sizes().add_facts(value->info);
  return importer_.small_constants().evaluated(builder(), std::move(values));
}

Result<Value*> Node::call(OpName op, std::vector<Value*> operands, Attrs attrs) {
  RELAXC_TRY(std::vector<Value*> values, call_many(op, std::move(operands), std::move(attrs)));
  RELAXC_CHECK(values.size() == 1, std::string(op.text()) + " has several results");
  return values[0];
}

Status Node::set(size_t index, Value* value) {
  if (!wants(index)) return Done{};
  const std::string& name = proto.output(static_cast<int>(index));
  if (value->name.empty()) value->name = name;
  importer_.scope().slots[name] = NamedValue{value, std::nullopt, false};
  return Done{};
}

Status Node::set(size_t index, Result<Value*> value) {
  RELAXC_TRY(Value * made, std::move(value));
  return set(index, made);
}

Expr Node::simplify(Expr e) {
  return importer_.sizes().simplify(e);
}

arith::Truth Node::decide(Expr condition) {
  return importer_.sizes().prover().decide(condition);
}

arith::Range Node::bounds(Expr e) {
  return importer_.sizes().prover().bounds(e);
}

bool Node::set_known(size_t index, Known known) {
  if (known.size() > kMostKnown) return false;
  for (Expr& element : known.elements) element = simplify(element);
  if (wants(index))
    importer_.scope().slots[proto.output(static_cast<int>(index))] = NamedValue{nullptr, std::move(known), false};
  return true;
}

Status Node::forward(size_t index, size_t from) {
  if (!has(from)) return error(Kind::wrong_arity, "input {} is missing", from);
  if (!wants(index)) return Done{};
  NamedValue slot = *importer_.find(proto.input(static_cast<int>(from)));
  importer_.scope().slots[proto.output(static_cast<int>(index))] = std::move(slot);
  return Done{};
}

Result<int64_t> normal_axis(Node& node, int64_t axis, int64_t rank) {
  if (rank == 0) return node.error(Kind::invalid_attribute, "axis {} is an axis of a scalar, which has none", axis);
  if (axis < -rank || axis >= rank)
    return node.error(Kind::invalid_attribute, "axis {} is outside {}..{}", axis, -rank, rank - 1);
  return axis < 0 ? axis + rank : axis;
}

Result<std::vector<int64_t>> normal_axes(Node& node, std::vector<int64_t> axes, int64_t rank) {
  for (int64_t& axis : axes) {
    RELAXC_TRY(axis, normal_axis(node, axis, rank));
  }
  std::vector<int64_t> sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  if (auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
    return node.error(Kind::invalid_attribute, "axis {} is named twice", *twice);
  return axes;
}

Result<Value*> reshape(Node& node, Value* value, std::vector<Expr> dims) {
  return node.call("reshape", {value, node.shape(std::move(dims))});
}

Result<std::vector<Expr>> values_of(Node& node, Value* value) {
  RELAXC_TRY(value, astype(node, value, DType::i(64)));
  RELAXC_TRY(Value * read, node.call("tensor_to_shape", {value}));
  return *read->info->as<relax::ShapeInfo>()->dims;
}

Result<Value*> with_shape(Node& node, Value* value, std::vector<Expr> dims, std::string_view what,
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

Result<Value*> astype(Node& node, Value* value, DType dtype) {
  if (value->dtype() == dtype) return value;
  return node.call("astype", {value}, {{"dtype", dtype}});
}

std::vector<Expr> Node::indices(const std::vector<int64_t>& values) {
  std::vector<Expr> out;
  for (int64_t value : values) out.push_back(index(value));
  return out;
}

}  // namespace relaxc::frontend
