// interpret_operator.cpp: runs operators by their meaning.
//
// A definition becomes a prim func once and runs through the Evaluator with concrete sizes; an op with `expand` becomes
// a function of its own once, and that is interpreted.
#include "compiler/relax/builder.h"
#include "compiler/relax/interpret_frame.h"
#include "compiler/relax/origin_text.h"

namespace relaxc::relax::interpreter {

bool Frame::run_operator(const Op& op) {
  if (op.def->role == Role::kNode) return run_node(op);
  return op.def->expand != nullptr ? run_expansion(op) : run_definition(op);
}

bool Frame::run_definition(const Op& op) {
  auto [it, made] = program_.definitions.try_emplace(&op);
  if (made) it->second = define_op(program_.module.context(), op, std::string(op.def->name.text()));
  const tir::PrimFunc& function = it->second;
  arith::Substitution bounds;
  for (size_t k = 0; k < op.binds.size(); ++k)
    if (Expr bound = op.def->upper_bound(op, k)) bounds[op.binds[k]] = bound;

  std::vector<void*> addresses;
  for (const Value* operand : op.operands())
    if (operand != nullptr && operand->info->as<TensorInfo>() != nullptr)
      addresses.push_back(address(*values_.of(operand)[0]));
  std::vector<std::shared_ptr<HostTensor>> outputs(op.results.size());
  for (size_t k = 0; k < op.results.size(); ++k) {
    const auto* tensor = op.results[k]->info->as<TensorInfo>();
    if (tensor == nullptr) continue;
    std::vector<Expr> shape = *tensor->shape;
    for (Expr& dim : shape) dim = arith::substitute(dim, bounds);
    if (!values_.allocate(*tensor->dtype, shape, outputs[k], "result of " + label(op))) return false;
    addresses.push_back(address(*outputs[k]));
  }
  std::vector<int64_t> bound_values(op.binds.size());
  for (int64_t& value : bound_values) addresses.push_back(&value);
  std::vector<Expr> vars;
  for (const tir::Param& param : function.params)
    if (param.buffer == nullptr) vars.push_back(param.var);
  for (Var var : function.symbols) vars.push_back(var);
  std::vector<int64_t> scalars;
  if (!values_.symbols().evaluate_dims(vars, scalars, label(op))) return false;

  tir::RunStatus status = program_.evaluator.run(function, addresses, scalars);
  if (!status) return values_.fail({status, origin_text(op)});
  return bind_definition(op, bound_values, outputs);
}

/// Sets the values and shapes of a definition's results, now that the symbols that the op binds are known.
bool Frame::bind_definition(const Op& op, const std::vector<int64_t>& bound_values,
                            const std::vector<std::shared_ptr<HostTensor>>& outputs) {
  for (size_t k = 0; k < op.binds.size(); ++k) {
    values_.symbols().set(op.binds[k], bound_values[k]);
    Expr bound = op.def->upper_bound(op, k);
    std::optional<int64_t> most = bound ? values_.symbols().evaluate(bound) : std::nullopt;
    if (most && bound_values[k] > *most) return values_.fail(kDataBound, origin_text(op), *most, bound_values[k]);
  }
  for (size_t k = 0; k < op.results.size(); ++k) {
    const Value* result = op.results[k];
    if (const auto* shape = result->info->as<ShapeInfo>()) {
      std::vector<int64_t> dims;
      if (!values_.symbols().evaluate_dims(*shape->dims, dims, "result of " + label(op))) return false;
      values_.set(result, {vector_of(dims)});
      continue;
    }
    HostTensor& t = *outputs[k];
    t.shape.clear();
    if (!values_.symbols().evaluate_dims(result->shape(), t.shape, "result of " + label(op))) return false;
    t.bytes.resize(static_cast<size_t>(t.elements() * t.dtype.bytes()));
    values_.set(result, {outputs[k]});
  }
  return values_.hold_declared(op);
}

/// Returns the expansion of an op as a function of the op's operands. Constant operands become constants inside of
/// it, since expansions may inspect them.
std::unique_ptr<Function> Frame::expanded(const Op& op) {
  auto function = std::make_unique<Function>(program_.module.context(), std::string(op.def->name.text()));
  Block* block = function->make_block(&function->body(), true);
  Diagnostics diag;
  GraphBuilder builder(program_.module, program_.table, block, diag);
  builder.location = op.location;
  Op* copy = function->make_op(OpKind::kOperator, op.location);
  copy->def = op.def;
  copy->attrs = op.attrs;
  copy->binds = op.binds;
  for (Value* operand : op.operands()) {
    if (operand == nullptr) {
      copy->add_operand(nullptr);
    } else if (operand->op != nullptr && operand->op->kind == OpKind::kConstant) {
      copy->add_operand(builder.constant(operand->op->constant, operand->name));
      function->make_argument(&function->body(), operand->name, operand->info);
    } else {
      copy->add_operand(function->make_argument(&function->body(), operand->name, operand->info));
    }
  }
  for (const Value* result : op.results) function->make_result(copy, result->name, result->info);
  Result<std::vector<Value*>> results = op.def->expand(builder, *copy);
  RELAXC_CHECK(bool(results), label(op) + " does not expand: " + render(diag));
  for (Value* result : *results) function->body().yield->add_operand(result);
  return function;
}

bool Frame::run_expansion(const Op& op) {
  std::unique_ptr<Function>& expansion = program_.expansions[&op];
  if (expansion == nullptr) expansion = expanded(op);
  size_t argument = 0;
  for (Value* operand : op.operands())
    if (operand != nullptr) values_.set(expansion->body().arguments[argument++], values_.of(operand));
  if (!run_region(expansion->body())) return false;
  return values_.set_results(op, values_.of_all(expansion->body().results()));
}

}  // namespace relaxc::relax::interpreter
