// importer.cpp: the walk over a graph: names, nodes in order, and the tensors of values whose contents are known.
//
// A node that cannot be converted marks its outputs as failed, and nodes that need them are passed over, so one import
// reports every reason and none twice. Values of known contents (known.h) get a tensor only when a converter asks for
// one. What goes in and out of the model is in importer_interface.cpp; order, functions and subgraphs are in
// importer_graphs.cpp.
#include "frontends/onnx/importer.h"

#include "frontends/onnx/check_node.h"
#include "frontends/onnx/parameters.h"
#include "frontends/onnx/string_permutation.h"
#include "frontends/onnx/strings.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace relaxc::frontend {

using google::protobuf::RepeatedPtrField;
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
      converters_(converter_table()),
      budget_(*model.proto, options, diag) {}

Status GraphImporter::run() {
  const onnx::ModelProto& proto = *model_.proto;
  file_ = module_.sources().at(FileOrigin{model_.files->path()});
  Scope scope;
  RELAXC_DO(opsets(proto.opset_import(), scope));
  if (proto.ir_version() > kNewestIr)
    diag.warning(file_, Kind::unsupported, "IR version {} is newer than {}, the newest that relaxc knows",
                 proto.ir_version(), kNewestIr);
  scope_ = &scope;
  function_ = module_.add_function(options_.function);
  simplifier_ = std::make_unique<arith::Simplifier>(function_->facts);
  function_->location = file_;
  relax::Block* block = function_->make_block(&function_->body(), true);
  relax::GraphBuilder builder(module_, ops_, block, diag);
  builder.location = file_;
  builder_ = &builder;
  size_t errors = diag.error_count();
  Parameters parameters(options_, *function_, builder, module_.context(), file_, diag);
  bool typed = bool(define_parameters(proto.graph(), parameters));
  initializers(proto.graph());
  if (typed) static_cast<void>(bool(parameters.unused_overrides()));
  nodes(proto.graph().node(), names_of(proto.graph().output()));
  for (const ValueInfoProto& value : proto.graph().value_info()) check_declared(value, false);
  static_cast<void>(bool(results(proto.graph())));
  check_rest();
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

arith::Prover& GraphImporter::prover() {
  if (prover_ == nullptr || prover_revision_ != function_->facts.revision()) {
    prover_ = std::make_unique<arith::Prover>(module_.context(), function_->facts);
    prover_revision_ = function_->facts.revision();
  }
  return *prover_;
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

void GraphImporter::nodes(const RepeatedPtrField<NodeProto>& nodes, std::vector<std::string> outputs) {
  NodeList list{{}, std::move(outputs)};
  for (int number : order(nodes)) list.nodes.emplace_back(&nodes[number], number);
  convert_all(std::move(list));
}

/// In order; what is left to do stands in reverse, so that the next one is taken off the end.
void GraphImporter::convert_all(NodeList list) {
  std::reverse(list.nodes.begin(), list.nodes.end());
  NodeList* before = std::exchange(scope_->rest, &list);
  while (!list.nodes.empty() && !budget_.is_exceeded()) {
    auto [node, number] = list.nodes.back();
    list.nodes.pop_back();
    convert(*node, number);
  }
  scope_->rest = before;
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

/// What the node reads, as far as it is known.
void GraphImporter::find_operands(const NodeProto& node, Location where) {
  if (options_.findings == nullptr) return;
  NodeFinding& finding = options_.findings->nodes[where];
  finding.domain = node.domain().empty() ? "ai.onnx" : node.domain();
  for (const std::string& name : node.input()) {
    OperandFinding& operand = finding.inputs.emplace_back(OperandFinding{name, "unknown", {}, {}});
    NamedValue* slot = name.empty() ? nullptr : find(name);
    if (name.empty() || (slot != nullptr && slot->absent)) operand.form = "none";
    if (slot == nullptr || slot->failed || slot->absent) continue;
    operand.form = slot->composite != nullptr ? std::string(form_of(*slot)) : "tensor";
    if (slot->value != nullptr) {
      const auto* tensor = slot->value->info->as<TensorInfo>();
      if (tensor == nullptr || !tensor->shape || !tensor->dtype) continue;
      operand.dtype = to_string(*tensor->dtype);
      for (Expr extent : *tensor->shape) operand.shape.push_back(arith::to_string(extent));
    } else if (slot->known) {
      operand.dtype = to_string(slot->known->dtype);
      for (int64_t extent : slot->known->shape) operand.shape.push_back(std::to_string(extent));
    }
  }
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
  find_operands(proto, where);
  bool ready = operands_ready(proto, where);
  if (!convert_ready(node, ready)) {
    if (ready && diag.error_count() > errors) note_inputs(proto);
    fail_outputs(proto);
  }
  builder_->location = before;
}

/// The node by what there is for its operator; what there is none for is reported though its operands are not `ready`.
bool GraphImporter::convert_ready(Node& node, bool ready) {
  const NodeProto& proto = node.proto;
  std::string domain = domain_of(proto.domain());
  if (const CustomOp* custom = find_custom(options_, proto))
    return ready && check_attributes(node, innermost()) && convert_custom_op(*custom, node);
  if (const onnx::FunctionProto* function = find_function(*model_.proto, proto))
    return ready && call_function(*function, node);
  if (node.opset == 0) {
    diag.error(node.location, Kind::malformed_model, "the {} imports no opset of domain '{}'",
               calls_.empty() ? "model" : "function", domain.empty() ? "ai.onnx" : domain);
    return false;
  }
  if (const Converter* converter = converters_.find(domain, proto.op_type()))
    return ready && convert_checked(*converter, node);
  diag.error(node.location, Kind::unknown_operator,
             "there is no converter for this operator; --custom-op '{}::{}=* -> like(0)' makes it a call of a C "
             "function, with "
             "a rule that says what its results are",
             domain.empty() ? "ai.onnx" : domain, proto.op_type());
  if (auto near = nearest_operator(converters_, domain, proto.op_type())) diag.note(nullptr, "did you mean {}?", *near);
  return false;
}

/// What the node is given, for the error before.
void GraphImporter::note_inputs(const NodeProto& proto) {
  std::string types;
  for (const std::string& name : proto.input()) {
    NamedValue* slot = name.empty() ? nullptr : find(name);
    std::string type = slot == nullptr || slot->value == nullptr ? "" : ": " + relax::to_string(slot->value->info);
    types += (types.empty() ? "" : ", ") + (name.empty() ? std::string("none") : name + type);
  }
  if (!types.empty()) diag.note(nullptr, "inputs: {}", types);
}

/// The node by its converter, if it is one of its operator.
Status GraphImporter::convert_checked(const Converter& converter, Node& node) {
  std::optional<Signature> signature = signatures_.find(converter.domain, converter.name, node.opset);
  // What is refused altogether says why, whatever the node looks like.
  if (signature && converter.note != "refused") RELAXC_DO(check_node(node, *signature, innermost()));
  return convert_with(converter, node);
}

Status GraphImporter::convert_with(const Converter& converter, Node& node) {
  if (node.opset < converter.since)
    return node.error(Kind::unsupported, "opset {} of this operator is not supported; {} and later are", node.opset,
                      converter.since);
  bool strings = false;
  for (size_t i = 0; i < node.inputs(); ++i) strings = strings || is_strings(node, i);
  bool positions = strings && converter.strings != Converter::Strings::kOwn;
  try {
    if (!positions && converter.fold != nullptr && converter.fold(node)) return Done{};
    RELAXC_DO(positions ? convert_on_positions(converter, node) : converter.convert(node));
  } catch (const std::logic_error&) {  // of a container: a place that is not there, a length that none has
    return node.error(Kind::rank_mismatch,
                      "an input or attribute does not have the rank or length that the operator takes");
  }
  for (size_t i = 0; i < node.outputs(); ++i)
    if (node.wants(i) && scope_->slots.count(node.proto.output(static_cast<int>(i))) == 0)
      return node.error(Kind::unsupported, "output {} ('{}') is not supported", i,
                        node.proto.output(static_cast<int>(i)));
  return Done{};
}

}  // namespace relaxc::frontend
