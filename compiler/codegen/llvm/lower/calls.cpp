// calls.cpp: lowers calls of prim funcs of the module, and handles the status of every call.
#include "compiler/codegen/llvm/lower/calls.h"

namespace relaxc::codegen_llvm {

using arith::Expr;
using llvm::Value;

void Calls::lower(const tir::Invoke& s) {
  const Signature* callee = s.external ? nullptr : frame_.module().find(s.callee);
  RELAXC_CHECK(s.external || callee != nullptr, "a call of " + s.callee + ", which was not lowered before");
  const interface::Hooks& hooks = frame_.options().hooks;
  bool traced = hooks.at(s.trace_node) && hooks.trace;
  if (hooks.at(s.trace_node) && hooks.poll) hooks_.poll(s.trace_node);
  if (traced) hooks_.trace(s.trace_node, true);
  ExternalCalls::Results results;  // code after the call that takes results of unknown size
  Value* status = status_of(s, callee, results);
  if (traced) hooks_.trace(s.trace_node, false);  // whatever the status
  if (status == nullptr) return;
  failures_.leave_if_failed(status, [&] {
    constexpr int32_t kExternalFailed = 35;
    const bool has_record = !s.external || s.runtime || s.status;
    return has_record ? failures_.name_failure(s.error_node, status)
                      : failures_.fail_with(kExternalFailed, s.error_node, status);
  });
  for (const auto& take : results) take();
}

/// Emits the call and returns its status; null if it has none.
Value* Calls::status_of(const tir::Invoke& s, const Signature* callee, ExternalCalls::Results& results) {
  const tir::Guard named = tir::overflow_of(frame_.source(), s);
  OverflowChecks::Computing arguments(checks_, s.error_node >= 0 ? &named : nullptr);
  if (s.runtime) return externals_.call_runtime(s);
  return s.external ? externals_.call(s, results) : call_internal(s, *callee);
}

Value* Calls::call_internal(const tir::Invoke& s, const Signature& callee) {
  std::vector<Value*> args;
  if (callee.needs_context) args.push_back(frame_.context());
  const std::vector<tir::Param>& params = callee.source->params;
  RELAXC_CHECK(s.args.size() >= params.size(), "too few arguments of " + s.callee);
  for (size_t i = 0; i < params.size(); ++i) {
    if (const auto* buffer = std::get_if<tir::BufferRef>(&s.args[i])) {
      args.push_back(addresses_.at(*buffer).address);
    } else {
      DType dtype = params[i].var.dtype();
      Expr given = std::get<Expr>(s.args[i]);
      Numeric& numeric = frame_.numeric();
      args.push_back(numeric.to_memory(dtype, numeric.cast(given.dtype(), dtype, values_.scalar(given))));
    }
  }
  for (Value* symbol : symbol_arguments(s, callee)) args.push_back(symbol);
  if (callee.may_fail) args.push_back(failures_.error());
  Value* status = b_.CreateCall(callee.function, args);
  return callee.may_fail ? status : nullptr;
}

/// The arguments for the callee's symbols: those after the parameters, or else bare dims of the shapes of its buffers.
std::vector<Value*> Calls::symbol_arguments(const tir::Invoke& s, const Signature& callee) {
  const tir::PrimFunc& function = *callee.source;
  std::vector<Value*> out;
  if (s.args.size() == function.params.size() + function.symbols.size()) {
    for (size_t i = function.params.size(); i < s.args.size(); ++i)
      out.push_back(values_.scalar(std::get<Expr>(s.args[i])));
    return out;
  }
  RELAXC_CHECK(s.args.size() == function.params.size(), "wrong number of arguments of " + s.callee);
  for (const arith::Var& symbol : function.symbols) out.push_back(symbol_of_shapes(s, function, symbol));
  return out;
}

Value* Calls::symbol_of_shapes(const tir::Invoke& s, const tir::PrimFunc& callee, arith::Var symbol) {
  for (size_t i = 0; i < s.args.size(); ++i) {
    const auto* buffer = std::get_if<tir::BufferRef>(&s.args[i]);
    if (buffer == nullptr) continue;
    const std::vector<Expr>& shape = callee.params[i].buffer->shape;
    for (size_t dim = 0; dim < shape.size(); ++dim)
      if (shape[dim] == symbol) return values_.scalar((*buffer)->shape.at(dim));
  }
  RELAXC_UNREACHABLE("no argument of " + s.callee + " gives " + symbol.name());
}

}  // namespace relaxc::codegen_llvm
