// lower_call.cpp: guards, and calls of prim funcs and of external functions.
//
// A failure leaves the function at once with its code; the record goes where the caller said, or nowhere. Every
// function passes its error pointer down, so nothing is copied on the way up.
#include <llvm/IR/MDBuilder.h>

#include "compiler/codegen/llvm/lower_function.h"
#include "compiler/codegen/llvm/stack_bound.h"
#include "compiler/interface/dlpack.h"

namespace relaxc::codegen_llvm {

using arith::Expr;
using interface::Record;
using llvm::Value;

Value* FunctionLowering::field(Value* record, Record which, std::string_view name) {
  return b_.CreateStructGEP(module_.record(which), record, interface::field_index(which, name));
}

void FunctionLowering::leave_if(Value* failed, const std::function<Value*()>& status) {
  llvm::BasicBlock *leave = block("fails"), *go_on = block("holds");
  llvm::BranchInst* branch = b_.CreateCondBr(failed, leave, go_on);
  llvm::MDBuilder weights(function_->getContext());
  const bool runs_once = source_.c_function.has_value();  // so that its size is what counts, not where a jump goes
  if (!runs_once) branch->setMetadata(llvm::LLVMContext::MD_prof, weights.createBranchWeights(1, 1 << 20));
  b_.SetInsertPoint(leave);
  isolated([&] {
    b_.CreateRet(status());
    return 0;
  });
  b_.SetInsertPoint(go_on);
}

void FunctionLowering::lower_guard(const tir::Guard& s) {
  guard_ = &s, guard_overflow_ = nullptr;
  Value* holds = scalar(s.condition);
  guard_ = nullptr;
  if (auto* known = llvm::dyn_cast<llvm::ConstantInt>(holds); known != nullptr && known->isOne()) return;
  leave_if(b_.CreateNot(holds), [&] {
    Value* expected = s.expected ? scalar(s.expected) : b_.getInt64(0);
    Value* actual = s.actual ? scalar(s.actual) : b_.getInt64(0);
    return fail(s, expected, actual);
  });
}

/// The guard's code, once its record is written.
Value* FunctionLowering::fail(const tir::Guard& s, Value* expected, Value* actual) {
  if (llvm::isa<llvm::ConstantPointerNull>(error_)) return b_.getInt32(static_cast<uint32_t>(s.code));
  auto pair = [&](int32_t low, int32_t high) {
    return b_.getInt64(static_cast<uint64_t>(static_cast<uint32_t>(high)) << 32 | static_cast<uint32_t>(low));
  };
  llvm::CallInst* call = b_.CreateCall(module_.fail(source_.c_function.has_value()),
                                       {error_, b_.getInt32(static_cast<uint32_t>(s.code)), pair(s.tensor, s.axis),
                                        pair(s.symbol, s.error_node), expected, actual});
  call->setTailCall();
  return call;
}

/// The status of a call that failed, once its record has the node of the call, unless what failed in it has one.
Value* FunctionLowering::name_failure(int32_t node, Value* status) {
  if (node < 0) return status;
  llvm::CallInst* call =
      b_.CreateCall(module_.name_failure(), {error_, b_.getInt32(static_cast<uint32_t>(node)), status});
  call->setTailCall();
  return call;
}

void FunctionLowering::lower_invoke(const tir::Invoke& s) {
  const Signature* callee = s.external ? nullptr : module_.find(s.callee);
  RELAXC_CHECK(s.external || callee != nullptr, "a call of " + s.callee + ", which was not lowered before");
  const interface::Hooks& hooks = module_.options().hooks;
  bool traced = hooks.at(s.trace_node) && hooks.trace;
  if (hooks.at(s.trace_node) && hooks.poll) poll(s.trace_node);
  if (traced) trace(s.trace_node, true);
  std::vector<std::function<void()>> results;  // of unknown size, taken after the call
  const tir::Guard named = tir::overflow_of(source_, s);
  guard_ = s.error_node >= 0 ? &named : nullptr;
  Value* status = s.runtime ? call_runtime(s) : s.external ? call_external(s, results) : call_internal(s, *callee);
  guard_ = nullptr;
  if (traced) trace(s.trace_node, false);  // whatever the status
  if (status == nullptr) return;
  leave_if(b_.CreateICmpNE(status, b_.getInt32(0)), [&]() -> Value* {
    constexpr int32_t kExternalFailed = 35;
    if (!s.external || s.runtime || s.status) return name_failure(s.error_node, status);
    tir::Guard record;
    record.code = kExternalFailed, record.error_node = s.error_node;
    return fail(record, b_.getInt64(0), b_.CreateSExt(status, b_.getInt64Ty()));
  });
  for (const auto& take : results) take();
}

/// A handle that is passed, the place for one, or the place for a tensor (tir::Invoke says which is which).
Value* FunctionLowering::handle_argument(tir::BufferRef buffer, int32_t node,
                                         std::vector<std::function<void()>>& results) {
  Value* words = place(buffer).address;
  llvm::Align align(8);
  if (buffer->shape.empty())
    return b_.CreateIntToPtr(b_.CreateAlignedLoad(b_.getInt64Ty(), words, align), b_.getPtrTy());
  llvm::BasicBlock& entry = function_->getEntryBlock();
  llvm::IRBuilder<> at_entry(&entry, entry.begin());
  if (buffer->shape[0].is_constant(1)) {
    Value* handle = at_entry.CreateAlloca(b_.getPtrTy());
    b_.CreateStore(llvm::ConstantPointerNull::get(b_.getPtrTy()), handle);
    results.push_back([this, handle, words, align] {
      b_.CreateAlignedStore(b_.CreatePtrToInt(b_.CreateLoad(b_.getPtrTy(), handle), b_.getInt64Ty()), words, align);
    });
    return handle;
  }
  Value* record = at_entry.CreateAlloca(module_.record(Record::kTensor));
  auto runtime = [this](const char* name, llvm::Type* result, std::vector<Value*> args) {
    std::vector<llvm::Type*> types;
    for (Value* arg : args) types.push_back(arg->getType());
    llvm::FunctionCallee callee =
        module_.module().getOrInsertFunction(name, llvm::FunctionType::get(result, types, false));
    if (auto* declared = llvm::dyn_cast<llvm::Function>(callee.getCallee())) declared->setDoesNotThrow();
    return b_.CreateCall(callee, args);
  };
  runtime("rlx_result_begin", b_.getVoidTy(), {words, record});
  results.push_back([this, runtime, words, record, node] {
    Value* found = runtime("rlx_result_end", b_.getInt32Ty(), {record, words, error_});
    leave_if(b_.CreateICmpNE(found, b_.getInt32(0)), [&] { return name_failure(node, found); });
  });
  return record;
}

Value* FunctionLowering::call_runtime(const tir::Invoke& s) {
  RELAXC_CHECK(!module_.options().in_process, "a run of the compiler's own has no runtime: " + s.callee);
  std::vector<Value*> args{context_};
  for (const tir::Argument& argument : s.args) {
    if (const auto* buffer = std::get_if<tir::BufferRef>(&argument)) {
      args.push_back(place(*buffer).address);
    } else {
      Expr given = std::get<Expr>(argument);
      args.push_back(numeric_.cast(given.dtype(), DType::i(64), scalar(given)));
    }
  }
  args.push_back(error_);
  std::vector<llvm::Type*> types;
  for (Value* arg : args) types.push_back(arg->getType());
  auto* type = llvm::FunctionType::get(b_.getInt32Ty(), types, false);
  llvm::FunctionCallee callee = module_.module().getOrInsertFunction(s.callee, type);
  if (auto* declared = llvm::dyn_cast<llvm::Function>(callee.getCallee())) {
    declared->setDoesNotThrow();
    mark_of_program(*declared);
  }
  return b_.CreateCall(callee, args);
}

Value* FunctionLowering::call_internal(const tir::Invoke& s, const Signature& callee) {
  std::vector<Value*> args;
  if (callee.wants_context) args.push_back(context_);
  const std::vector<tir::Param>& params = callee.source->params;
  RELAXC_CHECK(s.args.size() >= params.size(), "too few arguments of " + s.callee);
  for (size_t i = 0; i < params.size(); ++i) {
    if (const auto* buffer = std::get_if<tir::BufferRef>(&s.args[i])) {
      args.push_back(place(*buffer).address);
    } else {
      DType dtype = params[i].var.dtype();
      Expr given = std::get<Expr>(s.args[i]);
      args.push_back(numeric_.to_memory(dtype, numeric_.cast(given.dtype(), dtype, scalar(given))));
    }
  }
  for (Value* symbol : symbol_arguments(s, callee)) args.push_back(symbol);
  if (callee.may_fail) args.push_back(error_);
  Value* status = b_.CreateCall(callee.function, args);
  return callee.may_fail ? status : nullptr;
}

/// The callee's symbols: given after the parameters, or found where they stand bare in the shapes of its buffers.
std::vector<Value*> FunctionLowering::symbol_arguments(const tir::Invoke& s, const Signature& callee) {
  const tir::PrimFunc& function = *callee.source;
  std::vector<Value*> out;
  if (s.args.size() == function.params.size() + function.symbols.size()) {
    for (size_t i = function.params.size(); i < s.args.size(); ++i) out.push_back(scalar(std::get<Expr>(s.args[i])));
    return out;
  }
  RELAXC_CHECK(s.args.size() == function.params.size(), "wrong number of arguments of " + s.callee);
  for (const arith::Var& symbol : function.symbols) {
    Value* found = nullptr;
    for (size_t i = 0; i < s.args.size() && found == nullptr; ++i) {
      const auto* buffer = std::get_if<tir::BufferRef>(&s.args[i]);
      if (buffer == nullptr) continue;
      const std::vector<Expr>& shape = function.params[i].buffer->shape;
      for (size_t dim = 0; dim < shape.size() && found == nullptr; ++dim)
        if (shape[dim] == symbol) found = scalar((*buffer)->shape.at(dim));
    }
    RELAXC_CHECK(found != nullptr, "no argument of " + s.callee + " gives " + symbol.name());
    out.push_back(found);
  }
  return out;
}

/// An rlx_tensor on the stack, with its shape beside it.
Value* FunctionLowering::tensor_record(tir::BufferRef buffer) {
  uint64_t rank = buffer->shape.size();
  Value* shape = at_entry(llvm::ArrayType::get(b_.getInt64Ty(), std::max<uint64_t>(rank, 1)));
  for (size_t i = 0; i < rank; ++i)
    b_.CreateStore(scalar(buffer->shape[i]), b_.CreateConstGEP1_64(b_.getInt64Ty(), shape, i));
  return tensor_record(buffer->dtype, place(buffer).address, shape, rank);
}

Value* FunctionLowering::tensor_record(DType dtype, Value* data, Value* shape, uint64_t rank) {
  Value* record = at_entry(module_.record(Record::kTensor));
  auto set = [&](std::string_view name, Value* value) { b_.CreateStore(value, field(record, Record::kTensor, name)); };
  Value* nothing = llvm::ConstantPointerNull::get(b_.getPtrTy());
  interface::DLPackType type = interface::dlpack_type(dtype);
  set("data", data);
  set("device_type", b_.getInt32(1));
  set("device_id", b_.getInt32(0));
  set("ndim", b_.getInt32(static_cast<uint32_t>(rank)));
  set("dtype_code", b_.getInt8(type.code));
  set("dtype_bits", b_.getInt8(type.bits));
  set("dtype_lanes", b_.getInt16(1));
  set("shape", shape != nullptr ? shape : nothing);
  set("strides", nothing);
  set("byte_offset", b_.getInt64(0));
  return record;
}

Value* FunctionLowering::call_external(const tir::Invoke& s, std::vector<std::function<void()>>& results) {
  if (s.plain) return call_plain(s);
  bool hosted = module_.options().in_process;
  std::vector<Value*> args;
  if (!hosted) args.push_back(context_);
  for (const tir::Argument& argument : s.args) {
    const auto* buffer = std::get_if<tir::BufferRef>(&argument);
    bool handle = buffer != nullptr && (*buffer)->dtype == DType::handle();
    RELAXC_CHECK(!handle || !hosted, "a handle in a run of the compiler's own: " + s.callee);
    if (handle)
      args.push_back(handle_argument(*buffer, s.error_node, results));
    else if (buffer != nullptr)
      args.push_back(tensor_record(*buffer));
    else if (hosted)
      args.push_back(scalar_record(std::get<Expr>(argument)));
    else
      args.push_back(numeric_.cast(std::get<Expr>(argument).dtype(), DType::i(64), scalar(std::get<Expr>(argument))));
  }
  return hosted ? ask_owner(s.callee, args) : call_symbol(s.callee, b_.getInt32Ty(), args);
}

}  // namespace relaxc::codegen_llvm
