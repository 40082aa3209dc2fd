// control.cpp: branches and loops whose bodies are subgraphs, and variables.
//
// A subgraph becomes a region where it is called. Variables that it assigns are additional results of a branch; a loop
// carries the variables that its body assigns, so the body is converted until all of them are known.
#include <algorithm>

#include "frontends/tflite/importer.h"
#include "frontends/tflite/operators.h"

namespace relaxc::tflite::control_family {
namespace {

using relax::Op;
using relax::Region;

/// Returns the slots of the node's inputs from `first` on: values, or handles of variables.
std::optional<std::vector<TensorValue>> arguments_of(Node& node, size_t first) {
  std::vector<TensorValue> slots;
  for (size_t i = first; i < node.inputs(); ++i) {
    TensorValue slot;
    if (node.has(i)) slot = node.importer.scope().slots[static_cast<size_t>(node.op.inputs[i])];
    if (slot.handle.empty()) slot.value = node.input(i);
    slots.push_back(slot);
  }
  return node.ok() ? std::optional(slots) : std::nullopt;
}

Value* condition_of(Node& node, Value* condition) {
  if (condition != nullptr && !condition->dtype().is_bool()) return node.refuse("the condition must be bool");
  return node.reshape(condition, {});
}

bool same_info(const Value* a, const Value* b) {
  const auto *x = a->info->as<relax::TensorInfo>(), *y = b->info->as<relax::TensorInfo>();
  return x != nullptr && y != nullptr && x->dtype == y->dtype && x->shape && y->shape && *x->shape == *y->shape;
}

/// A converted branch: its outputs, and the values of all variables at its end.
struct Branch {
  std::vector<Value*> outputs, variables;
};

std::optional<Branch> fill_branch(Node& node, Op* op, int64_t subgraph, const std::vector<TensorValue>& arguments) {
  Importer& importer = node.importer;
  std::vector<Value*> before = importer.variable_values();
  Region* region = importer.function().make_region(op);
  Importer::Inside inside(importer, importer.function().make_block(region, true));
  Result<std::vector<Value*>> outputs = importer.inline_subgraph(subgraph, arguments);
  Branch branch{outputs ? *outputs : std::vector<Value*>(), importer.variable_values()};
  importer.set_variable_values(before);
  if (!outputs) node.fail();
  return outputs ? std::optional(branch) : std::nullopt;
}

Status if_operator(Node& node) {
  const auto& o = node.options<tflite_schema::IfOptions>();
  Importer& importer = node.importer;
  Value* condition = condition_of(node, node.input(0));
  std::optional<std::vector<TensorValue>> arguments = arguments_of(node, 1);
  if (!arguments) return node.status();
  Op* op = node.builder().append(relax::OpKind::kIf, {condition});
  std::optional<Branch> a = fill_branch(node, op, o.then_subgraph_index(), *arguments);
  if (!a) return node.status();
  std::optional<Branch> b = fill_branch(node, op, o.else_subgraph_index(), *arguments);
  if (!b) return node.status();
  // A variable that only one branch uses keeps its previous value in the other.
  std::vector<Value*> before = importer.variable_values();
  for (Branch* branch : {&*a, &*b})
    branch->variables.insert(branch->variables.end(),
                             before.begin() + static_cast<std::ptrdiff_t>(branch->variables.size()), before.end());
  if (a->outputs.size() != node.outputs() || b->outputs.size() != node.outputs())
    return node.error(Kind::wrong_arity, "the branches give {} and {} values for {} outputs", a->outputs.size(),
                      b->outputs.size(), node.outputs());
  auto joined = [&](Value* x, Value* y) -> Value* {
    if (!same_info(x, y))
      return node.refuse("the branches give {} and {}; type and shape must agree", relax::to_string(x->info),
                         relax::to_string(y->info));
    op->regions[0]->yield->add_operand(x);
    op->regions[1]->yield->add_operand(y);
    return importer.function().make_result(op, {}, x->info);
  };
  for (size_t i = 0; i < node.outputs(); ++i) RELAXC_DO(node.set(i, joined(a->outputs[i], b->outputs[i])));
  for (size_t i = 0; i < before.size(); ++i)
    if (a->variables[i] != before[i] || b->variables[i] != before[i]) {
      Value* value = joined(a->variables[i], b->variables[i]);
      if (value == nullptr) return node.status();
      importer.variables()[i].value = value;
    }
  return node.status();
}

/// Converts one WHILE operator.
class WhileConverter {
 public:
  explicit WhileConverter(Node& node)
      : node_(node), o_(node.options<tflite_schema::WhileOptions>()), importer_(node.importer) {}

  Status run() {
    std::optional<std::vector<TensorValue>> arguments = arguments_of(node_, 0);
    if (!arguments) return node_.status();
    arguments_ = *arguments;
    if (arguments_.size() != node_.outputs())
      return node_.error(Kind::wrong_arity, "it has {} inputs and {} outputs", arguments_.size(), node_.outputs());
    // Ends, since each attempt that is not the last adds at least one carried variable.
    for (;;) {
      std::optional<bool> settled = attempt();
      if (!settled) return node_.status();
      if (*settled) return finish();
    }
  }

