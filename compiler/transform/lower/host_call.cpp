// host_call.cpp: calls of kernels and of external functions.
//
// A prim func's symbols are found by matching the shapes of its parameters with those of the call. What does not match
// by construction (a prim func that the source program brought along) is guarded. A result whose shape only its kernel
// knows gets room for the kernel's own bound, and is seen through a view once the numbers are there.
#include <algorithm>

#include "compiler/relax/call_symbols.h"
#include "compiler/transform/lower/host_function.h"

namespace relaxc::lower {

using namespace relax;

namespace {

std::vector<const Value*> operands_of(const Op& op) {
  return {op.operands().begin(), op.operands().end()};
}

}  // namespace

struct HostFunction::KernelCall {
  const tir::PrimFunc* callee = nullptr;
  std::vector<const Value*> tensors;      ///< operands
  std::vector<Value*> fresh;              ///< results with memory of their own
  std::vector<Expr> scalars;              ///< operands
  size_t results = 0, bound = 0;          ///< buffers that follow the operands; then comes scratch
  std::vector<std::vector<Expr>> actual;  ///< dims of operands and results
  arith::Substitution found;              ///< the callee's scalars and symbols, as expressions of the caller

  /// Whether buffer `i` has a shape that is known before the call.
  bool known_before(size_t i) const { return i < tensors.size() || (i < tensors.size() + results && bound == 0); }
};

Status HostFunction::call_tir(Op& op) {
  KernelCall call;
  call.callee = shared_.module.find_prim_func(op.callee);
  RELAXC_CHECK(call.callee != nullptr, "no prim func " + op.callee);
  call.fresh = fresh_results(op);
  call.results = call.fresh.size(), call.bound = op.binds.size();
  for (const Value* operand : op.kind == OpKind::kCallInplace ? placed_operands(op) : operands_of(op)) {
    if (operand->info->as<TensorInfo>() != nullptr)
      call.tensors.push_back(operand);
    else if (operand->info->as<PrimInfo>() != nullptr)
      call.scalars.push_back(values_.scalar(*operand));
    else
      for (Expr dim : shapes_.dims(operand->info)) call.scalars.push_back(dim);
  }
  for (const Value* tensor : call.tensors) call.actual.push_back(shapes_.dims(tensor->info));
  for (const Value* result : call.fresh) call.actual.push_back(shapes_.dims(result->info));
  RELAXC_DO(check_arity(op, call));
  RELAXC_DO(solve_symbols(op, call));
  return pass_arguments(op, call);
}

Status HostFunction::check_arity(const Op& op, const KernelCall& call) {
  size_t scratch = call.callee->memory.scratch, buffers = 0;
  for (const tir::Param& param : call.callee->params) buffers += param.buffer != nullptr;
  size_t given = call.tensors.size() + call.results, scalars = call.callee->params.size() - buffers;
  if (buffers != given + call.bound + scratch)
    return diag().error(op.location, Kind::wrong_arity,
                        "prim func '{}' takes {} buffers, found {} operands and results", op.callee,
                        buffers - call.bound - scratch, given);
  if (scalars > call.scalars.size())
    return diag().error(op.location, Kind::wrong_arity, "prim func '{}' takes {} scalars, found {}", op.callee, scalars,
                        call.scalars.size());
  return Done{};
}

Status HostFunction::solve_symbols(const Op& op, KernelCall& call) {
  size_t next_scalar = 0;
  std::vector<BufferRef> formals;
  for (const tir::Param& param : call.callee->params) {
    if (param.buffer != nullptr)
      formals.push_back(param.buffer);
    else
      call.found.emplace(param.var, arith::cast(param.var.dtype(), call.scalars[next_scalar++]));
  }
  for (size_t i = 0; i < formals.size(); ++i)
    if (call.known_before(i)) solve_bare(formals[i]->shape, call.actual[i], call.found);
  for (size_t i = 0; i < formals.size(); ++i)
    for (size_t axis = 0; call.known_before(i) && axis < formals[i]->shape.size() && axis < call.actual[i].size();
         ++axis)
      unify(formals[i]->shape[axis], call.actual[i][axis], call.callee->symbols, call.found);
  for (Var symbol : call.callee->symbols) {
    if (call.found.count(symbol) != 0) continue;
    if (!symbols_.in_scope(symbol))
      return diag().error(op.location, Kind::unbound_name,
                          "symbol '{}' of prim func '{}' is no dim of the call's tensors", symbol.name(), op.callee);
    call.found.emplace(symbol, symbols_.known(symbol));
  }
  return Done{};
}

/// The arguments, in the order of the parameters: operands, results, bound values, scratch; scalars where they stand.
Status HostFunction::pass_arguments(Op& op, KernelCall& call) {
  tir::Invoke invoke;
  invoke.callee = op.callee;
  invoke.trace_node = origins_.kernel(op.callee);
  invoke.error_node = origins_.of_kernel(op, *call.callee);
  std::vector<BufferRef> raw, bound_values;
  size_t next = 0, first_result = call.tensors.size(), first_bound = first_result + call.results;
  for (const tir::Param& param : call.callee->params) {
    if (param.buffer == nullptr) {
      invoke.args.push_back(call.found.at(param.var));
      continue;
    }
    size_t i = next++;
    std::vector<Expr> formal = symbols_.known(replace(param.buffer->shape, call.found));
    for (size_t axis = 0; call.known_before(i) && axis < formal.size() && axis < call.actual[i].size(); ++axis)
      shapes_.require_equal(formal[axis], call.actual[i][axis], axis, exact_dim(axis, param.buffer->name));
    if (i < first_result) {
      invoke.args.push_back(values_.buffer(*call.tensors[i]));
      continue;
    }
    BufferRef memory = call.known_before(i) ? produce(*call.fresh[i - first_result])
                                            : memory_.allocate(param.buffer->name, param.buffer->dtype, formal);
    if (i < first_bound)
      raw.push_back(memory);
    else if (i < first_bound + call.bound)
      bound_values.push_back(memory);
    invoke.args.push_back(memory);
  }
  for (Var symbol : call.callee->symbols) invoke.args.push_back(call.found.at(symbol));
  at_.add(build_.invoke(std::move(invoke)));
  bind_results(op, call.fresh, raw, bound_values);
  return Done{};
}

void HostFunction::bind_results(Op& op, const std::vector<Value*>& results, const std::vector<BufferRef>& raw,
                                const std::vector<BufferRef>& bound_values) {
  for (size_t k = 0; k < bound_values.size(); ++k) {
    Expr bound;
    for (size_t r = 0; r < raw.size(); ++r) {
      std::vector<Expr> shape = relax_dims(results[r]->info);
      for (size_t axis = 0; axis < shape.size(); ++axis)
        if (shape[axis] == op.binds[k]) bound = raw[r]->shape[axis];
    }
    shapes_.bind_from_data(op.binds[k], build_.load(bound_values[k], {build_.index(0)}), bound);
  }
  for (size_t r = 0; r < raw.size(); ++r) {
    const Value& result = *results[r];
    values_.slot(result).buffer = raw[r];
    std::vector<Expr> shape = shapes_.dims(result.info);
    if (shape == raw[r]->shape) continue;
    // A definition leaves its result compact, however much room there was.
    values_.slot(result).buffer = memory_.view_as(raw[r], result.name, result.dtype(), shape);
  }
}

}  // namespace relaxc::lower
