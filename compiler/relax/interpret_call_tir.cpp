// interpret_call_tir.cpp: calls of prim funcs, as the source or any later pass has them.
//
// The prim func of a data-dependent operator fills buffers of its upper bounds, and writes the true extents into
// buffers that follow the results; hoist_scratch adds memory for temporaries behind those. Symbols of the callee are
// scalars, dims that are alone, or parts of dims whose other side the call's types have.
#include <algorithm>

#include "compiler/relax/call_symbols.h"
#include "compiler/relax/interpret_frame.h"
#include "compiler/relax/origin_text.h"

namespace relaxc::relax::interpreter {

using Sizes = std::unordered_map<Expr, int64_t>;

struct Frame::PrimCall {
  const Op& op;
  const tir::PrimFunc& function;
  Parts inputs;
  std::vector<int64_t> scalars;
  std::vector<const TensorInfo*> operands, results;
  std::vector<tir::BufferRef> formals;  ///< of the callee: operands, results, bound values, scratch
  Sizes sizes;                          ///< of the callee's scalars and symbols
  std::vector<std::shared_ptr<HostTensor>> outputs;
  std::vector<int64_t> bound_values;
};

bool Frame::run_call_tir(const Op& op) {
  const tir::PrimFunc* function = program_.module.find_prim_func(op.callee);
  RELAXC_CHECK(function != nullptr, "no prim func " + op.callee);
  PrimCall call{op, *function, {}, {}, {}, {}, {}, {}, {}, std::vector<int64_t>(op.binds.size())};
  for (const Value* operand : op.operands()) {
    if (operand == nullptr) continue;
    collect(parts(operand), operand->info, call.inputs, call.scalars);
    collect_tensors(operand->info, call.operands);
  }
  for (const Value* result : op.results) collect_tensors(result->info, call.results);
  for (const tir::Param& param : function->params)
    if (param.buffer != nullptr) call.formals.push_back(param.buffer);
  RELAXC_CHECK(call.formals.size() >= call.inputs.size() + call.results.size() + op.binds.size(),
               label(op) + " is called with too many tensors");
  return solve_symbols(call) && make_buffers(call) && run_prim_func(call) && bind_results(call);
}

/// A prim func that writes some of its operands. `fresh` receives the results with memory of their own.
bool Frame::call_inplace(const Op& op, const Parts& tensors, const std::vector<int64_t>& scalars,
                         std::vector<std::shared_ptr<HostTensor>>& fresh) {
  const tir::PrimFunc* function = program_.module.find_prim_func(op.callee);
  RELAXC_CHECK(function != nullptr, "no prim func " + op.callee);
  PrimCall call{op, *function, tensors, scalars, {}, {}, {}, {}, {}, {}};
  for (const Value* operand : op.operands()) collect_tensors(operand->info, call.operands);
  const std::vector<int64_t>& indices = op.attrs.ints("inplace_indices");
  for (size_t i = 0; i < indices.size(); ++i)
    if (indices[i] < 0) collect_tensors(op.results[i]->info, call.results);
  for (const tir::Param& param : function->params)
    if (param.buffer != nullptr) call.formals.push_back(param.buffer);
  RELAXC_CHECK(call.formals.size() >= call.inputs.size() + call.results.size(), label(op) + " has too many tensors");
  if (!solve_symbols(call) || !make_buffers(call) || !run_prim_func(call)) return false;
  fresh.assign(call.outputs.begin(), call.outputs.begin() + static_cast<std::ptrdiff_t>(call.results.size()));
  return true;
}

bool Frame::solve_symbols(PrimCall& call) {
  size_t next = 0;
  for (const tir::Param& param : call.function.params)
    if (param.buffer == nullptr) {
      RELAXC_CHECK(next < call.scalars.size(), label(call.op) + " is called with too few scalars");
      call.sizes[param.var] = call.scalars[next++];
    }
  std::vector<const TensorInfo*> infos = call.operands;
  if (call.op.binds.empty()) infos.insert(infos.end(), call.results.begin(), call.results.end());
  arith::Substitution found;
  for (size_t i = 0; i < infos.size(); ++i) {
    const std::vector<Expr>& formal = call.formals[i]->shape;
    if (infos[i]->shape) solve_bare(formal, *infos[i]->shape, found);
    if (i >= call.inputs.size()) continue;
    for (size_t k = 0; k < std::min(formal.size(), call.inputs[i]->shape.size()); ++k)
      if (formal[k].as<arith::VarNode>() != nullptr) call.sizes.try_emplace(formal[k], call.inputs[i]->shape[k]);
  }
  for (size_t i = 0; i < infos.size(); ++i)
    for (size_t k = 0; infos[i]->shape && k < std::min(infos[i]->shape->size(), call.formals[i]->shape.size()); ++k)
      unify(call.formals[i]->shape[k], (*infos[i]->shape)[k], call.function.symbols, found);
  for (Var symbol : call.function.symbols) {
    if (call.sizes.count(symbol) != 0) continue;
    auto known = found.find(symbol);
    std::optional<int64_t> value = symbols_.evaluate(known == found.end() ? Expr(symbol) : known->second);
    if (!value) return fail(kSizeOverflow, label(call.op) + ": " + symbol.name() + " has no value");
    call.sizes[symbol] = *value;
  }
  return true;
}

/// Results of a data-dependent call have the size of their bound until it has run.
bool Frame::make_buffers(PrimCall& call) {
  size_t first_result = call.inputs.size(), first_bound = first_result + call.results.size();
  size_t first_scratch = first_bound + call.op.binds.size();
  for (size_t i = first_result; i < call.formals.size(); ++i) {
    if (i >= first_bound && i < first_scratch) continue;
    bool exact = i < first_bound && call.op.binds.empty();
    TensorInfo info;
    info.dtype = call.formals[i]->dtype;
    Sizes own = symbols_.all();
    if (!exact) symbols_.exchange(call.sizes);
    std::shared_ptr<HostTensor> made;
    bool ok = allocate(info, exact ? *call.results[i - first_result]->shape : call.formals[i]->shape, made,
                       "result of " + label(call.op));
    symbols_.exchange(std::move(own));
    if (!ok) return false;
    call.outputs.push_back(std::move(made));
  }
  return true;
}

bool Frame::run_prim_func(PrimCall& call) {
  const std::string what = label(call.op);
  size_t num_results = call.results.size();
  std::vector<void*> addresses;
  Sizes own = symbols_.exchange(call.sizes);
  bool ok = true;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    ok = ok && symbols_.match_dims(call.formals[i]->shape, call.inputs[i]->shape, "an argument of " + what);
    addresses.push_back(address(*call.inputs[i]));
  }
  for (size_t k = 0; k < num_results; ++k) {
    ok = ok && symbols_.match_dims(call.formals[call.inputs.size() + k]->shape, call.outputs[k]->shape,
                                   "a result of " + what);
    addresses.push_back(address(*call.outputs[k]));
  }
  for (int64_t& value : call.bound_values) addresses.push_back(&value);
  for (size_t k = num_results; k < call.outputs.size(); ++k) addresses.push_back(address(*call.outputs[k]));
  symbols_.exchange(std::move(own));
  if (!ok) return false;
  call.scalars.resize(call.function.params.size() - call.formals.size());
  for (Var symbol : call.function.symbols) call.scalars.push_back(call.sizes.at(symbol));
  tir::RunStatus status = program_.evaluator.run(call.function, addresses, call.scalars);
  if (status) return true;
  fault_ = {status, call_text(call.op, call.function)};
  return false;
}

bool Frame::bind_results(PrimCall& call) {
  Parts all(call.outputs.begin(), call.outputs.begin() + static_cast<std::ptrdiff_t>(call.results.size()));
  if (call.op.binds.empty()) return set_results(call.op, all);
  for (size_t k = 0; k < call.op.binds.size(); ++k) symbols_.set(call.op.binds[k], call.bound_values[k]);
  for (size_t k = 0; k < call.results.size(); ++k) {
    HostTensor& t = *call.outputs[k];
    auto room = t.elements();
    t.shape.clear();
    if (!symbols_.evaluate_dims(*call.results[k]->shape, t.shape, "result of " + label(call.op))) return false;
    if (t.elements() > room) return fail(kDataBound, label(call.op), room, t.elements());
    t.bytes.resize(static_cast<size_t>(t.elements() * t.dtype.bytes()));
  }
  return set_results(call.op, all);
}

}  // namespace relaxc::relax::interpreter
