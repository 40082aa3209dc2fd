// importer.cpp: the walk over a graph: names, parameters, constants, nodes in order, results.
//
// A node that cannot be converted marks its outputs as failed, and nodes that need them are passed over, so one import
// reports every reason and none twice. Values of known contents (known.h) get a tensor only when a converter asks for
// one.
#include "frontends/onnx/importer.h"

#include <algorithm>
#include <queue>

namespace relaxc::frontend {

using google::protobuf::RepeatedPtrField;
using onnx::GraphProto;
using onnx::NodeProto;
using onnx::ValueInfoProto;
using relax::Info;

namespace {

constexpr int64_t kNewestOpset = 28, kNewestIr = 14;
constexpr size_t kDeepestCalls = 64;

std::string domain_of(const std::string& domain) {
  return domain == "ai.onnx" ? "" : domain;
}

std::string qualified(const NodeProto& node) {
  std::string domain = domain_of(node.domain());
  return domain.empty() ? node.op_type() : domain + "." + node.op_type();
}

std::string label(const NodeProto& node, int number) {
  if (!node.name().empty()) return node.name();
  return "node " + std::to_string(number) + (node.output_size() > 0 ? " -> " + node.output(0) : "");
}

/// Names that a node reads, those that its subgraphs take from outside included.
void collect_reads(const NodeProto& node, std::set<std::string>& reads) {
  for (const std::string& name : node.input())
    if (!name.empty()) reads.insert(name);
  auto graph_reads = [&](const GraphProto& graph) {
    for (const NodeProto& inner : graph.node()) collect_reads(inner, reads);
    for (const ValueInfoProto& output : graph.output()) reads.insert(output.name());
  };
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (attribute.has_g()) graph_reads(attribute.g());
    for (const GraphProto& graph : attribute.graphs()) graph_reads(graph);
  }
}

}  // namespace

GraphImporter::GraphImporter(const LoadedModel& model, const ImportOptions& options, relax::Module& module,
                             const relax::OpTable& ops, Diagnostics& diag)
    : model_(model), options_(options), module_(module), ops_(ops), diag(diag), converters_(converter_table()) {}

Status GraphImporter::run() {
  const onnx::ModelProto& proto = *model_.proto;
  file_ = module_.sources().at(FileOrigin{model_.files->path()});
  Scope scope;
  RELAXC_DO(opsets(proto.opset_import(), scope));
  if (proto.ir_version() > kNewestIr)
    diag.warning(file_, Kind::unsupported, "IR version {} is newer than {}, the newest that relaxc knows",
                 proto.ir_version(), kNewestIr);
  scope_ = &scope;
  function_ = module_.add_function("main");
  function_->location = file_;
  relax::Block* block = function_->make_block(&function_->body(), true);
  relax::GraphBuilder builder(module_, ops_, block, diag);
  builder.location = file_;
  builder_ = &builder;
  size_t errors = diag.error_count();
  bool typed = bool(parameters(proto.graph()));
  initializers(proto.graph());
  if (typed) static_cast<void>(bool(unused_overrides()));
  nodes(proto.graph().node());
  for (const ValueInfoProto& value : proto.graph().value_info()) check_declared(value, false);
  static_cast<void>(bool(results(proto.graph())));
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

Expr GraphImporter::symbol(const std::string& name, const std::string& input) {
  static_cast<void>(input);
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
    if (!number && text != "?") return symbol(text, name);
  }
  return symbol(name + "_d" + std::to_string(axis), name);
}

Result<Info> GraphImporter::declared(const ValueInfoProto& value) {
  const onnx::TypeProto& type = value.type();
  const std::string& name = value.name();
  switch (type.value_case()) {
    case onnx::TypeProto::kTensorType:
      break;
    case onnx::TypeProto::VALUE_NOT_SET:
      return diag.error(file_, Kind::malformed_model, "input '{}' has no type", name);
    default:
      return diag.error(file_, Kind::unsupported,
                        "input '{}' is a sequence, map, optional or sparse tensor; only "
                        "tensors are supported",
                        name);
  }
  RELAXC_TRY(DType dtype, dtype_of(type.tensor_type().elem_type(), file_, diag));
  if (!type.tensor_type().has_shape())
    return diag.error(file_, Kind::rank_mismatch, "input '{}' has no rank; export the model with a shape for it", name);
  std::vector<Expr> dims;
  int64_t elements = 1;
  for (const auto& declared : type.tensor_type().shape().dim()) {
    RELAXC_TRY(Expr extent, dim(declared, name, static_cast<int>(dims.size())));
    if (extent.constant() != nullptr && __builtin_mul_overflow(elements, *extent.constant(), &elements))
      return diag.error(file_, Kind::overflow, "the size of input '{}' overflows", name);
    dims.push_back(extent);
  }
  if (elements > INT64_MAX / 16) return diag.error(file_, Kind::overflow, "the size of input '{}' overflows", name);
  return relax::tensor_info(module_.context(), std::move(dims), dtype);
}

