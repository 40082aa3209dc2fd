// importer.cpp: converts a graph: names, nodes in order, and the tensors of values whose contents are known.
//
// A node that cannot be converted marks its outputs as failed, and its users are skipped, so one import reports every
// error once. Values of known contents (known.h) get a tensor only when a converter needs one. importer_graphs.cpp has
// functions and subgraphs; the conversion of one node, the interface of the model, and the reasoning about sizes are
// classes of their own.
#include "frontends/onnx/importer.h"

#include "compiler/relax/name_dims.h"
#include "frontends/onnx/composite.h"
#include "frontends/onnx/model_interface.h"
#include "frontends/onnx/parameters.h"
#include "frontends/onnx/unreached_nodes.h"

#include <algorithm>
#include <utility>

namespace relaxc::frontend {

using google::protobuf::RepeatedPtrField;
using onnx::GraphProto;
using onnx::NodeProto;
using onnx::ValueInfoProto;

namespace {

constexpr int64_t kNewestOpset = 28, kNewestIr = 14;

}  // namespace

std::string qualified(const NodeProto& node) {
  std::string domain = domain_of(node.domain());
  return domain.empty() ? node.op_type() : domain + "." + node.op_type();
}

std::vector<std::string> names_of(const RepeatedPtrField<ValueInfoProto>& values) {
  std::vector<std::string> names;
  for (const ValueInfoProto& value : values) names.push_back(value.name());
  return names;
}

std::string domain_of(const std::string& domain) {
  return domain == "ai.onnx" ? "" : domain;
}

std::string label(const NodeProto& node, int number) {
  if (!node.name().empty()) return node.name();
  return "node " + std::to_string(number) + (node.output_size() > 0 ? " -> " + node.output(0) : "");
}

GraphImporter::GraphImporter(const LoadedModel& model, const ImportOptions& options, relax::Module& module,
                             const relax::OpTable& ops, Diagnostics& diag)
    : model_(model),
      options_(options),
      module_(module),
      ops_(ops),
      diag(diag),
      conversion_(*this, *model.proto, options, diag),
      budget_(*model.proto, options, diag) {}

Status GraphImporter::run() {
  const onnx::ModelProto& proto = *model_.proto;
  file_ = module_.sources().at(FileOrigin{model_.files->path()});
  Scope scope;
  RELAXC_DO(opsets(proto.opset_import(), scope));
  if (options_.findings != nullptr) {
    ModelVersions& versions = options_.findings->versions.emplace(ModelVersions{proto.ir_version(), {}});
    for (const auto& [domain, version] : scope.opsets) versions.opsets[domain.empty() ? "ai.onnx" : domain] = version;
  }
  if (proto.ir_version() > kNewestIr)
    diag.warning(file_, Kind::unsupported, "IR version {} is newer than {}, the newest that relaxc knows",
                 proto.ir_version(), kNewestIr);
  scope_ = &scope;
  function_ = module_.add_function(options_.function);
  sizes_ = std::make_unique<SizeReasoning>(*function_);
  function_->location = file_;
  relax::Block* block = function_->make_block(&function_->body(), true);
  relax::GraphBuilder builder(module_, ops_, block, diag);
  builder.location = file_;
  builder_ = &builder;
  size_t errors = diag.error_count();
  Parameters parameters(options_, *function_, builder, module_.context(), file_, diag);
  ModelInterface interface(*this, proto, options_, file_);
  bool typed = bool(interface.define_parameters(proto.graph(), parameters));
  initializers(proto.graph());
  if (typed) static_cast<void>(bool(parameters.unused_overrides()));
  nodes(proto.graph().node(), names_of(proto.graph().output()));
  for (const ValueInfoProto& value : proto.graph().value_info()) interface.check_declared(value, false);
  static_cast<void>(bool(interface.add_results(proto.graph())));
  wrong_ranks_ = interface.wrong_ranks();
  if (!budget_.is_exceeded()) UnreachedNodes(*this, conversion_, proto, options_, visited_).check();
  if (diag.error_count() > errors) return diag.failed();
  return Done{};
}

Status GraphImporter::opsets(const RepeatedPtrField<onnx::OperatorSetIdProto>& imports, Scope& scope) {
  for (const auto& import : imports) {
    std::string domain = domain_of(import.domain());
    int64_t& version = scope.opsets[domain];
    version = std::max(version, import.version());
    if (import.version() < 1 || (domain.empty() && import.version() > kNewestOpset))
      return diag.error(file_, Kind::unsupported, "opset {} of {} is not supported; 1 to {} are", import.version(),
                        domain.empty() ? "ai.onnx" : domain, kNewestOpset);
  }
  if (scope.opsets.empty() && model_.proto->ir_version() < 3) scope.opsets[""] = 1;
  return Done{};
}

void GraphImporter::define(const std::string& name, NamedValue slot, Location where) {
  if (name.empty()) {
    diag.error(where, Kind::malformed_model, "a value of the graph has no name");
    return;
  }
  auto [place, fresh] = scope_->slots.insert_or_assign(name, std::move(slot));
  static_cast<void>(place);
  if (!fresh) diag.error(where, Kind::redefinition, "the name '{}' is given to two values", name);
}

NamedValue* GraphImporter::find(const std::string& name) {
  for (Scope* scope = scope_; scope != nullptr; scope = scope->function ? nullptr : scope->parent)
    if (auto found = scope->slots.find(name); found != scope->slots.end()) return &found->second;
  return nullptr;
}

NamedValue& GraphImporter::local(const std::string& name) {
  NamedValue* outer = find(name);
  auto [place, fresh] = scope_->slots.try_emplace(name);
  if (fresh && outer != nullptr) place->second = *outer;
  return place->second;
}

Result<Value*> GraphImporter::materialize(const Known& known) {
  if (known.constants()) return builder_->constant(constant_of(known));
  if (ops_.find("shape_to_tensor") == nullptr)
    return diag.error(builder_->location, Kind::unsupported, "it needs operator 'shape_to_tensor'");
  RELAXC_TRY(Value * value, builder_->call("shape_to_tensor", {builder_->shape(known.elements)}));
  if (known.dtype != DType::i(64)) {
    RELAXC_TRY(value, builder_->call("astype", {value}, {{"dtype", known.dtype}}));
  }
  if (known.shape.size() != 1) {
    std::vector<Expr> dims;
    for (int64_t extent : known.shape) dims.push_back(module_.context().index(extent));
    RELAXC_TRY(value, builder_->call("reshape", {value, builder_->shape(std::move(dims))}));
  }
  return value;
}

Result<Value*> GraphImporter::materialize(const std::string& name) {
  NamedValue* slot = find(name);
  if (slot == nullptr) return diag.error(builder_->location, Kind::unbound_name, "'{}' is not made by any node", name);
  if (slot->failed) return diag.failed();
  if (slot->value != nullptr) return slot->value;
  if (slot->absent)
    return diag.error(builder_->location, Kind::wrong_arity,
                      "'{}' is needed, but the call of the function leaves it out", name);
  if (slot->composite != nullptr)
    return diag.error(builder_->location, Kind::dtype_mismatch, "'{}' is {}; a tensor of numbers is needed", name,
                      form_of(*slot));
  RELAXC_CHECK(slot->known.has_value(), "a value with neither tensor nor contents");
  RELAXC_TRY(Value * value, materialize(*slot->known));
  value->name = name;
  local(name).value = value;
  return value;
}

void GraphImporter::initializers(const GraphProto& graph) {
  bool open = scope_->parent == nullptr && options_.keep_initializers_as_inputs;
  for (const onnx::TensorProto& tensor : graph.initializer()) {
    if (open && scope_->slots.count(tensor.name()) != 0) continue;  // it is already a parameter
    if (tensor.data_type() == onnx::TensorProto::STRING) {
      std::optional<NamedValue> strings = tensor_strings(*builder_, tensor);
      if (!strings)
        diag.error(file_, Kind::malformed_model, "'{}' does not have as many strings as its shape needs",
                   tensor.name());
      define(tensor.name(), strings ? *std::move(strings) : NamedValue{nullptr, std::nullopt, true}, file_);
      continue;
    }
    Result<relax::ConstantRef> data = tensor_constant(tensor, files(), file_, diag);
    NamedValue slot;
    slot.failed = !data;
    if (data) slot.value = builder_->constant(*std::move(data), tensor.name());
    define(tensor.name(), std::move(slot), file_);
  }
  for (const onnx::SparseTensorProto& sparse : graph.sparse_initializer()) {
    diag.error(file_, Kind::unsupported, "sparse initializer '{}' is not supported; store it densely",
               sparse.values().name());
    define(sparse.values().name(), NamedValue{nullptr, std::nullopt, true}, file_);
  }
}

void GraphImporter::fail_outputs(const NodeProto& node) {
  for (const std::string& output : node.output())
    if (!output.empty()) scope_->slots[output] = NamedValue{nullptr, std::nullopt, true};
}

bool GraphImporter::operands_ready(const NodeProto& node, Location where) {
  bool ready = true;
  for (const std::string& name : node.input()) {
    if (name.empty()) continue;
    NamedValue* slot = find(name);
    if (slot == nullptr) {
      diag.error(where, Kind::unbound_name,
                 "input '{}' is not made by a node and is not an input or initializer of the graph", name);
      local(name).failed = true;
      ready = false;
    } else if (slot->failed) {
      ready = false;
    }
  }
  return ready;
}

/// Gives names to large dims and contents of what a node made, so that those of the nodes after it are small.
static void name_large_dims(relax::GraphBuilder& build, NamedValue& made) {
  if (made.known) return relax::name_large_numbers(build, made.known->elements);
  std::vector<Value*> values = {made.value};
  relax::name_large_dims(build, values);
  made.value = values.front();
}

void GraphImporter::convert(const NodeProto& proto, int number) {
  std::string domain = domain_of(proto.domain());
  auto opset = scope_->opsets.find(domain);
  int64_t version = opset == scope_->opsets.end() ? 0 : opset->second;
  Location where = module_.sources().at(NodeOrigin{files().path(), label(proto, number), qualified(proto), version});
  for (const std::string& output : proto.output())
    if (!output.empty() && scope_->slots.count(output) != 0)
      diag.error(where, Kind::redefinition, "output '{}' is the name of another value already", output);
  budget_.count_node();
  visited_.insert(&proto);
  if (!budget_.allows(0, "this node", where)) return fail_outputs(proto);
  Node node(*this, proto, version, where);
  Location before = builder_->location;
  builder_->location = where;
  size_t errors = diag.error_count();
  conversion_.find_operands(proto, where);
  bool ready = operands_ready(proto, where);
  if (!conversion_.convert(node, ready)) {
    if (ready && diag.error_count() > errors) conversion_.note_inputs(proto);
    fail_outputs(proto);
  }
  for (const std::string& output : proto.output())
    if (auto made = scope_->slots.find(output); made != scope_->slots.end()) name_large_dims(*builder_, made->second);
  builder_->location = before;
}

}  // namespace relaxc::frontend
