// interpret_prim_call.cpp: see interpret_prim_call.h.
#include "compiler/relax/interpret_prim_call.h"

#include <algorithm>

#include "compiler/relax/call_symbols.h"
#include "compiler/relax/origin_text.h"
#include "compiler/support/status_code.h"

namespace relaxc::relax::interpreter {

PrimCall::PrimCall(const Op& op, const tir::PrimFunc& function, tir::Evaluator& evaluator, FrameValues& values)
    : op_(op), function_(function), evaluator_(evaluator), values_(values) {
  for (const tir::Param& param : function.params)
    if (param.buffer != nullptr) formals_.push_back(param.buffer);
}

bool PrimCall::run() {
  for (const Value* operand : op_.operands()) {
    if (operand == nullptr) continue;
    collect(values_.of(operand), operand->info, inputs_, scalars_);
    collect_tensors(operand->info, operands_);
  }
  for (const Value* result : op_.results) collect_tensors(result->info, results_);
  bound_values_.resize(op_.binds.size());
  RELAXC_CHECK(formals_.size() >= inputs_.size() + results_.size() + op_.binds.size(),
               label(op_) + " is called with too many tensors");
  return solve_symbols() && make_buffers() && run_prim_func() && bind_results();
}

bool PrimCall::run_inplace(Parts tensors, std::vector<int64_t> scalars,
                           std::vector<std::shared_ptr<HostTensor>>& fresh) {
  inputs_ = std::move(tensors), scalars_ = std::move(scalars);
  for (const Value* operand : op_.operands()) collect_tensors(operand->info, operands_);
  const std::vector<int64_t>& indices = op_.attrs.ints("inplace_indices");
  for (size_t i = 0; i < indices.size(); ++i)
    if (indices[i] < 0) collect_tensors(op_.results[i]->info, results_);
  RELAXC_CHECK(formals_.size() >= inputs_.size() + results_.size(), label(op_) + " has too many tensors");
  if (!solve_symbols() || !make_buffers() || !run_prim_func()) return false;
  fresh.assign(outputs_.begin(), outputs_.begin() + static_cast<std::ptrdiff_t>(results_.size()));
  return true;
}

bool PrimCall::solve_symbols() {
  size_t next = 0;
  for (const tir::Param& param : function_.params)
    if (param.buffer == nullptr) {
      RELAXC_CHECK(next < scalars_.size(), label(op_) + " is called with too few scalars");
      sizes_[param.var] = scalars_[next++];
    }
  std::vector<const TensorInfo*> infos = operands_;
  if (op_.binds.empty()) infos.insert(infos.end(), results_.begin(), results_.end());
  arith::Substitution found;
  for (size_t i = 0; i < infos.size(); ++i) {
    const std::vector<Expr>& formal = formals_[i]->shape;
    if (infos[i]->shape) solve_bare(formal, *infos[i]->shape, found);
    if (i >= inputs_.size()) continue;
    for (size_t k = 0; k < std::min(formal.size(), inputs_[i]->shape.size()); ++k)
      if (formal[k].as<arith::VarNode>() != nullptr) sizes_.try_emplace(formal[k], inputs_[i]->shape[k]);
  }
  for (size_t i = 0; i < infos.size(); ++i)
    for (size_t k = 0; infos[i]->shape && k < std::min(infos[i]->shape->size(), formals_[i]->shape.size()); ++k)
      unify(formals_[i]->shape[k], (*infos[i]->shape)[k], function_.symbols, found);
  for (Var symbol : function_.symbols) {
    if (sizes_.count(symbol) != 0) continue;
    auto known = found.find(symbol);
    std::optional<int64_t> value = values_.symbols().evaluate(known == found.end() ? Expr(symbol) : known->second);
    if (!value) return values_.fail(kSizeOverflow, label(op_) + ": " + symbol.name() + " has no value");
    sizes_[symbol] = *value;
  }
  return true;
}

/// Allocates results and scratch buffers. Results of a data-dependent call have the size of their upper bound at first.
bool PrimCall::make_buffers() {
  size_t first_result = inputs_.size(), first_bound = first_result + results_.size();
  size_t first_scratch = first_bound + op_.binds.size();
  for (size_t i = first_result; i < formals_.size(); ++i) {
    if (i >= first_bound && i < first_scratch) continue;
    bool exact = i < first_bound && op_.binds.empty();
    SymbolValues::Map own = values_.symbols().all();
    if (!exact) values_.symbols().exchange(sizes_);
    std::shared_ptr<HostTensor> made;
    bool ok = values_.allocate(formals_[i]->dtype, exact ? *results_[i - first_result]->shape : formals_[i]->shape,
                               made, "result of " + label(op_));
    values_.symbols().exchange(std::move(own));
    if (!ok) return false;
    outputs_.push_back(std::move(made));
  }
  return true;
}

bool PrimCall::run_prim_func() {
  const std::string what = label(op_);
  size_t num_results = results_.size();
  std::vector<void*> addresses;
  SymbolValues::Map own = values_.symbols().exchange(sizes_);
  bool ok = true;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    ok = ok && values_.symbols().match_dims(formals_[i]->shape, inputs_[i]->shape, "an argument of " + what);
    addresses.push_back(address(*inputs_[i]));
  }
  for (size_t k = 0; k < num_results; ++k) {
    ok = ok &&
         values_.symbols().match_dims(formals_[inputs_.size() + k]->shape, outputs_[k]->shape, "a result of " + what);
    addresses.push_back(address(*outputs_[k]));
  }
  for (int64_t& value : bound_values_) addresses.push_back(&value);
  for (size_t k = num_results; k < outputs_.size(); ++k) addresses.push_back(address(*outputs_[k]));
  values_.symbols().exchange(std::move(own));
  if (!ok) return false;
  scalars_.resize(function_.params.size() - formals_.size());
  for (Var symbol : function_.symbols) scalars_.push_back(sizes_.at(symbol));
  tir::RunStatus status = evaluator_.run(function_, addresses, scalars_);
  if (status) return true;
  return values_.fail({status, call_text(op_, function_)});
}

bool PrimCall::bind_results() {
  Parts all(outputs_.begin(), outputs_.begin() + static_cast<std::ptrdiff_t>(results_.size()));
  if (op_.binds.empty()) return values_.set_results(op_, all);
  for (size_t k = 0; k < op_.binds.size(); ++k) values_.symbols().set(op_.binds[k], bound_values_[k]);
  for (size_t k = 0; k < results_.size(); ++k) {
    HostTensor& t = *outputs_[k];
    auto room = t.elements();
    t.shape.clear();
    if (!values_.symbols().evaluate_dims(*results_[k]->shape, t.shape, "result of " + label(op_))) return false;
    if (t.elements() > room) return values_.fail(kDataBound, label(op_), room, t.elements());
    t.bytes.resize(static_cast<size_t>(t.elements() * t.dtype.bytes()));
  }
  return values_.set_results(op_, all);
}

}  // namespace relaxc::relax::interpreter
