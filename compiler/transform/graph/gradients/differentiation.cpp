// differentiation.cpp: see differentiation.h.
#include "compiler/transform/graph/gradients/differentiation.h"

#include <algorithm>

#include "compiler/transform/graph/gradients/loop.h"

namespace relaxc::gradients {

using namespace relax;

bool Adjoint::none() const {
  return tensor == nullptr && std::all_of(fields.begin(), fields.end(), [](const Adjoint& f) { return f.none(); });
}

namespace {

/// Whether a value of this type can have a derivative.
bool has_floats(Info info) {
  if (const auto* tensor = info->as<TensorInfo>()) return tensor->dtype && tensor->dtype->is_float();
  const auto* tuple = info->as<TupleInfo>();
  return tuple != nullptr && std::any_of(tuple->fields.begin(), tuple->fields.end(), has_floats);
}

/// Names what an op without a gradient does.
std::string what_is(const Op& op) {
  if (op.kind == OpKind::kOperator) return "'" + std::string(op.def->name.text()) + "'";
  if (op.kind == OpKind::kIf) return "a branch";
  if (op.kind == OpKind::kLoop) return "a loop";
  return op.callee.empty() ? "a call" : "a call of '" + op.callee + "'";
}

}  // namespace

bool is_float_tensor(const Value& value) {
  return value.info->as<TensorInfo>() != nullptr && has_floats(value.info);
}

Status Differentiation::run(Value& target, const std::vector<Value*>& parameters) {
  active_.insert(parameters.begin(), parameters.end());
  const std::vector<Op*> ops = ops_of(function_.body());
  mark(ops);
  GraphBuilder builder(module_, context_.ops, last_block(), context_.diag);
  if (active_.count(&target) != 0) adjoints_[&target].tensor = builder.scalar(target.dtype(), 1);
  RELAXC_DO(sweep(builder, ops));
  builder.location = function_.location;
  return give_results(builder, parameters);
}

Block* Differentiation::last_block() {
  Region& body = function_.body();
  return body.blocks.empty() ? function_.make_block(&body, true) : body.blocks.back();
}

std::vector<Value*> values_read_inside(const Op& op) {
  std::vector<Value*> values;
  for (const Region* region : op.regions) {
    values.insert(values.end(), region->results().begin(), region->results().end());
    for (const Op* inner : ops_of(*region, true))
      values.insert(values.end(), inner->operands().begin(), inner->operands().end());
  }
  std::erase(values, nullptr);
  return values;
}

std::vector<Value*> Differentiation::read_values(const Op& op) {
  std::vector<Value*> values = op.operands();
  std::erase(values, nullptr);
  const std::vector<Value*> inside = values_read_inside(op);
  values.insert(values.end(), inside.begin(), inside.end());
  return values;
}

bool Differentiation::reads_active(const Op& op) const {
  const std::vector<Value*> values = read_values(op);
  return std::any_of(values.begin(), values.end(), [&](const Value* value) { return active_.count(value) != 0; });
}

void Differentiation::mark(const std::vector<Op*>& ops) {
  for (const Op* op : ops)
    if (reads_active(*op))
      for (Value* result : op->results)
        if (has_floats(result->info)) active_.insert(result);
}

Status Differentiation::sweep(GraphBuilder& builder, const std::vector<Op*>& ops) {
  bool ok = true;
  for (size_t i = ops.size(); i-- > 0;) {
    builder.location = ops[i]->location;
    ok &= bool(propagate(builder, *ops[i]));
  }
  return ok ? Status(Done{}) : Status(context_.diag.failed());
}

Status Differentiation::propagate(GraphBuilder& builder, Op& op) {
  std::vector<Adjoint> by_results;
  for (const Value* result : op.results) {
    auto known = adjoints_.find(result);
    by_results.push_back(known == adjoints_.end() ? Adjoint() : known->second);
  }
  auto none = [](const Adjoint& adjoint) { return adjoint.none(); };
  if (std::all_of(by_results.begin(), by_results.end(), none) || !reads_active(op)) return Done{};
  switch (op.kind) {
    case OpKind::kOperator:
      if (step_ != nullptr && step_->takes_row(op, step_->now))
        return sum(builder, step_->rows[op.operand(0)], by_results[0]);
      return through_operator(builder, op, by_results);
    case OpKind::kTuple:
      for (size_t i = 0; i < op.operands().size(); ++i)
        if (i < by_results[0].fields.size()) RELAXC_DO(add(builder, op.operand(i), by_results[0].fields[i]));
      return Done{};
    case OpKind::kTupleGet: {
      Adjoint whole;
      whole.fields.resize(op.operand(0)->info->as<TupleInfo>()->fields.size());
      whole.fields[static_cast<size_t>(op.attrs.integer("index"))] = by_results[0];
      return add(builder, op.operand(0), whole);
    }
    case OpKind::kMatchCast:
      return through_cast(builder, op, by_results[0]);
    case OpKind::kIf:
      return through_branch(builder, op, by_results);
    case OpKind::kLoop:
      return through_loop(builder, op, by_results);
    default:
      return refuse(op);
  }
}

Status Differentiation::refuse(const Op& op, std::string_view what) {
  context_.diag.error(op.location, Kind::unsupported, "there is no gradient of {}{}{}, on which '{}' depends",
                      what_is(op), what.empty() ? "" : " ", what, original_.name);
  return pass_on(op);
}

Failure Differentiation::pass_on(const Op& op) {
  for (Value* value : read_values(op))
    if (active_.count(value) != 0 && is_float_tensor(*value)) adjoints_[value].tensor = value;
  return context_.diag.failed();
}

Status Differentiation::through_operator(GraphBuilder& builder, const Op& op, const std::vector<Adjoint>& by_results) {
  if (op.def->gradient == nullptr) return refuse(op);
  std::vector<Value*> given;
  for (const Adjoint& adjoint : by_results) given.push_back(adjoint.tensor);
  Result<std::vector<Value*>> made_or_failed = op.def->gradient(builder, op, given);
  if (!made_or_failed) return pass_on(op);
  const std::vector<Value*>& made = *made_or_failed;
  RELAXC_CHECK(made.size() == op.operands().size(),
               "the gradient of " + std::string(op.def->name.text()) + " has another number of operands");
  for (size_t i = 0; i < made.size(); ++i) RELAXC_DO(add(builder, op.operand(i), {made[i]}));
  return Done{};
}

Status Differentiation::through_cast(GraphBuilder& builder, const Op& op, const Adjoint& by_result) {
  const auto* tensor = op.operand(0)->info->as<TensorInfo>();
  if (tensor == nullptr) return add(builder, op.operand(0), by_result);
  if (!tensor->shape) return refuse(op);
  RELAXC_TRY(Value * same, builder.call("reshape", {by_result.tensor, builder.shape(*tensor->shape)}));
  return add(builder, op.operand(0), {same});
}

Status Differentiation::add(GraphBuilder& builder, const Value* value, const Adjoint& more) {
  if (value == nullptr || active_.count(value) == 0 || more.none()) return Done{};
  return sum(builder, adjoints_[value], more);
}

Status Differentiation::sum(GraphBuilder& builder, Adjoint& into, const Adjoint& more) {
  if (more.tensor != nullptr && into.tensor != nullptr) {
    RELAXC_TRY(into.tensor, builder.call("add", {into.tensor, more.tensor}));
  } else if (more.tensor != nullptr) {
    into.tensor = more.tensor;
  }
  into.fields.resize(std::max(into.fields.size(), more.fields.size()));
  for (size_t i = 0; i < more.fields.size(); ++i) RELAXC_DO(sum(builder, into.fields[i], more.fields[i]));
  return Done{};
}

Status Differentiation::give_results(GraphBuilder& builder, const std::vector<Value*>& parameters) {
  std::vector<Value*> derivatives;
  for (const Value* parameter : parameters) {
    Value* one = adjoints_[parameter].tensor;
    if (one == nullptr) {
      RELAXC_TRY(one, builder.call("zeros", {builder.shape(parameter->shape())}, {{"dtype", parameter->dtype()}}));
    } else if (!one->name.empty() || one->op == nullptr || std::count(derivatives.begin(), derivatives.end(), one)) {
      RELAXC_TRY(one, builder.call("identity", {one}));
    }
    one->name = parameter->name + "_adjoint";
    derivatives.push_back(one);
  }
  const std::vector<Value*> results = function_.body().results();
  Op* yield = function_.body().yield;
  yield->drop_operands();
  yield->add_operand(results.size() == 1 ? results[0] : builder.tuple(results));
  yield->add_operand(builder.tuple(derivatives));
  return Done{};
}

}  // namespace relaxc::gradients
