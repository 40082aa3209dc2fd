// model_interface.cpp: makes parameters and results.
//
// The declarations of results and inner values are compared with what was deduced.
#include "frontends/onnx/model_interface.h"

#include "frontends/onnx/composite.h"
#include "frontends/onnx/parameters.h"

namespace relaxc::frontend {

using onnx::GraphProto;
using onnx::ValueInfoProto;
using relax::Info;

Status ModelInterface::define_parameters(const GraphProto& graph, Parameters& parameters) {
  std::set<std::string> initialized;
  for (const auto& tensor : graph.initializer()) initialized.insert(tensor.name());
  bool ok = true;
  std::vector<std::string> fixed;
  for (const ValueInfoProto& input : graph.input()) {
    if (initialized.count(input.name()) != 0 && !options_.keep_initializers_as_inputs) {
      fixed.push_back(input.name());
      continue;
    }
    Result<NamedValue> slot = parameters.add(input.type(), input.name());
    ok = ok && bool(slot);
    importer_.define(input.name(), slot ? *std::move(slot) : NamedValue{nullptr, std::nullopt, true}, file_);
  }
  // Before IR version 4 every initializer had to be an input.
  if (!fixed.empty() && model_.ir_version() >= 4 && options_.findings != nullptr)
    options_.findings->remarks.push_back(fmt::format(
        "inputs that have a default become constants: '{}'{}; --keep-initializers-as-inputs keeps them inputs",
        fixed[0], fixed.size() > 1 ? fmt::format(" and {} more", fixed.size() - 1) : ""));
  if (!ok) return diag.failed();
  return Done{};
}

/// Compares a value with its declared type. Exporters leave stale shapes behind so often that only a wrong element type
/// of an output is an error; everything else is a warning.
void ModelInterface::check_declared(const ValueInfoProto& declared, bool output) {
  NamedValue* slot = importer_.find(declared.name());
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
  wrong_ranks_ += wrong ? 1 : 0;
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

/// Returns the suffix of each tensor's name if an output consists of several; one empty suffix for a plain tensor.
std::vector<std::string> suffixes_of(const NamedValue& slot) {
  return slot.composite == nullptr ? std::vector<std::string>{""} : flattened_suffixes(slot);
}

}  // namespace

/// Returns the tensors that one output consists of.
Result<std::vector<Value*>> ModelInterface::result(const std::string& name) {
  const NamedValue slot = *importer_.find(name);
  if (slot.composite == nullptr) {
    RELAXC_TRY(Value * value, importer_.materialize(name));
    return std::vector<Value*>{value};
  }
  RELAXC_TRY(std::vector<Value*> values, Composites(importer_).flatten(slot));
  std::vector<std::string> suffixes = suffixes_of(slot);
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i]->name.empty()) values[i]->name = name + suffixes[i];
  return values;
}

/// Adds the graph's outputs as results. A value that passed through an Identity keeps its first name, so the names that
/// the model declares are stored in the function's `output_names`.
Status ModelInterface::add_results(const GraphProto& graph) {
  std::vector<Value*> values;
  std::vector<std::string> names;
  bool ok = graph.output_size() > 0;
  if (!ok) diag.error(file_, Kind::malformed_model, "the graph has no outputs");
  for (const ValueInfoProto& output : graph.output()) {
    NamedValue* slot = importer_.find(output.name());
    if (slot == nullptr) {
      diag.error(file_, Kind::unbound_name, "output '{}' of the graph is not made by any node", output.name());
      ok = false;
    } else if (slot->failed) {
      ok = false;
    } else {
      Result<std::vector<Value*>> tensors = result(output.name());
      ok = ok && bool(tensors);
      if (tensors) values.insert(values.end(), tensors->begin(), tensors->end());
      for (const std::string& suffix : suffixes_of(*importer_.find(output.name())))
        names.push_back(output.name() + suffix);
      check_declared(output, true);
    }
  }
  if (!ok) return diag.failed();
  Value* result = values.size() == 1 ? values[0] : importer_.builder().tuple(values);
  importer_.function().body().yield->add_operand(result);
  importer_.function().output_names = std::move(names);
  return Done{};
}

}  // namespace relaxc::frontend
