// callable.cpp: makes and joins the types of functions as values.
#include "compiler/relax/callable.h"

#include <algorithm>
#include <set>

namespace relaxc::relax {

Info joined_results(Context& context, std::vector<Info> results) {
  return results.size() == 1 ? results[0] : tuple_info(context, std::move(results));
}

std::vector<Info> split_results(Info result) {
  const auto* tuple = result->as<TupleInfo>();
  return tuple != nullptr && tuple->fields.size() != 1 ? tuple->fields : std::vector<Info>{result};
}

Info callable_type(const Function& function, std::vector<Info> results, size_t captured, arith::Substitution symbols) {
  Context& context = function.context();
  const std::vector<Value*>& parameters = function.body().arguments;
  std::vector<Info> params;
  for (size_t i = 0; i + captured < parameters.size(); ++i) params.push_back(parameters[i]->info);
  Info result = joined_results(context, std::move(results));
  std::vector<Var> own;
  auto rename = [&](Info info) {
    for (Var var : symbols_of(info)) {
      if (symbols.count(var) != 0) continue;
      Var fresh = context.var(var.name(), var.dtype());
      symbols.emplace(var, fresh);
      own.push_back(fresh);
    }
    return substitute(context, info, symbols);
  };
  for (Info& param : params) param = rename(param);
  result = rename(result);
  return callable_info(context, std::move(own), std::move(params), result);
}

Info joined_callable(Context& context, Info a, Info b) {
  const auto *x = a->as<CallableInfo>(), *y = b->as<CallableInfo>();
  if (x == nullptr || y == nullptr || x->params.size() != y->params.size()) return nullptr;
  auto instance = [&](const CallableInfo& general, Info wanted) {
    const auto& target = *wanted->as<CallableInfo>();
    arith::Substitution all, own;
    for (size_t i = 0; i < target.params.size(); ++i) solve_symbols(general.params[i], target.params[i], all);
    for (Var var : general.symbols)
      if (auto it = all.find(var); it != all.end()) own.insert(*it);
    std::vector<Info> params;
    for (Info param : general.params) params.push_back(substitute(context, param, own));
    Info result = substitute(context, general.result, own);
    return same(callable_info(context, target.symbols, std::move(params), result, target.pure), wanted);
  };
  const CallableInfo* joined = instance(*y, a) ? x : instance(*x, b) ? y : nullptr;
  if (joined == nullptr) return nullptr;
  return callable_info(context, joined->symbols, joined->params, joined->result, x->pure && y->pure);
}

bool holds_callable(Info info) {
  if (info->as<CallableInfo>() != nullptr) return true;
  const auto* tuple = info->as<TupleInfo>();
  return tuple != nullptr && std::any_of(tuple->fields.begin(), tuple->fields.end(), holds_callable);
}

void solve_symbols(Info formal, Info actual, arith::Substitution& found) {
  auto solve = [&](const std::optional<std::vector<Expr>>& from, const std::optional<std::vector<Expr>>& to) {
    if (!from || !to) return;
    for (size_t i = 0; i < std::min(from->size(), to->size()); ++i)
      if ((*from)[i].as<arith::VarNode>() != nullptr) found.emplace((*from)[i], (*to)[i]);
  };
  if (formal->kind != actual->kind) return;
  if (const auto* tensor = formal->as<TensorInfo>()) return solve(tensor->shape, actual->as<TensorInfo>()->shape);
  if (const auto* shape = formal->as<ShapeInfo>()) return solve(shape->dims, actual->as<ShapeInfo>()->dims);
  if (const auto* prim = formal->as<PrimInfo>()) {
    arith::Expr value = actual->as<PrimInfo>()->value;
    if (prim->value && value && prim->value.as<arith::VarNode>() != nullptr) found.emplace(prim->value, value);
  }
  if (const auto* tuple = formal->as<TupleInfo>()) {
    const std::vector<Info>& fields = actual->as<TupleInfo>()->fields;
    for (size_t i = 0; i < std::min(fields.size(), tuple->fields.size()); ++i)
      solve_symbols(tuple->fields[i], fields[i], found);
  }
}

Info with_named_dims(Context& context, Info info) {
  auto fresh = [&](int ndim) {
    std::vector<Expr> dims;
    for (int i = 0; i < ndim; ++i) dims.push_back(context.var("d"));
    return dims;
  };
  if (const auto* tensor = info->as<TensorInfo>(); tensor != nullptr && !tensor->shape && tensor->ndim >= 0)
    return tensor_info(context, fresh(tensor->ndim), tensor->dtype);
  if (const auto* shape = info->as<ShapeInfo>(); shape != nullptr && !shape->dims && shape->ndim >= 0)
    return shape_info(context, fresh(shape->ndim));
  if (const auto* prim = info->as<PrimInfo>(); prim != nullptr && !prim->value && prim->dtype.is_index())
    return prim_info(context, prim->dtype, context.var("k", prim->dtype));
  if (const auto* tuple = info->as<TupleInfo>()) {
    std::vector<Info> fields;
    for (Info field : tuple->fields) fields.push_back(with_named_dims(context, field));
    return tuple_info(context, std::move(fields));
  }
  return info;
}

std::vector<Expr> numbers_of(Info info) {
  std::vector<Expr> numbers;
  auto add = [&](const std::vector<Expr>& list) { numbers.insert(numbers.end(), list.begin(), list.end()); };
  if (const auto* tensor = info->as<TensorInfo>(); tensor != nullptr && tensor->shape) add(*tensor->shape);
  if (const auto* shape = info->as<ShapeInfo>(); shape != nullptr && shape->dims) add(*shape->dims);
  if (const auto* prim = info->as<PrimInfo>(); prim != nullptr && prim->value) add({prim->value});
  if (const auto* tuple = info->as<TupleInfo>())
    for (Info field : tuple->fields) add(numbers_of(field));
  return numbers;
}

std::vector<Info> results_of_call(Context& context, std::vector<Info> results, arith::Substitution& symbols,
                                  std::vector<Var>& binds) {
  std::vector<Expr> numbers = numbers_of(tuple_info(context, results));
  auto bind = [&](Expr number, const std::string& name) {
    Var mine = context.var(name, number.dtype());
    symbols.emplace(number, mine);
    binds.push_back(mine);
  };
  for (Expr number : numbers)
    if (const auto* var = number.as<arith::VarNode>(); var != nullptr && symbols.count(number) == 0)
      bind(number, Var(var).name());
  for (Expr number : numbers) {
    std::vector<Var> vars = arith::free_vars(number);
    bool given = std::all_of(vars.begin(), vars.end(), [&](Var var) { return symbols.count(var) != 0; });
    if (!given && symbols.count(number) == 0) bind(number, "d");
  }
  // A result that is a callable shows no dims here, but its type may mention symbols that only the callee knows.
  std::set<uint32_t> known;
  for (const auto& [symbol, value] : symbols)
    for (Var var : arith::free_vars(value)) known.insert(var->id);
  for (Var var : symbols_of(substitute(context, tuple_info(context, results), symbols)))
    if (known.count(var->id) == 0) bind(var, var.name());
  for (Info& result : results) result = substitute(context, result, symbols);
  return results;
}

bool in_tail_position(const Op& op) {
  for (const Op* at = &op; at->block != nullptr; at = at->block->parent->parent_op) {
    const Region& region = *at->block->parent;
    if (at->block->ops.back() != at || region.results() != at->results) return false;
    bool after = false;
    for (const Block* block : region.blocks) {
      if (after && !block->ops.empty()) return false;
      after |= block == at->block;
    }
    if (region.parent_op == nullptr) return true;
    if (region.parent_op->kind != OpKind::kIf) return false;
  }
  return false;
}

}  // namespace relaxc::relax
