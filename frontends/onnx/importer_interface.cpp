// importer_interface.cpp: what goes into a model and comes out of it: parameters, initializers, results.
//
// Dims that the model leaves open become symbols, one for each name, unless the command line says what they are. What
// a model declares of results and inner values is compared with what was deduced.
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/support/suggest.h"
#include "frontends/onnx/composite.h"
#include "frontends/onnx/importer.h"

namespace relaxc::frontend {

using onnx::GraphProto;
using onnx::ValueInfoProto;
using relax::Info;

Expr GraphImporter::symbol(const std::string& name) {
  auto [place, fresh] = symbols_.try_emplace(name);
  if (!fresh) return place->second;
  for (const DimOverride& over : options_.dims) {
    if (over.name != name) continue;
    if (over.lower == over.upper) return place->second = module_.context().index(over.lower);
    arith::Var var = module_.context().var(name);
    function_->facts.bound(var, {over.lower, over.upper});
    if (over.multiple_of > 1) function_->facts.multiple(var, over.multiple_of);
    function_->symbols.push_back(var);
    return place->second = var;
  }
  arith::Var var = module_.context().var(name);
  function_->facts.bound(var, arith::Range::at_least(0));
  function_->symbols.push_back(var);
  return place->second = var;
}

Result<Expr> GraphImporter::dim(const onnx::TensorShapeProto::Dimension& dim, const std::string& name, int axis) {
  if (dim.has_dim_value() && dim.dim_value() >= 0) return module_.context().index(dim.dim_value());
  // -1 is what exporters write that know no other word for "open".
  if (dim.has_dim_value() && dim.dim_value() != -1)
    return diag.error(file_, Kind::invalid_value, "dim {} of '{}' is negative: {}", axis, name, dim.dim_value());
  if (dim.has_dim_param() && !dim.dim_param().empty()) {
    const std::string& text = dim.dim_param();
    bool number = std::all_of(text.begin(), text.end(), [](char c) { return c == '-' || (c >= '0' && c <= '9'); });
    if (!number && text != "?") return symbol(text);
  }
  return symbol(name + "_d" + std::to_string(axis));
}

Result<std::vector<Expr>> GraphImporter::declared_dims(const onnx::TypeProto::Tensor& type, const std::string& name) {
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

Result<Info> GraphImporter::declared(const onnx::TypeProto::Tensor& type, const std::string& name) {
  RELAXC_TRY(DType dtype, dtype_of(type.elem_type(), file_, diag));
  RELAXC_TRY(std::vector<Expr> dims, declared_dims(type, name));
  return relax::tensor_info(module_.context(), std::move(dims), dtype);
}

Value* GraphImporter::argument(const std::string& name, Info info) {
  return function_->make_argument(&function_->body(), name, info);
}

/// Spans that come from outside are checked before anything reads by them.
Result<Slot> GraphImporter::strings_parameter(const onnx::TypeProto& type, const std::string& name) {
  RELAXC_TRY(std::vector<Expr> dims, declared_dims(type.tensor_type(), name));
  dims.push_back(module_.context().index(2));
  Strings strings;
  strings.spans = argument(name + ".spans", relax::tensor_info(module_.context(), std::move(dims), DType::i(64)));
  strings.bytes =
      argument(name + ".bytes", relax::tensor_info(module_.context(), {symbol(name + "_bytes")}, DType::u(8)));
  RELAXC_TRY(strings.spans, builder_->call("strings.checked", {strings.spans, strings.bytes}));
  return strings_slot(strings);
}

/// A map from integers or strings to numbers.
Result<Slot> GraphImporter::map_parameter(const onnx::TypeProto::Map& type, const std::string& name) {
  if (!type.value_type().has_tensor_type() || type.value_type().tensor_type().elem_type() == onnx::TensorProto::STRING)
    return diag.error(file_, Kind::unsupported, "the values of map '{}' must be numbers", name);
  RELAXC_TRY(DType dtype, dtype_of(type.value_type().tensor_type().elem_type(), file_, diag));
  onnx::TypeProto keys;
  keys.mutable_tensor_type()->set_elem_type(type.key_type());
  keys.mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_param(name + "_length");
  Maps maps;
  RELAXC_TRY(maps.keys, parameter(keys, name + ".keys"));
  maps.values = argument(name + ".values", relax::tensor_info(module_.context(), {symbol(name + "_length")}, dtype));
  return maps_slot(std::move(maps));
}

/// A sequence of tensors such as `element`.
Result<Slot> GraphImporter::sequence_parameter(const onnx::TypeProto& element, const std::string& name) {
  arith::Context& context = module_.context();
  bool strings = element.tensor_type().elem_type() == onnx::TensorProto::STRING;
  RELAXC_TRY(
      DType dtype,
      dtype_of(strings ? static_cast<int>(onnx::TensorProto::INT64) : element.tensor_type().elem_type(), file_, diag));
  Expr rank = element.tensor_type().has_shape()
                  ? context.index(element.tensor_type().shape().dim_size() + (strings ? 1 : 0))
                  : symbol(name + "_rank");
  Sequence sequence{dtype, false, {}, nullptr, nullptr};
  sequence.elements = argument(name + ".elements", relax::tensor_info(context, {symbol(name + "_total")}, dtype));
  sequence.shapes =
      argument(name + ".shapes", relax::tensor_info(context, {symbol(name + "_length"), rank}, DType::i(64)));
  if (strings)
    sequence.bytes = argument(name + ".bytes", relax::tensor_info(context, {symbol(name + "_size")}, DType::u(8)));
  return sequence_slot(std::move(sequence));
}

/// The tensors that a caller passes for one input: see composite.h for what is none.
Result<Slot> GraphImporter::parameter(const onnx::TypeProto& type, const std::string& name) {
  Slot slot;
  arith::Context& context = module_.context();
  switch (type.value_case()) {
    case onnx::TypeProto::kTensorType: {
      if (type.tensor_type().elem_type() == onnx::TensorProto::STRING) return strings_parameter(type, name);
      RELAXC_TRY(Info info, declared(type.tensor_type(), name));
      slot.value = argument(name, info);
      return slot;
    }
    case onnx::TypeProto::kOptionalType: {
      Value* present = argument(name + ".present", relax::tensor_info(context, std::vector<Expr>{}, DType::boolean()));
      RELAXC_TRY(Slot content, parameter(type.optional_type().elem_type(), name));
      return optional_slot(std::move(content), std::nullopt, present);
    }
    case onnx::TypeProto::kSequenceType:
      if (!type.sequence_type().elem_type().has_tensor_type()) break;
      return sequence_parameter(type.sequence_type().elem_type(), name);
    case onnx::TypeProto::kMapType:
      return map_parameter(type.map_type(), name);
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

Status GraphImporter::parameters(const GraphProto& graph) {
  std::set<std::string> initialized;
  for (const auto& tensor : graph.initializer()) initialized.insert(tensor.name());
  bool ok = true;
  std::vector<std::string> fixed;
  for (const ValueInfoProto& input : graph.input()) {
    if (initialized.count(input.name()) != 0 && !options_.keep_initializers_as_inputs) {
      fixed.push_back(input.name());
      continue;
    }
    Result<Slot> slot = parameter(input.type(), input.name());
    ok = ok && bool(slot);
    define(input.name(), slot ? *std::move(slot) : Slot{nullptr, std::nullopt, true}, file_);
  }
  // Before IR version 4 every initializer had to be an input.
  if (!fixed.empty() && model_.proto->ir_version() >= 4 && options_.findings != nullptr)
    options_.findings->remarks.push_back(fmt::format(
        "inputs that have a default become constants: '{}'{}; --keep-initializers-as-inputs keeps them inputs",
        fixed[0], fixed.size() > 1 ? fmt::format(" and {} more", fixed.size() - 1) : ""));
  if (!ok) return diag.failed();
  return Done{};
}

Status GraphImporter::unused_overrides() {
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

void GraphImporter::initializers(const GraphProto& graph) {
  bool open = scope_->parent == nullptr && options_.keep_initializers_as_inputs;
  for (const onnx::TensorProto& tensor : graph.initializer()) {
    if (open && scope_->slots.count(tensor.name()) != 0) continue;  // its input is a parameter
    if (tensor.data_type() == onnx::TensorProto::STRING) {
      std::optional<Slot> strings = tensor_strings(*builder_, tensor);
      if (!strings)
        diag.error(file_, Kind::malformed_model, "'{}' has not as many strings as its shape", tensor.name());
      define(tensor.name(), strings ? *std::move(strings) : Slot{nullptr, std::nullopt, true}, file_);
      continue;
    }
    Result<relax::ConstantRef> data = tensor_constant(tensor, files(), file_, diag);
    Slot slot;
    slot.failed = !data;
    if (data) slot.value = builder_->constant(*std::move(data), tensor.name());
    define(tensor.name(), std::move(slot), file_);
  }
  for (const onnx::SparseTensorProto& sparse : graph.sparse_initializer()) {
    diag.error(file_, Kind::unsupported, "sparse initializer '{}' is not supported; store it densely",
               sparse.values().name());
    define(sparse.values().name(), Slot{nullptr, std::nullopt, true}, file_);
  }
}

void GraphImporter::add_size_facts(Info info) {
  const auto* tensor = info->as<TensorInfo>();
  if (tensor == nullptr || !tensor->shape) return;
  for (Expr extent : *tensor->shape)
    if (const auto* var = extent.as<arith::VarNode>())
      function_->facts.bound(arith::Var(var), arith::Range::at_least(0));
}

/// What the model says of a value against what was deduced. Exporters leave stale shapes behind often enough that only
/// a wrong element type of an output is an error.
void GraphImporter::check_declared(const ValueInfoProto& declared, bool output) {
  Slot* slot = find(declared.name());
  if (slot == nullptr || slot->failed || slot->value == nullptr || !declared.type().has_tensor_type()) return;
  const auto* tensor = slot->value->info->as<TensorInfo>();
  if (tensor == nullptr || !tensor->shape || !tensor->dtype) return;
  const auto& type = declared.type().tensor_type();
  const char* kind = output ? "output" : "value";
  if (type.elem_type() != 0) {
    Result<DType> dtype = dtype_of(type.elem_type(), file_, diag);
    if (dtype && *dtype != *tensor->dtype) {
      if (output)
        diag.error(file_, Kind::dtype_mismatch, "output '{}' is declared as {}, but the nodes give {}", declared.name(),
                   data_type_name(type.elem_type()), to_string(*tensor->dtype));
      else
        diag.warning(file_, Kind::dtype_mismatch, "value '{}' is declared as {}, but the nodes give {}",
                     declared.name(), data_type_name(type.elem_type()), to_string(*tensor->dtype));
    }
  }
  if (!type.has_shape()) return;
  bool wrong = static_cast<size_t>(type.shape().dim_size()) != tensor->shape->size();
  wrong_ranks += wrong ? 1 : 0;
  for (int i = 0; !wrong && i < type.shape().dim_size(); ++i) {
    const int64_t* extent = (*tensor->shape)[static_cast<size_t>(i)].constant();
    const auto& said = type.shape().dim(i);
    wrong = said.has_dim_value() && said.dim_value() >= 0 && extent != nullptr && *extent != said.dim_value();
  }
  if (wrong)
    diag.warning(file_, Kind::shape_mismatch, "the declared shape of {} '{}' is wrong, the nodes give {}", kind,
                 declared.name(), relax::to_string(tensor));
}

namespace {

/// What is put behind the name of an output for each of the tensors that it consists of.
std::vector<std::string> suffixes_of(const Slot& slot) {
  return slot.composite == nullptr ? std::vector<std::string>{""} : flattened_suffixes(slot);
}

}  // namespace

/// The tensors that one output consists of.
Result<std::vector<Value*>> GraphImporter::result(const std::string& name) {
  const Slot slot = *find(name);
  if (slot.composite == nullptr) {
    RELAXC_TRY(Value * value, materialize(name));
    return std::vector<Value*>{value};
  }
  RELAXC_TRY(std::vector<Value*> values, Composites(*this).flatten(slot));
  std::vector<std::string> suffixes = suffixes_of(slot);
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i]->name.empty()) values[i]->name = name + suffixes[i];
  return values;
}

/// Values and their names; a value that passes through an Identity has the name that it was made under, so the names
/// that the model declares are an attribute of the function.
Status GraphImporter::results(const GraphProto& graph) {
  std::vector<Value*> values;
  std::vector<std::string> names;
  bool ok = graph.output_size() > 0;
  if (!ok) diag.error(file_, Kind::malformed_model, "the graph has no outputs");
  for (const ValueInfoProto& output : graph.output()) {
    Slot* slot = find(output.name());
    if (slot == nullptr) {
      diag.error(file_, Kind::unbound_name, "output '{}' of the graph is made by no node", output.name());
      ok = false;
    } else if (slot->failed) {
      ok = false;
    } else {
      Result<std::vector<Value*>> tensors = result(output.name());
      ok = ok && bool(tensors);
      if (tensors) values.insert(values.end(), tensors->begin(), tensors->end());
      for (const std::string& suffix : suffixes_of(*find(output.name()))) names.push_back(output.name() + suffix);
      check_declared(output, true);
    }
  }
  if (!ok) return diag.failed();
  Value* result = values.size() == 1 ? values[0] : builder_->tuple(values);
  function_->body().yield->add_operand(result);
  function_->output_names = std::move(names);
  return Done{};
}

}  // namespace relaxc::frontend