Status GraphImporter::parameters(const GraphProto& graph) {
  std::set<std::string> initialized;
  for (const auto& tensor : graph.initializer()) initialized.insert(tensor.name());
  bool ok = true;
  for (const ValueInfoProto& input : graph.input()) {
    if (initialized.count(input.name()) != 0) continue;
    Result<Info> info = declared(input);
    ok = ok && bool(info);
    Slot slot;
    slot.failed = !info;
    if (info) slot.value = function_->make_argument(&function_->body(), input.name(), *info);
    define(input.name(), std::move(slot), file_);
  }
  if (!ok) return diag.failed();
  return Done{};
}

Status GraphImporter::unused_overrides() {
  bool ok = true;
  for (const DimOverride& over : options_.dims) {
    if (symbols_.count(over.name) != 0) continue;
    std::string names;
    for (const auto& [name, value] : symbols_) names += (names.empty() ? "" : ", ") + name;
    diag.error(file_, Kind::usage, "no dim is called '{}'; open dims are: {}", over.name,
               names.empty() ? "none" : names);
    ok = false;
  }
  if (!ok) return diag.failed();
  return Done{};
}

void GraphImporter::define(const std::string& name, Slot slot, Location where) {
  if (name.empty()) {
    diag.error(where, Kind::malformed_model, "a value of the graph has no name");
    return;
  }
  auto [place, fresh] = scope_->slots.insert_or_assign(name, std::move(slot));
  static_cast<void>(place);
  if (!fresh) diag.error(where, Kind::redefinition, "the name '{}' is given to two values", name);
}

