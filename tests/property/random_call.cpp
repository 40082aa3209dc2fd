// random_call.cpp: calls of functions, prim funcs, closures and external functions.
#include "compiler/arith/simplify.h"
#include "compiler/relax/callable.h"
#include "compiler/relax/effects.h"
#include "tests/property/random_function.h"
#include "tests/property/random_prim_func.h"

namespace relaxc::property {

using arith::Var;
using relax::Op;
using relax::OpKind;
using relax::TensorInfo;

/// Binds what is alone in `param` to what `argument` has there; true if it fits at the sizes assumed.
bool RandomFunction::match(Info param, Info argument, arith::Substitution& symbols) {
  if (param->kind != argument->kind) return false;
  auto match_dims = [&](const std::vector<Expr>& wanted, const std::vector<Expr>& given) {
    if (wanted.size() != given.size()) return false;
    for (size_t k = 0; k < wanted.size(); ++k) {
      if (wanted[k].as<arith::VarNode>() != nullptr) symbols.emplace(wanted[k], given[k]);
      Expr expected = arith::substitute(wanted[k], symbols);
      for (Var var : arith::free_vars(expected))
        if (sizes_.count(var) == 0) return false;
      if (size(expected) != size(given[k])) return false;
    }
    return true;
  };
  if (const auto* wanted = param->as<TensorInfo>()) {
    const auto* given = argument->as<TensorInfo>();
    return wanted->dtype == given->dtype && wanted->shape && given->shape && match_dims(*wanted->shape, *given->shape);
  }
  if (const auto* wanted = param->as<relax::ShapeInfo>())
    return wanted->dims && argument->as<relax::ShapeInfo>()->dims &&
           match_dims(*wanted->dims, *argument->as<relax::ShapeInfo>()->dims);
  if (const auto* wanted = param->as<relax::PrimInfo>()) {
    const auto* given = argument->as<relax::PrimInfo>();
    if (wanted->dtype != given->dtype) return false;
    return !wanted->value || (given->value && match_dims({wanted->value}, {given->value}));
  }
  if (const auto* wanted = param->as<relax::TupleInfo>()) {
    const auto& given = argument->as<relax::TupleInfo>()->fields;
    if (wanted->fields.size() != given.size()) return false;
    for (size_t k = 0; k < given.size(); ++k)
      if (!match(wanted->fields[k], given[k], symbols)) return false;
    return true;
  }
  return false;
}

void RandomFunction::call_function() {
  std::vector<relax::Function*> others = module_.functions();
  std::erase(others, &function_);
  if (others.empty()) return;
  relax::Function* callee = random_.of(others);
  arith::Substitution symbols;
  Values arguments;
  for (const Value* param : callee->body().arguments) {
    Values fit;
    for (Value* value : scope_)
      if (arith::Substitution tried = symbols; match(param->info, value->info, tried)) fit.push_back(value);
    if (fit.empty()) return;
    arguments.push_back(random_.of(fit));
    (void)match(param->info, arguments.back()->info, symbols);
  }
  leave_dataflow();
  Op* op = builder().append(OpKind::kCallFunction, arguments);
  op->callee = callee->name;
  std::vector<Info> results;
  for (const Value* result : callee->body().results()) results.push_back(result->info);
  for (Info result : relax::results_of_call(context(), std::move(results), symbols, op->binds))
    add(function_.make_result(op, {}, result));
  for (Var mine : op->binds) sizes_[mine] = 3;
}

void RandomFunction::call_prim_func() {
  Values tensors = those([&](const Value& value) { return is_tensor(value) && value.shape().size() <= 4; });
  if (tensors.empty()) return;
  tir::Builder build(context());
  arith::Substitution actual;
  std::unordered_map<Expr, Expr> symbol_of;
  std::vector<tir::BufferRef> buffers;
  Values arguments;
  for (size_t k = 0, count = 1 + random_.below(3); k < count; ++k) {
    Value* value = random_.of(tensors);
    std::vector<Expr> shape;
    for (Expr dim : value->shape()) {
      if (dim.constant() != nullptr) {
        shape.push_back(dim);
        continue;
      }
      Expr& symbol = symbol_of[dim];
      if (!symbol) symbol = context().var("d" + std::to_string(symbol_of.size()));
      actual[symbol] = dim;
      shape.push_back(symbol);
    }
    buffers.push_back(build.buffer("in" + std::to_string(k), value->dtype(), std::move(shape)));
    arguments.push_back(value);
  }
  std::string name = module_.unique_name(random_.of({"kernel", "fused", "fused_add", "add", "main_1"}));
  tir::PrimFunc* made = module_.add_prim_func(random_prim_func(context(), random_, name, buffers));
  tir::BufferRef out = made->params.back().buffer;
  std::vector<Expr> dims = out->shape;
  for (Expr& dim : dims) dim = arith::substitute(dim, actual);
  Op* op = builder().call_tir(name, arguments, {relax::tensor_info(context(), std::move(dims), out->dtype)});
  add(op->result());
}

/// A function of the module as a value, with its last parameters given.
void RandomFunction::make_closure() {
  std::vector<relax::Function*> others = module_.functions();
  std::erase(others, &function_);
  if (others.empty()) return;
  relax::Function* callee = random_.of(others);
  const Values& params = callee->body().arguments;
  size_t captured = random_.below(params.size() + 1);
  arith::Substitution symbols;
  Values given;
  for (size_t k = params.size() - captured; k < params.size(); ++k) {
    Values fit;
    for (Value* value : scope_)
      if (arith::Substitution tried = symbols; match(params[k]->info, value->info, tried)) fit.push_back(value);
    if (fit.empty()) return;
    given.push_back(random_.of(fit));
    (void)match(params[k]->info, given.back()->info, symbols);
  }
  std::vector<Info> results;
  for (const Value* result : callee->body().results()) results.push_back(result->info);
  for (Info result : results)
    if (relax::holds_callable(result)) return;
  Info type = relax::callable_type(*callee, std::move(results), captured, std::move(symbols));
  Op* op = builder().append(OpKind::kMakeClosure, given);
  op->callee = callee->name;
  add(function_.make_result(op, {}, type));
}

void RandomFunction::call_closure() {
  Values closures = those([](const Value& value) { return value.info->as<relax::CallableInfo>() != nullptr; });
  if (closures.empty()) return make_closure();
  Value* closure = random_.of(closures);
  const auto& type = *closure->info->as<relax::CallableInfo>();
  arith::Substitution symbols;
  for (Var var : relax::symbols_of(&type)) symbols.emplace(var, var);
  Values operands{closure};
  for (Info param : type.params) {
    Values fit;
    for (Value* value : scope_)
      if (arith::Substitution tried = symbols; match(param, value->info, tried)) fit.push_back(value);
    if (fit.empty()) return;
    operands.push_back(random_.of(fit));
    (void)match(param, operands.back()->info, symbols);
  }
  leave_dataflow();
  Op* op = builder().append(OpKind::kCallClosure, operands);
  for (Info result : relax::results_of_call(context(), relax::split_results(type.result), symbols, op->binds))
    add(function_.make_result(op, {}, result));
  for (Var mine : op->binds) sizes_[mine] = 3;
}

/// An external function that fills a tensor, or takes it for itself, or is called for its effect.
void RandomFunction::call_external() {
  Values tensors = those([](const Value& value) { return is_tensor(value); });
  if (tensors.empty()) return;
  Value* value = random_.of(tensors);
  switch (random_.below(3)) {
    case 0: {
      Op* op = builder().append(OpKind::kCallExternal, {random_.of(tensors), value});
      op->callee = "fill";
      add(function_.make_result(op, {}, value->info));
      return;
    }
    case 1: {
      Op* op = builder().append(OpKind::kCallInplace, {value});
      op->callee = "overwrite";
      op->attrs.set("external", true);
      op->attrs.set("inplace_indices", std::vector<int64_t>{0});
      add(function_.make_result(op, {}, value->info));
      return;
    }
    default:
      leave_dataflow();
      builder().append(OpKind::kCallExternal, {value})->callee = "observe";
  }
}

/// A prim func that adds to its first operand, in its place.
void RandomFunction::call_inplace() {
  Values tensors = those([&](const Value& value) { return is_tensor(value) && value.shape().size() <= 4; });
  if (tensors.empty()) return;
  Value* value = random_.of(tensors);
  Values others = those([&](const Value& other) { return is_tensor(other) && other.shape() == value->shape(); });
  Value* other = random_.of(others);
  tir::Builder build(context());
  std::unordered_map<Expr, Expr> symbol_of;
  std::vector<Expr> shape = value->shape();
  for (Expr& dim : shape) {
    if (dim.constant() != nullptr) continue;
    Expr& symbol = symbol_of[dim];
    if (!symbol) symbol = context().var("d" + std::to_string(symbol_of.size()));
    dim = symbol;
  }
  tir::BufferRef out = build.buffer("io", value->dtype(), shape), in = build.buffer("in", other->dtype(), shape);
  auto more = [&](const tir::Indices& i) {
    Expr kept = build.load(out, i), added = arith::cast(out->dtype, build.load(in, i));
    return out->dtype.is_bool() ? arith::logical_or(kept, added) : kept + added;
  };
  tir::PrimFunc made;
  made.name = module_.unique_name(random_.of({"accumulate", "fused", "main_1"}));
  made.is_private = true;
  made.noalias = false;  // one value may be both operands
  made.params = {{out, {}}, {in, {}}};
  made.body = build.compute(out, more);
  tir::collect_symbols(made);
  Op* op = builder().append(OpKind::kCallInplace, {value, other});
  op->callee = made.name;
  module_.add_prim_func(std::move(made));
  op->attrs.set("external", false);
  op->attrs.set("inplace_indices", std::vector<int64_t>{0});
  add(function_.make_result(op, {}, value->info));
}

/// An assertion, most often one that holds at the sizes assumed, or a line of text.
void RandomFunction::effect() {
  leave_dataflow();
  Values shown = those([](const Value& value) { return relax::print_kind(value.info) != relax::kPrintNothing; });
  if (shown.empty()) return;
  Value* value = random_.of(shown);
  if (random_.chance(50)) {
    Op* op = builder().append(OpKind::kPrint, {value});
    op->attrs.set("format", std::string(random_.of({"", "{}", "one {{}} is {}"})));
    return;
  }
  diag_.emplace();
  Value* holds = random_.chance(20) ? condition() : nullptr;
  if (holds == nullptr && is_tensor(*value) && !value->shape().empty()) {
    Expr dim = random_.of(value->shape());
    holds = builder().prim(arith::le(dim, arith::max(dim * 2, context().index(7))));
  }
  if (holds == nullptr) return;
  Op* op = builder().append(OpKind::kAssert, {holds, value});
  op->attrs.set("format", std::string("found {}"));
}

}  // namespace relaxc::property
