// signature.cpp: buffers for the leaves of parameters and results.
#include "compiler/transform/lower/host/signature.h"

#include <algorithm>

namespace relaxc::lower {

using namespace relax;

void Signature::add_parameters(const Function& function, Values& values) {
  for (Value* argument : function.body().arguments) {
    size_t first = inputs_.size();
    values.slot(*argument) = add_parameter(argument->name, argument->info);
    if (argument->info->as<TupleInfo>() == nullptr) inputs_[first].value = argument;
  }
}

ValueStorage Signature::add_parameter(const std::string& name, Info info) {
  ValueStorage made;
  if (const auto* tuple = info->as<TupleInfo>()) {
    for (size_t i = 0; i < tuple->fields.size(); ++i)
      made.fields.push_back(add_parameter(name + "_" + std::to_string(i), tuple->fields[i]));
    return made;
  }
  if (const auto* tensor = info->as<TensorInfo>()) {
    made.buffer = build_.buffer(name, *tensor->dtype, *tensor->shape);
  } else if (const auto* prim = info->as<PrimInfo>()) {
    made.buffer = build_.buffer(name, stored_dtype(prim->dtype), {});
  } else {
    Expr count = build_.index(static_cast<int64_t>(relax_dims(info).size()));
    made.buffer = build_.buffer(name, DType::i(64), {count});
  }
  inputs_.push_back({.name = name, .info = info, .buffer = made.buffer});
  return made;
}

void Signature::flatten_result(Value& value, Info info, std::vector<size_t> path, const std::string& name) {
  if (const auto* tuple = info->as<TupleInfo>()) {
    for (size_t i = 0; i < tuple->fields.size(); ++i) {
      bool made_here = path.empty() && value.op != nullptr && value.op->kind == OpKind::kTuple;
      std::string field = name + "_" + std::to_string(i);
      if (made_here) {
        Value& inner = *value.op->operand(i);
        flatten_result(inner, inner.info, {}, inner.name.empty() ? field : inner.name);
        continue;
      }
      std::vector<size_t> deeper = path;
      deeper.push_back(i);
      flatten_result(value, tuple->fields[i], deeper, field);
    }
    return;
  }
  outputs_.push_back({.name = name, .value = &value, .path = std::move(path), .info = info});
}

void Signature::list_outputs(const Function& function) {
  const std::vector<std::string>& names = function.output_names;
  const std::vector<Value*>& results = function.body().results();
  for (size_t i = 0; i < results.size(); ++i) {
    std::string fallback = results.size() == 1 ? "output" : "output_" + std::to_string(i);
    flatten_result(*results[i], results[i]->info, {}, results[i]->name.empty() ? fallback : results[i]->name);
  }
  for (size_t i = 0; i < outputs_.size() && i < names.size(); ++i) outputs_[i].name = names[i];
}

std::vector<Expr> Signature::output_dims(const Output& output) const {
  if (output.info->as<PrimInfo>() != nullptr) return {};
  std::vector<Expr> shape = shapes_.dims(output.info);
  if (output.info->as<ShapeInfo>() != nullptr) return {build_.index(static_cast<int64_t>(shape.size()))};
  return shape;
}

void Signature::make_outputs() {
  size_t num_dims = 0;
  for (Output& output : outputs_) {
    const auto* tensor = output.info->as<TensorInfo>();
    const auto* prim = output.info->as<PrimInfo>();
    DType dtype = tensor != nullptr ? *tensor->dtype : prim != nullptr ? stored_dtype(prim->dtype) : DType::i(64);
    output.buffer = build_.buffer(output.name, dtype, output_dims(output));
    output.first_dim = num_dims;
    num_dims += output.buffer->shape.size();
  }
  arena_ = build_.buffer("arena", DType::u(8), {build_.index(0)}, tir::Scope::kGlobal, WeightLayout::kAlignment);
  out_dims_ = build_.buffer("out_dims", DType::i(64), {build_.index(static_cast<int64_t>(num_dims))});
}

int32_t Signature::input_of(BufferRef buffer) const {
  auto input = std::find_if(inputs_.begin(), inputs_.end(), [&](const Input& i) { return i.buffer == buffer; });
  return input == inputs_.end() ? -1 : static_cast<int32_t>(input - inputs_.begin());
}

}  // namespace relaxc::lower