void GraphImporter::initializers(const GraphProto& graph) {
  for (const onnx::TensorProto& tensor : graph.initializer()) {
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

/// Node numbers in an order in which everything is made before it is used; the given order where it is one. Nodes on a
/// cycle are reported and left out.
std::vector<int> GraphImporter::order(const RepeatedPtrField<NodeProto>& nodes) {
  std::map<std::string, int> maker;
  for (int i = 0; i < nodes.size(); ++i)
    for (const std::string& output : nodes[i].output())
      if (!output.empty()) maker.try_emplace(output, i);
  std::vector<std::vector<int>> users(static_cast<size_t>(nodes.size()));
  std::vector<int> missing(static_cast<size_t>(nodes.size()), 0);
  for (int i = 0; i < nodes.size(); ++i) {
    std::set<std::string> reads;
    collect_reads(nodes[i], reads);
    std::set<int> makers;
    for (const std::string& name : reads)
      if (auto found = maker.find(name); found != maker.end()) makers.insert(found->second);
    for (int from : makers) {
      users[static_cast<size_t>(from)].push_back(i);
      ++missing[static_cast<size_t>(i)];
    }
  }
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int i = 0; i < nodes.size(); ++i)
    if (missing[static_cast<size_t>(i)] == 0) ready.push(i);
  std::vector<int> order;
  while (!ready.empty()) {
    int next = ready.top();
    ready.pop();
    order.push_back(next);
    for (int user : users[static_cast<size_t>(next)])
      if (--missing[static_cast<size_t>(user)] == 0) ready.push(user);
  }
  if (static_cast<int>(order.size()) == nodes.size()) {
    for (int i = 0; i < nodes.size(); ++i)
      if (order[static_cast<size_t>(i)] != i) {
        diag.warning(file_, Kind::malformed_model,
                     "nodes are not in topological order: '{}' comes too early; they are "
                     "sorted",
                     label(nodes[i], i));
        break;
      }
    return order;
  }
  std::string names;
  int shown = 0;
  for (int i = 0; i < nodes.size(); ++i) {
    if (missing[static_cast<size_t>(i)] == 0) continue;
    if (++shown <= 8) names += (names.empty() ? "'" : ", '") + label(nodes[i], i) + "'";
    fail_outputs(nodes[i]);
  }
  diag.error(file_, Kind::malformed_model, "the graph has a cycle; these nodes are on it or behind it: {}{}", names,
             shown > 8 ? " and " + std::to_string(shown - 8) + " more" : "");
  return order;
}

void GraphImporter::nodes(const RepeatedPtrField<NodeProto>& nodes) {
  for (int number : order(nodes)) convert(nodes[number], number);
}

void GraphImporter::fail_outputs(const NodeProto& node) {
  for (const std::string& output : node.output())
    if (!output.empty()) scope_->slots[output] = Slot{nullptr, std::nullopt, true};
}

bool GraphImporter::operands_ready(const NodeProto& node, Location where) {
  bool ready = true;
  for (const std::string& name : node.input()) {
    if (name.empty()) continue;
    Slot* slot = find(name);
    if (slot == nullptr) {
      diag.error(where, Kind::unbound_name, "input '{}' is made by no node and is no input or initializer of the graph",
                 name);
      local(name).failed = true;
      ready = false;
    } else if (slot->failed) {
      ready = false;
    }
  }
  return ready;
}

void GraphImporter::convert(const NodeProto& proto, int number) {
  std::string domain = domain_of(proto.domain());
  auto opset = scope_->opsets.find(domain);
  int64_t version = opset == scope_->opsets.end() ? 0 : opset->second;
  Location where = module_.sources().at(NodeOrigin{files().path(), label(proto, number), qualified(proto), version});
  for (const std::string& output : proto.output())
    if (!output.empty() && scope_->slots.count(output) != 0)
      diag.error(where, Kind::redefinition, "output '{}' is the name of another value already", output);
  const onnx::FunctionProto* function = find_function(proto);
  const Converter* converter = function != nullptr ? nullptr : converters_.find(domain, proto.op_type());
  Node node(*this, proto, version, where);
  Location before = builder_->location;
  builder_->location = where;
  size_t errors = diag.error_count();
  bool ready = operands_ready(proto, where), done = false;
  if (function == nullptr && version == 0) {
    diag.error(where, Kind::malformed_model, "the model imports no opset of domain '{}'",
               domain.empty() ? "ai.onnx" : domain);
  } else if (function == nullptr && converter == nullptr) {
    diag.error(where, Kind::unknown_operator, "there is no converter for this operator");
  } else if (ready) {
    done = bool(function != nullptr ? call_function(*function, node) : convert_with(*converter, node));
  }
  if (!done) {
    if (ready && diag.error_count() > errors) {
      std::string types;
      for (const std::string& name : proto.input()) {
        Slot* slot = name.empty() ? nullptr : find(name);
        std::string type = slot == nullptr || slot->value == nullptr ? "" : ": " + relax::to_string(slot->value->info);
        types += (types.empty() ? "" : ", ") + (name.empty() ? std::string("none") : name + type);
      }
      if (!types.empty()) diag.note(nullptr, "inputs: {}", types);
    }
    fail_outputs(proto);
  }
  builder_->location = before;
}

Status GraphImporter::convert_with(const Converter& converter, Node& node) {
  if (node.opset < converter.since)
    return node.error(Kind::unsupported, "opset {} of this operator is not supported; {} and later are", node.opset,
                      converter.since);
  if (converter.fold != nullptr && converter.fold(node)) return Done{};
  RELAXC_DO(converter.convert(node));
  for (size_t i = 0; i < node.outputs(); ++i)
    if (node.wants(i) && scope_->slots.count(node.proto.output(static_cast<int>(i))) == 0)
      return node.error(Kind::unsupported, "output {} ('{}') is not supported", i,
                        node.proto.output(static_cast<int>(i)));
  return Done{};
}

const onnx::FunctionProto* GraphImporter::find_function(const NodeProto& node) const {
  for (const onnx::FunctionProto& function : model_.proto->functions())
    if (function.name() == node.op_type() && domain_of(function.domain()) == domain_of(node.domain()) &&
        function.overload() == node.overload())
      return &function;
  return nullptr;
}

/// The body of a model-local function in place of its call.
Status GraphImporter::call_function(const onnx::FunctionProto& function, Node& node) {
  if (std::find(calls_.begin(), calls_.end(), &function) != calls_.end() || calls_.size() > kDeepestCalls)
    return node.error(Kind::malformed_model, "function '{}' calls itself", function.name());
  Scope scope;
  scope.parent = scope_;
  scope.function = true;
  RELAXC_DO(opsets(function.opset_import(), scope));
  for (int i = 0; i < function.input_size(); ++i) {
    Slot* slot = node.has(static_cast<size_t>(i)) ? find(node.proto.input(i)) : nullptr;
    if (slot != nullptr) scope.slots[function.input(i)] = *slot;
  }
  for (const auto& attribute : function.attribute_proto()) scope.attributes[attribute.name()] = &attribute;
  for (const auto& attribute : node.proto.attribute())
    if (const onnx::AttributeProto* given = node.attribute(attribute.name()))
      scope.attributes[attribute.name()] = given;
  Scope* outer = scope_;
  scope_ = &scope;
  calls_.push_back(&function);
  size_t errors = diag.error_count();
  nodes(function.node());
  calls_.pop_back();
  scope_ = outer;
  if (diag.error_count() > errors) return diag.failed();
  for (int i = 0; i < function.output_size() && i < node.proto.output_size(); ++i) {
    auto made = scope.slots.find(function.output(i));
    if (made == scope.slots.end())
      return node.error(Kind::unbound_name, "function '{}' does not make its output '{}'", function.name(),
                        function.output(i));
    if (node.wants(static_cast<size_t>(i))) scope_->slots[node.proto.output(i)] = made->second;
  }
  return Done{};
}

Result<std::vector<Slot>> GraphImporter::inline_graph(const GraphProto& graph, std::vector<Slot> arguments,
                                                      relax::Block* block) {
  Scope scope;
  scope.parent = scope_;
  scope.opsets = scope_->opsets;
  scope.attributes = scope_->attributes;
  relax::GraphBuilder* outer_builder = builder_;
  std::optional<relax::GraphBuilder> inner;
  if (block != nullptr) {
    inner.emplace(module_, ops_, block, diag);
    inner->location = builder_->location;
    builder_ = &*inner;
  }
  Scope* outer = scope_;
  scope_ = &scope;
  size_t errors = diag.error_count();
  std::set<std::string> initialized;
  for (const auto& tensor : graph.initializer()) initialized.insert(tensor.name());
  size_t next = 0;
  for (const ValueInfoProto& input : graph.input())
    if (initialized.count(input.name()) == 0 && next < arguments.size())
      define(input.name(), std::move(arguments[next++]), builder_->location);
  initializers(graph);
  nodes(graph.node());
  std::vector<Slot> results;
  for (const ValueInfoProto& output : graph.output()) {
    Slot* slot = find(output.name());
    if (slot == nullptr)
      diag.error(builder_->location, Kind::unbound_name, "the subgraph's output '{}' is made by no node",
                 output.name());
    else if (!slot->failed && block != nullptr && !slot->value)
      static_cast<void>(bool(materialize(output.name())));
    if (slot != nullptr) results.push_back(*find(output.name()));
  }
  scope_ = outer;
  builder_ = outer_builder;
  if (diag.error_count() > errors) return diag.failed();
  bool failed = std::any_of(results.begin(), results.end(), [](const Slot& slot) { return slot.failed; });
  if (failed) return diag.failed();
  return results;
}

Slot* GraphImporter::find(const std::string& name) {
  for (Scope* scope = scope_; scope != nullptr; scope = scope->function ? nullptr : scope->parent)
    if (auto found = scope->slots.find(name); found != scope->slots.end()) return &found->second;
  return nullptr;
}

Slot& GraphImporter::local(const std::string& name) {
  Slot* outer = find(name);
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
  Slot* slot = find(name);
  if (slot == nullptr) return diag.error(builder_->location, Kind::unbound_name, "'{}' is made by no node", name);
  if (slot->failed) return diag.failed();
  if (slot->value != nullptr) return slot->value;
  RELAXC_CHECK(slot->known.has_value(), "a value with neither tensor nor contents");
  RELAXC_TRY(Value * value, materialize(*slot->known));
  value->name = name;
  local(name).value = value;
  return value;
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
  for (int i = 0; !wrong && i < type.shape().dim_size(); ++i) {
    const int64_t* extent = (*tensor->shape)[static_cast<size_t>(i)].constant();
    const auto& said = type.shape().dim(i);
    wrong = said.has_dim_value() && said.dim_value() >= 0 && extent != nullptr && *extent != said.dim_value();
  }
  if (wrong)
    diag.warning(file_, Kind::shape_mismatch, "the declared shape of {} '{}' is wrong, the nodes give {}", kind,
                 declared.name(), relax::to_string(tensor));
}

Status GraphImporter::results(const GraphProto& graph) {
  std::vector<Value*> values;
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
      Result<Value*> value = materialize(output.name());
      ok = ok && bool(value);
      if (value) values.push_back(*value);
      check_declared(output, true);
    }
  }
  if (!ok) return diag.failed();
  Value* result = values.size() == 1 ? values[0] : builder_->tuple(values);
  function_->body().yield->add_operand(result);
  return Done{};
}

}  // namespace relaxc::frontend
