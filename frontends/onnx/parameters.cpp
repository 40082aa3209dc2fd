// parameters.cpp: see parameters.h.
#include "frontends/onnx/parameters.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/support/suggest.h"
#include "frontends/onnx/composite.h"
#include "frontends/onnx/load.h"

namespace relaxc::frontend {

using relax::Info;

Expr Parameters::symbol(const std::string& name) {
  auto [place, fresh] = symbols_.try_emplace(name);
  if (!fresh) return place->second;
  for (const DimOverride& over : options_.dims) {
    if (over.name != name) continue;
    if (over.lower == over.upper) return place->second = context_.index(over.lower);
    arith::Var var = context_.var(name);
    function_.facts.bound(var, {over.lower, over.upper});
    if (over.multiple_of > 1) function_.facts.multiple(var, over.multiple_of);
    function_.symbols.push_back(var);
    return place->second = var;
  }
  arith::Var var = context_.var(name);
  function_.facts.bound(var, arith::Range::at_least(0));
  function_.symbols.push_back(var);
  return place->second = var;
}

Result<Expr> Parameters::dim(const onnx::TensorShapeProto::Dimension& dim, const std::string& name, int axis) {
  if (dim.has_dim_value() && dim.dim_value() >= 0) return context_.index(dim.dim_value());
  // A negative dim other than -1 is an error; some exporters write -1 for an open dim.
  if (dim.has_dim_value() && dim.dim_value() != -1)
    return diag.error(file_, Kind::invalid_value, "dim {} of '{}' is negative: {}", axis, name, dim.dim_value());
  if (dim.has_dim_param() && !dim.dim_param().empty()) {
    const std::string& text = dim.dim_param();
    bool number = std::all_of(text.begin(), text.end(), [](char c) { return c == '-' || (c >= '0' && c <= '9'); });
    if (!number && text != "?") return symbol(text);
  }
  return symbol(name + "_d" + std::to_string(axis));
}

Result<std::vector<Expr>> Parameters::declared_dims(const onnx::TypeProto::Tensor& type, const std::string& name) {
  if (!type.has_shape())
    return diag.error(file_, Kind::rank_mismatch, "input '{}' has no rank; export the model with a shape for it", name);
  std::vector<Expr> dims;
  int64_t elements = 1;
  for (const auto& declared : type.shape().dim()) {
    RELAXC_TRY(Expr extent, dim(declared, name, static_cast<int>(dims.size())));
    if (extent.constant() != nullptr && __builtin_mul_overflow(elements, *extent.constant(), &elements))
      return diag.error(file_, Kind::overflow, "the size of input '{}' overflows", name);
    dims.push_back(extent);
  }
  if (elements > INT64_MAX / 16) return diag.error(file_, Kind::overflow, "the size of input '{}' overflows", name);
  return dims;
}

Result<Info> Parameters::declared(const onnx::TypeProto::Tensor& type, const std::string& name) {
  RELAXC_TRY(DType dtype, dtype_of(type.elem_type(), file_, diag));
  RELAXC_TRY(std::vector<Expr> dims, declared_dims(type, name));
  return relax::tensor_info(context_, std::move(dims), dtype);
}

Value* Parameters::argument(const std::string& name, Info info) {
  return function_.make_argument(&function_.body(), name, info);
}

/// Adds parameters for spans and bytes. The caller provides the spans, so they are checked before anything uses them.
Result<NamedValue> Parameters::strings(const onnx::TypeProto& type, const std::string& name) {
  RELAXC_TRY(std::vector<Expr> dims, declared_dims(type.tensor_type(), name));
  dims.push_back(context_.index(2));
  Strings strings;
  strings.spans = argument(name + ".spans", relax::tensor_info(context_, std::move(dims), DType::i(64)));
  strings.bytes = argument(name + ".bytes", relax::tensor_info(context_, {symbol(name + "_bytes")}, DType::u(8)));
  RELAXC_TRY(strings.spans, builder_.call("strings.checked", {strings.spans, strings.bytes}));
  return strings_slot(strings);
}

/// Adds parameters for a map from integers or strings to numbers.
Result<NamedValue> Parameters::map(const onnx::TypeProto::Map& type, const std::string& name) {
  if (!type.value_type().has_tensor_type() || type.value_type().tensor_type().elem_type() == onnx::TensorProto::STRING)
    return diag.error(file_, Kind::unsupported, "the values of map '{}' must be numbers", name);
  RELAXC_TRY(DType dtype, dtype_of(type.value_type().tensor_type().elem_type(), file_, diag));
  onnx::TypeProto keys;
  keys.mutable_tensor_type()->set_elem_type(type.key_type());
  keys.mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_param(name + "_length");
  Maps maps;
  RELAXC_TRY(maps.keys, add(keys, name + ".keys"));
  maps.values = argument(name + ".values", relax::tensor_info(context_, {symbol(name + "_length")}, dtype));
  return maps_slot(std::move(maps));
}

/// Adds parameters for a sequence of tensors of type `element`.
Result<NamedValue> Parameters::sequence(const onnx::TypeProto& element, const std::string& name) {
  bool strings = element.tensor_type().elem_type() == onnx::TensorProto::STRING;
  RELAXC_TRY(
      DType dtype,
      dtype_of(strings ? static_cast<int>(onnx::TensorProto::INT64) : element.tensor_type().elem_type(), file_, diag));
  Expr rank = element.tensor_type().has_shape()
                  ? context_.index(element.tensor_type().shape().dim_size() + (strings ? 1 : 0))
                  : symbol(name + "_rank");
  Sequence sequence{dtype, false, {}, nullptr, nullptr};
  sequence.elements = argument(name + ".elements", relax::tensor_info(context_, {symbol(name + "_total")}, dtype));
  sequence.shapes =
      argument(name + ".shapes", relax::tensor_info(context_, {symbol(name + "_length"), rank}, DType::i(64)));
  if (strings)
    sequence.bytes = argument(name + ".bytes", relax::tensor_info(context_, {symbol(name + "_size")}, DType::u(8)));
  return sequence_slot(std::move(sequence));
}

/// Adds the parameters of one input: one for a tensor; composite.h says which ones a composite has.
Result<NamedValue> Parameters::add(const onnx::TypeProto& type, const std::string& name) {
  NamedValue slot;
  switch (type.value_case()) {
    case onnx::TypeProto::kTensorType: {
      if (type.tensor_type().elem_type() == onnx::TensorProto::STRING) return strings(type, name);
      RELAXC_TRY(Info info, declared(type.tensor_type(), name));
      slot.value = argument(name, info);
      return slot;
    }
    case onnx::TypeProto::kOptionalType: {
      Value* present = argument(name + ".present", relax::tensor_info(context_, std::vector<Expr>{}, DType::boolean()));
      RELAXC_TRY(NamedValue content, add(type.optional_type().elem_type(), name));
      return optional_slot(std::move(content), std::nullopt, present);
    }
    case onnx::TypeProto::kSequenceType:
      if (!type.sequence_type().elem_type().has_tensor_type()) break;
      return sequence(type.sequence_type().elem_type(), name);
    case onnx::TypeProto::kMapType:
      return map(type.map_type(), name);
    case onnx::TypeProto::VALUE_NOT_SET:
      return diag.error(file_, Kind::malformed_model, "input '{}' has no type", name);
    default:
      break;
  }
  return diag.error(file_, Kind::unsupported,
                    "input '{}' is a sparse tensor or a sequence of anything but tensors; tensors, sequences of "
                    "tensors, maps and optionals are supported",
                    name);
}

Status Parameters::unused_overrides() {
  bool ok = true;
  for (const DimOverride& over : options_.dims) {
    if (symbols_.count(over.name) != 0) continue;
    std::vector<std::string> names;
    for (const auto& [name, value] : symbols_) names.push_back(name);
    diag.error(file_, Kind::usage, "no dim is called '{}'; open dims are: {}", over.name,
               names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
    if (auto near = nearest_name(over.name, names)) diag.note(nullptr, "did you mean '{}'?", *near);
    ok = false;
  }
  if (!ok) return diag.failed();
  return Done{};
}

}  // namespace relaxc::frontend