 private:
  /// Emits the condition for `slots` at the insertion point, and returns its value.
  Value* condition(const std::vector<TensorValue>& slots) {
    Result<std::vector<Value*>> found = importer_.inline_subgraph(o_.cond_subgraph_index(), slots);
    if (!found) {
      node_.fail();
      return nullptr;
    }
    if (found->size() != 1) return node_.refuse("the condition gives {} values", found->size());
    return condition_of(node_, (*found)[0]);
  }

  /// Converts the body once; returns false if it assigned a variable that is not carried.
  std::optional<bool> attempt() {
    std::vector<Value*> before = importer_.variable_values();
    Value* start = condition(arguments_);
    if (!node_.ok()) return std::nullopt;
    std::vector<Value*> operands{nullptr, start};
    for (const TensorValue& slot : arguments_)
      if (slot.handle.empty()) operands.push_back(slot.value);
    for (size_t i : carried_) operands.push_back(before[i]);
    op_ = node_.builder().append(relax::OpKind::kLoop, operands);
    bool filled = fill(operands);
    std::vector<Value*> after = importer_.variable_values();
    bool settled = true;
    for (size_t i = 0; i < after.size(); ++i) {
      Value* was = i < inside_.size() ? inside_[i] : nullptr;
      bool assigned = i < inside_.size() ? after[i] != was : after[i] != importer_.variables()[i].parameter;
      if (!assigned || std::find(carried_.begin(), carried_.end(), i) != carried_.end()) continue;
      carried_.push_back(i);
      settled = false;
    }
    importer_.set_variable_values(before);
    for (size_t i = before.size(); i < after.size(); ++i)
      importer_.variables()[i].value = importer_.variables()[i].parameter;
    if (!filled) return std::nullopt;
    if (!settled) {
      Op* made = op_;
      relax::erase_ops(*node_.builder().block()->parent, [made](Op* other) { return other == made; });
    }
    return settled;
  }

  bool fill(const std::vector<Value*>& operands) {
    relax::Function& function = importer_.function();
    Region* region = function.make_region(op_);
    arith::Var iteration = importer_.module().context().var("iteration");
    function.facts.bound(iteration, arith::Range::at_least(0));
    op_->binds.push_back(iteration);
    function.make_argument(region, "iteration",
                           relax::prim_info(importer_.module().context(), DType::index(), iteration));
    std::vector<Value*> made;
    for (size_t i = 2; i < operands.size(); ++i)
      made.push_back(function.make_argument(region, operands[i]->name, operands[i]->info));
    std::vector<TensorValue> slots = arguments_;
    size_t at = 0;
    for (TensorValue& slot : slots)
      if (slot.handle.empty()) slot.value = made[at++];
    inside_ = importer_.variable_values();
    for (size_t i : carried_) inside_[i] = made[at++];
    importer_.set_variable_values(inside_);
    Importer::Inside inside(importer_, function.make_block(region, true));
    Result<std::vector<Value*>> outputs = importer_.inline_subgraph(o_.body_subgraph_index(), slots);
    if (!outputs) node_.fail();
    return outputs && give(*outputs, slots, region);
  }

  /// Sets the region's results: whether to continue, and the carried values.
  bool give(const std::vector<Value*>& outputs, std::vector<TensorValue> slots, Region* region) {
    if (outputs.size() != slots.size()) {
      node_.error(Kind::wrong_arity, "the body gives {} values for {}", outputs.size(), slots.size());
      return false;
    }
    for (size_t i = 0; i < slots.size(); ++i) {
      if (!slots[i].handle.empty()) continue;
      if (!same_info(outputs[i], slots[i].value)) {
        node_.error(Kind::unsupported, "the body makes {} of {}; type and shape must stay",
                    relax::to_string(outputs[i]->info), relax::to_string(slots[i].value->info));
        return false;
      }
      slots[i].value = outputs[i];
    }
    Value* goes_on = condition(slots);
    if (!node_.ok()) return false;
    region->yield->add_operand(goes_on);
    for (const TensorValue& slot : slots)
      if (slot.handle.empty()) region->yield->add_operand(slot.value);
    for (size_t i : carried_) region->yield->add_operand(importer_.variables()[i].value);
    return true;
  }

  Status finish() {
    relax::Function& function = importer_.function();
    std::vector<Value*> results;
    for (size_t i = 2; i < op_->operands().size(); ++i)
      results.push_back(function.make_result(op_, {}, op_->operand(i)->info));
    size_t at = 0;
    for (size_t i = 0; i < arguments_.size(); ++i) {
      if (arguments_[i].handle.empty())
        RELAXC_DO(node_.set(i, results[at++]));
      else
        importer_.scope().slots[static_cast<size_t>(node_.op.outputs[i])] = arguments_[i];
    }
    for (size_t i : carried_) importer_.variables()[i].value = results[at++];
    return node_.status();
  }

