// gradient.cpp: differentiates functions.
//
// A program that trains needs, beside a loss, its derivatives by the weights. Reverse mode computes all of them in one
// pass over the ops from the last to the first: each op gets the derivatives of the target by its results, and its row
// in the op table (OpDef::gradient) gives those by its operands, as operators. They go through the same passes as the
// rest, so that what the gradient reads of the forward computation is fused, shared and planned with it, and
// derivatives that no result needs are dead code.
//
// The gradient is a function of its own, NAME_adjoint, as TVM has it: it computes the function's results again and
// returns them with the derivatives. Operators that others define have the gradient of their expansion. Derivatives are
// added in the order of the ops, so the same program gives the same bytes. What depends on no asked parameter, and what
// is no float, has no derivative, and nothing is asked of such ops.
//
// Not supported, and reported: loops, branches, and calls of functions on the way. Checkpoints, with which TVM trades
// memory for time, have no counterpart.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "compiler/relax/builder.h"
#include "compiler/relax/copy.h"
#include "compiler/transform/graph/rewriting/expansion.h"
#include "compiler/transform/passes.h"

namespace relaxc {
namespace {

using namespace relax;

/// The derivative by a value: of a tensor, or of the fields of a tuple; null where it is 0.
struct Adjoint {
  Value* tensor = nullptr;
  std::vector<Adjoint> fields = {};
  bool none() const {
    return tensor == nullptr && std::all_of(fields.begin(), fields.end(), [](const Adjoint& f) { return f.none(); });
  }
};

/// Whether a value of this type can have a derivative.
bool has_floats(Info info) {
  if (const auto* tensor = info->as<TensorInfo>()) return tensor->dtype && tensor->dtype->is_float();
  const auto* tuple = info->as<TupleInfo>();
  return tuple != nullptr && std::any_of(tuple->fields.begin(), tuple->fields.end(), has_floats);
}

bool is_float_tensor(const Value& value) {
  return value.info->as<TensorInfo>() != nullptr && has_floats(value.info);
}

/// Names what an op without a gradient does.
std::string what_is(const Op& op) {
  if (op.kind == OpKind::kOperator) return "'" + std::string(op.def->name.text()) + "'";
  if (op.kind == OpKind::kIf) return "a branch";
  if (op.kind == OpKind::kLoop) return "a loop";
  return op.callee.empty() ? "a call" : "a call of '" + op.callee + "'";
}

class Differentiation {
 public:
  Differentiation(Module& module, const Function& original, Function& adjoint, PassContext& context)
      : module_(module), original_(original), function_(adjoint), context_(context) {}

  /// Appends the derivatives of `target` by `parameters` to the function and makes them its results.
  Status run(Value& target, const std::vector<Value*>& parameters) {
    active_.insert(parameters.begin(), parameters.end());
    const std::vector<Op*> ops = ops_of(function_.body());
    for (const Op* op : ops)
      if (reads_active(*op))
        for (Value* result : op->results)
          if (has_floats(result->info)) active_.insert(result);
    GraphBuilder builder(module_, context_.ops, last_block(), context_.diag);
    if (active_.count(&target) != 0) adjoints_[&target].tensor = builder.scalar(target.dtype(), 1);
    bool ok = true;
    for (size_t i = ops.size(); i-- > 0;) {
      builder.location = ops[i]->location;
      ok &= bool(propagate(builder, *ops[i]));
    }
    builder.location = function_.location;
    if (!ok) return context_.diag.failed();
    return give_results(builder, parameters);
  }

 private:
  Block* last_block() {
    Region& body = function_.body();
    return body.blocks.empty() ? function_.make_block(&body, true) : body.blocks.back();
  }

  /// Returns the operands of the op, of ops in its regions, and the results of these.
  static std::vector<Value*> read_values(const Op& op) {
    std::vector<Value*> values = op.operands();
    for (const Region* region : op.regions) {
      values.insert(values.end(), region->results().begin(), region->results().end());
      for (const Op* inner : ops_of(*region, true))
        values.insert(values.end(), inner->operands().begin(), inner->operands().end());
    }
    std::erase(values, nullptr);
    return values;
  }

  bool reads_active(const Op& op) const {
    const std::vector<Value*> values = read_values(op);
    return std::any_of(values.begin(), values.end(), [&](const Value* value) { return active_.count(value) != 0; });
  }

  /// Adds the derivatives by the operands of one op, of whose results they are known.
  Status propagate(GraphBuilder& builder, const Op& op) {
    std::vector<Adjoint> by_results;
    for (const Value* result : op.results) {
      auto known = adjoints_.find(result);
      by_results.push_back(known == adjoints_.end() ? Adjoint() : known->second);
    }
    auto none = [](const Adjoint& adjoint) { return adjoint.none(); };
    if (std::all_of(by_results.begin(), by_results.end(), none) || !reads_active(op)) return Done{};
    switch (op.kind) {
      case OpKind::kOperator:
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
      default:
        return refuse(op);
    }
  }

  Status refuse(const Op& op) {
    context_.diag.error(op.location, Kind::unsupported, "there is no gradient of {}, on which '{}' depends",
                        what_is(op), original_.name);
    return pass_on(op);
  }

  /// After an error at the op: what it reads gets a derivative, of the right type but no meaning, so that the ops
  /// before it are looked at as well.
  Failure pass_on(const Op& op) {
    for (Value* value : read_values(op))
      if (active_.count(value) != 0 && is_float_tensor(*value)) adjoints_[value].tensor = value;
    return context_.diag.failed();
  }

