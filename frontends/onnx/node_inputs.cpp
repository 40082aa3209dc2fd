// node_inputs.cpp: see node_inputs.h.
#include "frontends/onnx/node_inputs.h"

#include "frontends/onnx/importer.h"

namespace relaxc::frontend {

bool NodeInputs::has(size_t index) const {
  if (index >= inputs() || name(index).empty()) return false;
  NamedValue* found = slot(index);
  return found == nullptr || !found->absent;
}

NamedValue* NodeInputs::slot(size_t index) const {
  return emission_.importer().find(name(index));
}

Result<Value*> NodeInputs::input(size_t index) {
  if (!has(index)) return emission_.error(Kind::wrong_arity, "input {} is missing", index);
  return emission_.importer().materialize(name(index));
}

Result<Value*> NodeInputs::optional_input(size_t index) {
  if (!has(index)) return static_cast<Value*>(nullptr);
  return input(index);
}

Result<std::vector<Value*>> NodeInputs::all_inputs() {
  std::vector<Value*> values;
  for (size_t i = 0; i < inputs(); ++i) {
    RELAXC_TRY(Value * value, input(i));
    values.push_back(value);
  }
  return values;
}

Result<const TensorInfo*> NodeInputs::info(size_t index) {
  if (!has(index)) return emission_.error(Kind::wrong_arity, "input {} is missing", index);
  NamedValue* found = slot(index);
  relax::Info info = nullptr;
  if (found != nullptr && found->value != nullptr) {
    info = found->value->info;
  } else if (found != nullptr && found->known) {
    std::vector<Expr> dims;
    for (int64_t dim : found->known->shape) dims.push_back(emission_.index(dim));
    info = relax::tensor_info(emission_.context(), std::move(dims), found->known->dtype);
  }
  const auto* tensor = info == nullptr ? nullptr : info->as<TensorInfo>();
  if (tensor == nullptr || !tensor->shape || !tensor->dtype)
    return emission_.error(Kind::unsupported, "input '{}' must be a tensor of known rank and type", name(index));
  return tensor;
}

const Known* NodeInputs::known(size_t index) {
  if (!has(index)) return nullptr;
  NamedValue* found = slot(index);
  if (found == nullptr) return nullptr;
  if (!found->known && found->value != nullptr && found->value->op != nullptr &&
      found->value->op->kind == relax::OpKind::kConstant)
    found->known = known_constant(emission_.context(), *found->value->op->constant);
  return found->known ? &*found->known : nullptr;
}

Result<std::vector<int64_t>> NodeInputs::constant_ints(size_t index, std::string_view what) {
  if (!has(index)) return emission_.error(Kind::wrong_arity, "input {} ({}) is missing", index, what);
  if (const Known* contents = known(index))
    if (std::optional<std::vector<int64_t>> values = contents->constants()) return *values;
  return emission_.error(Kind::unsupported, "{} ('{}') must be a constant", what, name(index));
}

namespace {

/// Returns the op around `block` that is in the region which defines `value`; null if `block` is in that region itself.
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

Result<std::vector<Expr>> NodeInputs::ints(size_t index, std::optional<int64_t> count) {
  if (!has(index)) return emission_.error(Kind::wrong_arity, "input {} is missing", index);
  const std::string& name = this->name(index);
  if (const Known* contents = known(index)) {
    if (count && contents->elements.size() != static_cast<size_t>(*count))
      return emission_.error(Kind::shape_mismatch, "input '{}' must have {} numbers, found {}", name, *count,
                             contents->elements.size());
    return contents->elements;
  }
  RELAXC_TRY(const TensorInfo* type, info(index));
  if (type->shape->size() > 1 || !(type->dtype == DType::i(64) || type->dtype == DType::i(32)))
    return emission_.error(Kind::dtype_mismatch, "input '{}' must be a list of int64, found {}", name,
                           relax::to_string(type));
  DType dtype = *type->dtype;
  RELAXC_TRY(Value * value, input(index));
  std::vector<int64_t> shape;
  RELAXC_TRY(Value * read, this->read(value, name, count, shape));
  const auto* dims = read->info->as<relax::ShapeInfo>();
  RELAXC_CHECK(dims != nullptr && dims->dims, "tensor_to_shape without dims");
  emission_.importer().local(name).known = Known{dtype, std::move(shape), *dims->dims};
  return *dims->dims;
}

/// Reads the integers in `value` as a shape when the program runs; `shape` receives the extents of `value`.
Result<Value*> NodeInputs::read(Value* value, const std::string& name, std::optional<int64_t> count,
                                std::vector<int64_t>& shape) {
  if (value->shape().size() == 1 && count) {
    RELAXC_TRY(value, with_shape(emission_, value, {emission_.index(*count)}, fmt::format("input '{}'", name)));
  }
  for (Expr extent : value->shape()) {
    if (extent.constant() == nullptr || *extent.constant() > kMostKnown)
      return emission_.error(Kind::unbounded, "input '{}' must be a list of at most {} numbers, found {}", name,
                             kMostKnown, relax::to_string(value->info));
    shape.push_back(*extent.constant());
  }
  if (shape.empty() && count.value_or(1) != 1)
    return emission_.error(Kind::shape_mismatch, "input '{}' must have {} numbers, found 1", name, *count);
  // A value from outside a loop is read outside, so that sizes that depend on it are the same in all iterations.
  relax::Op* outer = holder(value, emission_.builder().block());
  if (outer == nullptr) return emission_.call("tensor_to_shape", {value});
  GraphImporter& importer = emission_.importer();
  relax::GraphBuilder before(importer.module(), importer.ops(), outer, emission_.diag);
  before.location = emission_.location;
  return before.call("tensor_to_shape", {value});
}

relax::ConstantRef NodeInputs::constant(size_t index) {
  if (!has(index)) return nullptr;
  NamedValue* found = slot(index);
  if (found == nullptr) return nullptr;
  if (found->value != nullptr && found->value->op != nullptr && found->value->op->kind == relax::OpKind::kConstant)
    return found->value->op->constant;
  return found->known && found->known->constants() ? constant_of(*found->known) : nullptr;
}

std::optional<double> NodeInputs::constant_scalar(size_t index) {
  relax::ConstantRef data = constant(index);
  if (data == nullptr || data->elements() != 1) return std::nullopt;
  double value = 0;
  data->with_bytes(
      [&](std::span<const std::byte> bytes) { value = relax::decode_scalar(data->dtype(), bytes.data()); });
  return value;
}

}  // namespace relaxc::frontend
