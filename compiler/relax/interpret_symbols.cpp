// interpret_symbols.cpp: see interpret_symbols.h.
#include "compiler/relax/interpret_symbols.h"

#include <fmt/format.h>

#include "compiler/support/status_code.h"

namespace relaxc::relax::interpreter {

std::optional<int64_t> SymbolValues::evaluate(Expr e) const {
  for (Var var : arith::free_vars(e))
    if (!values_.contains(var)) return std::nullopt;
  bool plain = true;
  arith::for_each_node(e, [&](Expr node) { plain &= node.dtype().is_index() || node.dtype().is_bool(); });
  return plain ? arith::evaluate(e, [&](Var var) { return values_.at(var); }) : evaluate_element(e);
}

/// Evaluates element arithmetic with the Evaluator, so that it rounds and wraps as it does in a kernel.
std::optional<int64_t> SymbolValues::evaluate_element(Expr e) const {
  tir::Builder builder(context_);
  DType dtype = e.dtype().is_index() ? DType::i(64) : e.dtype();
  tir::PrimFunc function;
  function.name = "scalar";
  tir::BufferRef out = builder.buffer("y", dtype, {builder.index(1)});
  function.params.push_back({out, {}});
  function.body = builder.store(out, {builder.index(0)}, arith::cast(dtype, e));
  std::vector<int64_t> cells;
  for (Var var : arith::free_vars(e)) {
    function.params.push_back({nullptr, var});
    cells.push_back(values_.at(var));
  }
  HostTensor result{dtype, {}, std::vector<std::byte>(static_cast<size_t>(dtype.bytes()))};
  void* to = result.bytes.data();
  if (!evaluator_.run(function, {&to, 1}, cells)) return std::nullopt;
  return cell_of(result);
}

bool SymbolValues::evaluate_dims(const std::vector<Expr>& dims, std::vector<int64_t>& out, const std::string& what) {
  for (Expr dim : dims) {
    std::optional<int64_t> value = evaluate(dim);
    if (!value) return fail_with(fault_, kSizeOverflow, what + ": " + arith::to_string(dim) + " has no value");
    out.push_back(*value);
  }
  return true;
}

/// If one symbol of `dim` has no value, sets it so that `dim` equals `actual`, provided that `dim` is linear in it.
/// A flat view such as (n * 6,) is often the only place where a kernel's buffers mention a symbol. Inconsistent sizes
/// are found by the comparison that follows.
void SymbolValues::solve(Expr dim, int64_t actual) {
  std::vector<Var> unknown;
  for (Var var : arith::free_vars(dim))
    if (!values_.contains(var)) unknown.push_back(var);
  if (unknown.size() != 1) return;
  auto at = [&](int64_t value) {
    values_[unknown[0]] = value;
    std::optional<int64_t> result = evaluate(dim);
    values_.erase(unknown[0]);
    return result;
  };
  std::optional<int64_t> base = at(0), next = at(1);
  if (base && next && *next != *base && (actual - *base) % (*next - *base) == 0)
    values_[unknown[0]] = (actual - *base) / (*next - *base);
}

bool SymbolValues::match_dims(const std::vector<Expr>& dims, const std::vector<int64_t>& actual,
                              const std::string& what) {
  if (dims.size() != actual.size())
    return fail_with(fault_, kStaticDim, what + " has another length", static_cast<int64_t>(dims.size()),
                     static_cast<int64_t>(actual.size()));
  for (size_t k = 0; k < dims.size(); ++k)
    if (dims[k].as<arith::VarNode>() != nullptr) values_.try_emplace(dims[k], actual[k]);
  for (size_t k = 0; k < dims.size(); ++k) solve(dims[k], actual[k]);
  for (size_t k = 0; k < dims.size(); ++k) {
    std::optional<int64_t> expected = evaluate(dims[k]);
    bool symbol = dims[k].as<arith::VarNode>() != nullptr;
    int32_t code = dims[k].constant() != nullptr ? kStaticDim : symbol ? kSymbolEquality : kDerivedDim;
    if (!expected) return fail_with(fault_, kSizeOverflow, what + ": " + arith::to_string(dims[k]) + " has no value");
    if (*expected != actual[k])
      return fail_with(fault_, code, fmt::format("{}: dim {} is {{actual}}, must be {{expected}}", what, k), *expected,
                       actual[k]);
  }
  return true;
}

bool SymbolValues::match(Info info, std::span<const Part> list, const std::string& what) {
  if (const auto* tuple = info->as<TupleInfo>()) {
    for (Info field : tuple->fields) {
      size_t count = leaves(field);
      if (count > list.size()) return fail_with(fault_, kTensorCount, what + " has too few parts");
      if (!match(field, list.first(count), what)) return false;
      list = list.subspan(count);
    }
    return true;
  }
  if (list.size() != 1)
    return fail_with(fault_, kTensorCount, what + " has another number of parts", 1, static_cast<int64_t>(list.size()));
  const HostTensor& t = *list[0];
  if (const auto* tensor = info->as<TensorInfo>()) {
    if (tensor->dtype && *tensor->dtype != t.dtype)
      return fail_with(fault_, kDtype,
                       what + " has dtype " + to_string(t.dtype) + ", not " + to_string(*tensor->dtype));
    if (tensor->ndim >= 0 && tensor->ndim != static_cast<int32_t>(t.shape.size()))
      return fail_with(fault_, kRank, what + " has another rank", tensor->ndim, static_cast<int64_t>(t.shape.size()));
    return !tensor->shape || match_dims(*tensor->shape, t.shape, what);
  }
  if (const auto* shape = info->as<ShapeInfo>()) return !shape->dims || match_dims(*shape->dims, values_of(t), what);
  if (const auto* prim = info->as<PrimInfo>()) {
    DType dtype = prim->dtype.is_index() ? DType::i(64) : prim->dtype;
    if (t.dtype != dtype || !t.shape.empty())
      return fail_with(fault_, kDtype,
                       what + " is not a scalar of dtype " + to_string(dtype) + " but has " + to_string(t.dtype));
    return !prim->value || match_dims({prim->value}, {cell_of(t)}, what);
  }
  return true;
}

void SymbolValues::bind_bare(Info info, std::span<const Part> list) {
  if (const auto* tuple = info->as<TupleInfo>()) {
    for (Info field : tuple->fields) {
      size_t count = std::min(leaves(field), list.size());
      bind_bare(field, list.first(count));
      list = list.subspan(count);
    }
    return;
  }
  if (list.empty()) return;
  std::vector<Expr> formal;
  std::vector<int64_t> actual;
  if (const auto* tensor = info->as<TensorInfo>(); tensor != nullptr && tensor->shape)
    formal = *tensor->shape, actual = list[0]->shape;
  if (const auto* shape = info->as<ShapeInfo>(); shape != nullptr && shape->dims)
    formal = *shape->dims, actual = values_of(*list[0]);
  if (const auto* prim = info->as<PrimInfo>(); prim != nullptr && prim->value)
    formal = {prim->value}, actual = {cell_of(*list[0])};
  for (size_t k = 0; k < formal.size() && k < actual.size(); ++k)
    if (formal[k].as<arith::VarNode>() != nullptr) values_.try_emplace(formal[k], actual[k]);
}

}  // namespace relaxc::relax::interpreter