  Status through_operator(GraphBuilder& builder, const Op& op, const std::vector<Adjoint>& by_results) {
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

  /// A cast only says more of a shape, so the derivative gets the shape that is known of the operand.
  Status through_cast(GraphBuilder& builder, const Op& op, Adjoint by_result) {
    const auto* tensor = op.operand(0)->info->as<TensorInfo>();
    if (tensor == nullptr) return add(builder, op.operand(0), by_result);
    if (!tensor->shape) return refuse(op);
    RELAXC_TRY(Value * same, builder.call("reshape", {by_result.tensor, builder.shape(*tensor->shape)}));
    return add(builder, op.operand(0), {same});
  }

  Status add(GraphBuilder& builder, const Value* value, const Adjoint& more) {
    if (value == nullptr || active_.count(value) == 0 || more.none()) return Done{};
    return sum(builder, adjoints_[value], more);
  }

  Status sum(GraphBuilder& builder, Adjoint& into, const Adjoint& more) {
    if (more.tensor != nullptr && into.tensor != nullptr) {
      RELAXC_TRY(into.tensor, builder.call("add", {into.tensor, more.tensor}));
    } else if (more.tensor != nullptr) {
      into.tensor = more.tensor;
    }
    into.fields.resize(std::max(into.fields.size(), more.fields.size()));
    for (size_t i = 0; i < more.fields.size(); ++i) RELAXC_DO(sum(builder, into.fields[i], more.fields[i]));
    return Done{};
  }

  /// Makes the function return (results, (derivatives)).
  Status give_results(GraphBuilder& builder, const std::vector<Value*>& parameters) {
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

  Module& module_;
  const Function& original_;
  Function& function_;
  PassContext& context_;
  std::unordered_set<const Value*> active_;  ///< values that depend on a parameter and can have a derivative
  std::unordered_map<const Value*, Adjoint> adjoints_;
};

/// Returns the numbers of the parameters by which to differentiate.
Result<std::vector<size_t>> asked_parameters(const Function& function, PassContext& context) {
  const std::vector<Value*>& all = function.body().arguments;
  std::vector<size_t> asked;
  if (function.gradient->parameters.empty()) {
    for (size_t i = 0; i < all.size(); ++i)
      if (is_float_tensor(*all[i])) asked.push_back(i);
    if (asked.empty())
      return context.diag.error(function.location, Kind::invalid_value, "'{}' has no parameter of a float dtype",
                                function.name);
    return asked;
  }
  bool ok = true;
  for (const std::string& name : function.gradient->parameters) {
    auto at = std::find_if(all.begin(), all.end(), [&](const Value* value) { return value->name == name; });
    const bool fits = at != all.end() && is_float_tensor(**at);
    if (!fits)
      context.diag.error(function.location, Kind::invalid_value, "the gradient of '{}' by '{}', which is {}",
                         function.name, name,
                         at == all.end() ? "not a parameter" : "not a float tensor but " + to_string((*at)->info));
    const auto index = static_cast<size_t>(at - all.begin());
    const bool twice = std::count(asked.begin(), asked.end(), index) != 0;
    if (fits && twice)
      context.diag.error(function.location, Kind::redefinition, "the gradient of '{}' names '{}' twice", function.name,
                         name);
    ok &= fits && !twice;
    asked.push_back(index);
  }
  if (!ok) return context.diag.failed();
  return asked;
}

/// Fails unless the target is a float scalar.
Status check_target(const Function& function, PassContext& context) {
  const std::vector<Value*>& results = function.body().results();
  const int64_t target = function.gradient->target;
  if (target < 0 || target >= static_cast<int64_t>(results.size()))
    return context.diag.error(function.location, Kind::invalid_value,
                              "the gradient of result {} of '{}', which has {} results", target, function.name,
                              results.size());
  const Value& value = *results[static_cast<size_t>(target)];
  const auto* tensor = value.info->as<TensorInfo>();
  if (tensor != nullptr && tensor->ndim == 0 && is_float_tensor(value)) return Done{};
  return context.diag.error(function.location, Kind::invalid_value,
                            "the gradient of result {} of '{}' must be that of a float scalar, found {}", target,
                            function.name, to_string(value.info));
}

Status differentiate(Module& module, Function& function, PassContext& context) {
  const std::string name = function.name + "_adjoint";
  if (module.find_function(name) != nullptr || module.find_prim_func(name) != nullptr)
    return context.diag.error(function.location, Kind::redefinition, "the gradient of '{}' is '{}', which is defined",
                              function.name, name);
  RELAXC_DO(check_target(function, context));
  RELAXC_TRY(std::vector<size_t> asked, asked_parameters(function, context));
  Function* adjoint = copy_function(module, function, name);
  adjoint->is_private = false;
  adjoint->num_input = function.num_input;
  RELAXC_DO(expand_operators(module, *adjoint, context, [](const OpDef& def) { return def.gradient == nullptr; }));
  std::vector<Value*> parameters;
  for (size_t index : asked) parameters.push_back(adjoint->body().arguments[index]);
  if (!function.output_names.empty()) {
    adjoint->output_names = function.output_names;
    for (const Value* parameter : parameters) adjoint->output_names.push_back(parameter->name + "_adjoint");
  }
  Value* target = adjoint->body().results()[static_cast<size_t>(function.gradient->target)];
  RELAXC_DO(Differentiation(module, function, *adjoint, context).run(*target, parameters));
  function.gradient.reset();
  return Done{};
}

}  // namespace

Result<Changed> gradient(relax::Module& module, PassContext& context) {
  Changed changed = Changed::kNo;
  bool ok = true;
  for (Function* function : module.functions()) {
    if (!function->gradient) continue;
    ok &= bool(differentiate(module, *function, context));
    changed = Changed::kYes;
  }
  if (!ok) return context.diag.failed();
  return changed;
}

}  // namespace relaxc