  Node& node_;
  const tflite_schema::WhileOptions& o_;
  Importer& importer_;
  std::vector<TensorValue> arguments_;
  std::vector<size_t> carried_;  ///< indices of variables
  std::vector<Value*> inside_;   ///< values of the variables at the start of the body
  Op* op_ = nullptr;
};

Status while_operator(Node& node) {
  return WhileConverter(node).run();
}

/// Returns whether a value is a constant of zeros.
bool is_zeros(const Value* value) {
  if (value->op == nullptr || value->op->kind != relax::OpKind::kConstant) return false;
  bool zeros = true;
  value->op->constant->with_bytes([&](std::span<const std::byte> bytes) {
    zeros = std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) { return byte == std::byte{0}; });
  });
  return zeros;
}

/// The subgraph's assignments are the variables' initial values. States start as zeros; if a variable starts otherwise,
/// a further state, has_run, selects the initial value in the first run.
Status call_once(Node& node) {
  Importer& importer = node.importer;
  int64_t index = node.options<tflite_schema::CallOnceOptions>().init_subgraph_index();
  std::vector<Value*> before = importer.variable_values();
  Result<std::vector<Value*>> done = importer.inline_subgraph(index, {});
  if (!done) return node.diag.failed();
  Value* has_run = nullptr;
  size_t flag = 0, count = importer.variables().size();
  for (size_t i = 0; i < count; ++i) {
    Value* now = importer.variables()[i].value;
    Value* was = i < before.size() ? before[i] : importer.variables()[i].parameter;
    if (now == was) continue;
    if (is_zeros(now)) {
      importer.variables()[i].value = was;
      continue;
    }
    if (has_run == nullptr) {
      Tensor like;
      like.type = TensorType::BOOL;
      RELAXC_TRY(flag, importer.variable("has_run" + std::to_string(index), like));
      has_run = importer.variables()[flag].value;
    }
    importer.variables()[i].value = node.where(has_run, was, now);
  }
  if (has_run != nullptr) importer.variables()[flag].value = node.number(DType::boolean(), 1);
  return node.status();
}

Status var_handle(Node& node) {
  const auto& o = node.options<tflite_schema::VarHandleOptions>();
  auto text = [](const flatbuffers::String* s) { return s == nullptr ? std::string() : s->str(); };
  std::string container = text(o.container()), name = text(o.shared_name());
  TensorValue& slot = node.importer.scope().slots[static_cast<size_t>(node.op.outputs[0])];
  slot.handle = container.empty() ? name : container + "." + name;
  if (slot.handle.empty()) slot.handle = "variable";
  return Done{};
}

/// Returns the variable that input 0 is a handle of; a new one gets the type and shape of `tensor`.
std::optional<size_t> variable_of(Node& node, const Tensor& tensor) {
  const TensorValue& slot = node.importer.scope().slots[static_cast<size_t>(node.op.inputs[0])];
  if (slot.handle.empty()) {
    node.error(Kind::unsupported, "'{}' is not the handle of a variable", node.in(0).name);
    return std::nullopt;
  }
  Result<size_t> found = node.importer.variable(slot.handle, tensor);
  if (!found) node.fail();
  return found ? std::optional(*found) : std::nullopt;
}

Status read_variable(Node& node) {
  std::optional<size_t> variable = variable_of(node, node.out());
  if (!variable) return node.status();
  return node.set(node.importer.variables()[*variable].value);
}

Status assign_variable(Node& node) {
  Value* value = node.input(1);
  std::optional<size_t> variable = variable_of(node, node.in(1));
  if (!variable || value == nullptr) return node.status();
  Variable& assigned = node.importer.variables()[*variable];
  if (!same_info(value, assigned.parameter))
    return node.error(Kind::unsupported, "variable '{}' of {} becomes {}; type and shape must stay", assigned.name,
                      relax::to_string(assigned.parameter->info), relax::to_string(value->info));
  assigned.value = value;
  return node.status();
}

constexpr Row kRows[] = {
    {.code = BuiltinOperator::IF, .convert = if_operator, .max_inputs = kMany, .outputs = -1},
    {.code = BuiltinOperator::WHILE,
     .convert = while_operator,
     .max_inputs = kMany,
     .outputs = -1,
     .note = "carried values must keep their shapes"},
    {.code = BuiltinOperator::CALL_ONCE, .convert = call_once, .min_inputs = 0, .max_inputs = 0, .outputs = 0},
    {.code = BuiltinOperator::VAR_HANDLE, .convert = var_handle, .min_inputs = 0, .max_inputs = 0},
    {.code = BuiltinOperator::READ_VARIABLE, .convert = read_variable},
    {.code = BuiltinOperator::ASSIGN_VARIABLE,
     .convert = assign_variable,
     .min_inputs = 2,
     .max_inputs = 2,
     .outputs = 0},
};

}  // namespace
}  // namespace relaxc::tflite::control_family

RELAXC_TFLITE_OPERATORS(control, kRows)
