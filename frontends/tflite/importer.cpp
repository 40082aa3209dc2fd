// importer.cpp: walks a subgraph: parameters, operators in order, results.
//
// An operator that cannot be converted marks its outputs as failed, and operators that read these are skipped, so one
// import reports every reason once. A constant becomes a value when an operator first reads it.
#include "frontends/tflite/importer.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <stdexcept>

namespace relaxc::tflite {
namespace {

constexpr int64_t kNoOpset = 0;
constexpr int kDeepest = 32;  ///< maximum nesting of subgraphs

/// Returns the operator's name in messages: its number, and the name of its first output.
std::string label(const Subgraph& graph, const Operator& op, size_t number) {
  std::string name = "operator " + std::to_string(number);
  if (!op.outputs.empty()) name += " -> " + graph.tensors[static_cast<size_t>(op.outputs[0])].name;
  return name;
}

std::string qualified(const Operator& op) {
  return op.code == BuiltinOperator::CUSTOM ? "custom " + op.custom_code : operator_name(op.code);
}

}  // namespace

Importer::Importer(const Model& model, const ImportOptions& options, relax::Module& module, const relax::OpTable& ops,
                   Diagnostics& diag)
    : model_(model),
      options_(options),
      module_(module),
      ops_(ops),
      diag(diag),
      table_(operator_table()),
      budget_(model, options.max_nodes, diag) {}

Status Importer::run() {
  file_ = module_.sources().at(FileOrigin{model_.path});
  const Subgraph& graph = model_.subgraphs[0];
  function_ = module_.add_function(options_.function);
  function_->location = file_;
  relax::Block* block = function_->make_block(&function_->body(), true);
  relax::GraphBuilder builder(module_, ops_, block, diag);
  builder.location = file_;
  builder_ = &builder;
  Scope scope{&graph, std::vector<TensorValue>(graph.tensors.size())};
  scope_ = &scope;
  size_t errors = diag.error_count();
  for (int32_t input : graph.inputs) {
    Result<Value*> value = parameter(graph.tensors[static_cast<size_t>(input)]);
    TensorValue& slot = scope.slots[static_cast<size_t>(input)];
    slot.failed = !value;
    if (value) slot.value = *value;
  }
  for (size_t i = 0; i < graph.operators.size(); ++i) convert(graph.operators[i], i);
  static_cast<void>(bool(results(graph)));
  if (options_.findings != nullptr)
    for (std::string& remark : metadata_remarks(model_)) options_.findings->remarks.push_back(std::move(remark));
  if (diag.error_count() > errors) return diag.failed();
  describe_quantization(graph);
  return Done{};
}

Result<Value*> Importer::parameter(const Tensor& tensor) {
  RELAXC_TRY(DType dtype, dtype_of(tensor.type, file_, diag));
  if (tensor.type == TensorType::INT4)
    return diag.error(file_, Kind::unsupported, "input '{}' is int4; only constants may be", tensor.name);
  std::vector<arith::Expr> dims;
  for (int64_t extent : tensor.shape) dims.push_back(module_.context().index(extent));
  return function_->make_argument(&function_->body(), tensor.name,
                                  relax::tensor_info(module_.context(), std::move(dims), dtype));
}

relax::ConstantRef Importer::constant_of(const Tensor& tensor) {
  Result<DType> dtype = dtype_of(tensor.type, builder_->location, diag);
  if (!dtype) return nullptr;
  auto offset = static_cast<uint64_t>(tensor.data.data() - model_.file->bytes().data());
  if (tensor.type != TensorType::INT4)
    return relax::ConstantData::file_slice(*dtype, tensor.shape, model_.file, offset);
  // Two integers share a byte; the first is in the lower half.
  int64_t elements = 1;
  for (int64_t extent : tensor.shape) elements *= extent;
  auto packed = relax::ConstantData::file_slice(DType::i(8), {(elements + 1) / 2}, model_.file, offset);
  auto unpack = [elements](std::span<const std::byte> bytes) {
    std::vector<std::byte> out;
    for (int64_t i = 0; i < elements; ++i) {
      auto byte = static_cast<uint8_t>(bytes[static_cast<size_t>(i / 2)]);
      auto half = static_cast<uint8_t>(i % 2 == 0 ? byte << 4 : byte & 0xF0);
      out.push_back(static_cast<std::byte>(static_cast<int8_t>(half) >> 4));
    }
    return out;
  };
  return relax::ConstantData::transformed(DType::i(8), tensor.shape, packed,
                                          {fmt::format("unpack {} integers of 4 bits", elements), unpack});
}

Value* Importer::value_of(int32_t tensor) {
  TensorValue& slot = scope_->slots[static_cast<size_t>(tensor)];
  if (slot.failed) return nullptr;
  if (slot.value != nullptr) return slot.value;
  const Tensor& info = scope_->graph->tensors[static_cast<size_t>(tensor)];
  if (info.is_variable) {
    Result<size_t> found = variable(variable_name(info), info);
    return found ? variables_[*found].value : nullptr;
  }
  if (!info.constant && std::find(info.shape.begin(), info.shape.end(), 0) == info.shape.end()) {
    diag.error(builder_->location, Kind::unbound_name, "tensor '{}' is not made by an operator and is not a constant",
               info.name);
    slot.failed = true;
    return nullptr;
  }
  relax::ConstantRef data;
  if (info.constant) {
    data = constant_of(info);
  } else if (Result<DType> dtype = dtype_of(info.type, builder_->location, diag); dtype) {
    data = relax::ConstantData::inline_bytes(*dtype, info.shape, {});
  }
  if (data == nullptr) {
    slot.failed = true;
    return nullptr;
  }
  return slot.value = builder_->constant(std::move(data), info.name);
}

bool Importer::operands_ready(const Operator& op) {
  bool ready = true;
  for (int32_t input : op.inputs) ready = ready && (input < 0 || !scope_->slots[static_cast<size_t>(input)].failed);
  return ready;
}

/// Records what the operator reads, for --check.
void Importer::find_operands(const Operator& op, Location where) {
  if (options_.findings == nullptr) return;
  frontend::NodeFinding& finding = options_.findings->nodes[where];
  finding.domain = "tflite";
  for (int32_t input : op.inputs) {
    if (input < 0) {
      finding.inputs.push_back({"", "none", {}, {}});
      continue;
    }
    const Tensor& tensor = scope_->graph->tensors[static_cast<size_t>(input)];
    frontend::OperandFinding& operand = finding.inputs.emplace_back(
        frontend::OperandFinding{tensor.name, "tensor", std::string(type_name(tensor.type)), {}});
    for (int64_t extent : tensor.shape) operand.shape.push_back(std::to_string(extent));
  }
}

const frontend::CustomOp* Importer::find_custom(const Operator& op) const {
  std::string name = op.code == BuiltinOperator::CUSTOM ? op.custom_code : operator_name(op.code);
  for (const frontend::CustomOp& custom : options_.custom_ops)
    if (custom.domain == "tflite" && custom.name == name) return &custom;
  return nullptr;
}

void Importer::convert(const Operator& op, size_t number) {
  Location where =
      module_.sources().at(NodeOrigin{model_.path, label(*scope_->graph, op, number), qualified(op), kNoOpset});
  Location before = builder_->location;
  builder_->location = where;
  find_operands(op, where);
  bool done = false, ready = operands_ready(op);
  Node node(*this, *scope_->graph, op, where);
  const frontend::CustomOp* custom = find_custom(op);
  const Row* row = custom == nullptr ? table_.find(op.code) : nullptr;
  if (!budget_.take(where)) {
    ready = false;
  } else if (custom != nullptr) {
    done = ready && convert_custom_op(*custom, node);
  } else if (row == nullptr) {
    std::string name = op.code == BuiltinOperator::CUSTOM ? op.custom_code : operator_name(op.code);
    diag.error(where, Kind::unknown_operator,
               "there is no converter for this operator; --custom-op 'tflite::{}=* -> like(0)' makes it a call of a C "
               "function, with a rule that says what its results are",
               name);
  } else if (ready) {
    done = bool(convert_checked(*row, node));
  }
  if (!done)
    for (int32_t output : op.outputs) scope_->slots[static_cast<size_t>(output)].failed = true;
  builder_->location = before;
}

Status Importer::check(const Row& row, Node& node) {
  auto inputs = static_cast<int>(node.inputs());
  if (inputs < row.min_inputs || inputs > row.max_inputs)
    return node.error(Kind::wrong_arity, "it has {} inputs; {} to {} are expected", inputs, row.min_inputs,
                      row.max_inputs);
  for (int i = 0; i < row.min_inputs; ++i)
    if (!node.has(static_cast<size_t>(i))) return node.error(Kind::wrong_arity, "input {} is missing", i);
  if (row.outputs >= 0 && static_cast<int>(node.outputs()) != row.outputs)
    return node.error(Kind::wrong_arity, "it has {} outputs; {} are expected", node.outputs(), row.outputs);
  if (row.types == kAny || inputs <= row.typed || !node.has(static_cast<size_t>(row.typed))) return Done{};
  TensorType type = node.type(static_cast<size_t>(row.typed));
  if (static_cast<unsigned>(type) < 32 && (row.types & type_bit(type)) != 0) return Done{};
  return node.error(Kind::dtype_mismatch, "it is not supported for {}; {} are", type_name(type), types_text(row.types));
}

Status Importer::convert_checked(const Row& row, Node& node) {
  RELAXC_DO(check(row, node));
  try {
    RELAXC_DO(row.convert(node));
  } catch (const std::logic_error&) {  // from a container: the model has too few dims or values
    return node.error(Kind::rank_mismatch,
                      "an input or option does not have the rank or length that the operator takes");
  }
  return check_outputs(node);
}

/// Checks outputs against the types that the model declares, since converters of later operators rely on these.
Status Importer::check_outputs(Node& node) {
  for (size_t i = 0; i < node.outputs(); ++i) {
    const Tensor& declared = node.out(i);
    const TensorValue& slot = scope_->slots[static_cast<size_t>(node.op.outputs[i])];
    if (!slot.handle.empty()) continue;
    if (slot.value == nullptr)
      return node.error(Kind::unsupported, "output {} ('{}') is not supported", i, declared.name);
    const auto* tensor = slot.value->info->as<relax::TensorInfo>();
    RELAXC_TRY(DType dtype, dtype_of(declared.type, node.location, diag));
    if (tensor == nullptr || !tensor->dtype || *tensor->dtype != dtype)
      return node.error(Kind::dtype_mismatch, "output '{}' is declared as {}, but the operator gives {}", declared.name,
                        type_name(declared.type), relax::to_string(slot.value->info));
    if (declared.open || !tensor->shape || declared.shape.empty()) continue;
    bool same = tensor->shape->size() == declared.shape.size();
    for (size_t k = 0; same && k < declared.shape.size(); ++k)
      same = (*tensor->shape)[k].constant() == nullptr || *(*tensor->shape)[k].constant() == declared.shape[k];
    if (!same)
      diag.warning(node.location, Kind::shape_mismatch,
                   "the declared shape [{}] of '{}' is wrong, the operator gives {}", fmt::join(declared.shape, ", "),
                   declared.name, relax::to_string(slot.value->info));
  }
  return Done{};
}

Result<std::vector<Value*>> Importer::inline_subgraph(int64_t index, const std::vector<TensorValue>& arguments) {
  if (index < 0 || index >= static_cast<int64_t>(model_.subgraphs.size()))
    return diag.error(builder_->location, Kind::malformed_model, "there is no subgraph {}; the model has {}", index,
                      model_.subgraphs.size());
  if (!budget_.allows(index, builder_->location)) return diag.failed();
  if (depth_ >= kDeepest) {
    budget_.stop();
    return diag.error(builder_->location, Kind::unsupported, "subgraphs call each other {} deep", kDeepest);
  }
  const Subgraph& graph = model_.subgraphs[static_cast<size_t>(index)];
  if (arguments.size() != graph.inputs.size())
    return diag.error(builder_->location, Kind::wrong_arity, "subgraph {} takes {} values, found {}", index,
                      graph.inputs.size(), arguments.size());
  Scope scope{&graph, std::vector<TensorValue>(graph.tensors.size())};
  for (size_t i = 0; i < arguments.size(); ++i) scope.slots[static_cast<size_t>(graph.inputs[i])] = arguments[i];
  Scope* outer = std::exchange(scope_, &scope);
  ++depth_;
  for (size_t i = 0; i < graph.operators.size(); ++i) convert(graph.operators[i], i);
  std::vector<Value*> values;
  for (int32_t output : graph.outputs) values.push_back(value_of(output));
  --depth_;
  scope_ = outer;
  if (std::find(values.begin(), values.end(), nullptr) != values.end()) return diag.failed();
  return values;
}

std::string Importer::variable_name(const Tensor& tensor) const {
  // Tensor names need not be unique, neither in a subgraph nor between subgraphs, so the number is added.
  auto number = &tensor - scope_->graph->tensors.data();
  return fmt::format("{}.state{}", tensor.name, number);
}

/// An int8 state holds stored - zero_point, so that it starts as zeros while the variable starts as real zero.
Result<size_t> Importer::variable(const std::string& name, const Tensor& like) {
  for (size_t i = 0; i < variables_.size(); ++i)
    if (variables_[i].name == name) return i;
  Variable made{name, nullptr, nullptr, 0};
  Tensor named = like;
  named.name = name;
  RELAXC_TRY(made.parameter, parameter(named));
  made.value = made.parameter;
  if (like.is_variable && like.type == TensorType::INT8 && like.quantization.zero_point.size() == 1)
    made.zero = like.quantization.zero_point[0];
  if (made.zero != 0) {
    // Add the zero point at the start of the function, since the variable may first be used inside a branch.
    relax::Block* block = function_->body().blocks.front();
    relax::GraphBuilder first = block->ops.empty() ? relax::GraphBuilder(module_, ops_, block, diag)
                                                   : relax::GraphBuilder(module_, ops_, block->ops.front(), diag);
    first.location = file_;
    Value* zero = first.scalar(DType::i(8), static_cast<double>(made.zero));
    RELAXC_TRY(made.value, first.call("add", {made.parameter, zero}));
  }
  variables_.push_back(made);
  return variables_.size() - 1;
}

std::vector<Value*> Importer::variable_values() const {
  std::vector<Value*> values;
  for (const Variable& variable : variables_) values.push_back(variable.value);
  return values;
}

void Importer::set_variable_values(const std::vector<Value*>& values) {
  for (size_t i = 0; i < values.size(); ++i) variables_[i].value = values[i];
}

/// Returns the outputs, then the variables after the run, each of which is the next state of its parameter.
Status Importer::results(const Subgraph& graph) {
  std::vector<Value*> values;
  std::vector<std::string> names;
  if (graph.outputs.empty() && variables_.empty())
    return diag.error(file_, Kind::malformed_model, "the model has no outputs");
  bool ok = true;
  for (int32_t output : graph.outputs) {
    Value* value = value_of(output);
    ok = ok && value != nullptr;
    values.push_back(value);
    names.push_back(graph.tensors[static_cast<size_t>(output)].name);
  }
  for (Variable& variable : variables_) {
    if (variable.zero != 0) {
      RELAXC_TRY(variable.value,
                 builder_->call("subtract", {variable.value, builder_->scalar(DType::i(8), double(variable.zero))}));
    }
    values.push_back(variable.value);
    names.push_back(variable.name + "_next");
    function_->states.push_back({variable.parameter->name, names.back()});
  }
  if (!ok) return diag.failed();
  function_->body().yield->add_operand(values.size() == 1 ? values[0] : builder_->tuple(values));
  function_->output_names = std::move(names);
  return Done{};
}

/// Records scales and zero points of inputs and outputs, which the C header and the descriptor state.
void Importer::describe_quantization(const Subgraph& graph) {
  auto describe = [&](std::map<size_t, tir::Quantization>& described, const std::vector<int32_t>& tensors) {
    for (size_t i = 0; i < tensors.size(); ++i) {
      const Tensor& tensor = graph.tensors[static_cast<size_t>(tensors[i])];
      const Quantization& quant = tensor.quantization;
      bool stored =
          tensor.type == TensorType::INT8 || tensor.type == TensorType::UINT8 || tensor.type == TensorType::INT16;
      if (!stored || quant.scale.empty()) continue;
      bool by_channel = quant.scale.size() > 1;
      described[i] = {.axis = by_channel ? quant.axis : -1,
                      .scale = quant.scale,
                      .zero_point = {quant.zero_point.begin(), quant.zero_point.end()}};
    }
  };
  describe(function_->quantized.inputs, graph.inputs);
  describe(function_->quantized.outputs, graph.outputs);
}

}  // namespace relaxc::tflite
