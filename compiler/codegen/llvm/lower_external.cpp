// lower_external.cpp: plain C functions, and how code that runs inside relaxc reaches external ones.
//
// In an object an external function is an undefined symbol. Inside relaxc it is none: name and arguments go to
// relaxc_jit_external, which asks the Evaluator's owner. There a scalar is a tensor record without data, with ndim -1
// and the value as its byte offset (floats: the bits of a double); what a plain function returns is a tensor of rank 0
// behind the arguments.
#include "compiler/codegen/llvm/lower_function.h"
#include "compiler/codegen/llvm/stack_bound.h"
#include "compiler/interface/dlpack.h"

namespace relaxc::codegen_llvm {

using arith::Expr;
using interface::Record;
using llvm::Value;

namespace {

/// Callers extend small integers to int, as C does.
llvm::Attribute::AttrKind extension(DType dtype) {
  bool small = (dtype.is_integer() || dtype.is_bool()) && dtype.bits < 32;
  return !small ? llvm::Attribute::None : dtype.is_int() ? llvm::Attribute::SExt : llvm::Attribute::ZExt;
}

}  // namespace

llvm::CallInst* FunctionLowering::call_symbol(const std::string& name, llvm::Type* result,
                                              const std::vector<Value*>& args) {
  std::vector<llvm::Type*> types;
  for (Value* arg : args) types.push_back(arg->getType());
  auto* type = llvm::FunctionType::get(result, types, false);
  llvm::FunctionCallee callee = module_.module().getOrInsertFunction(name, type);
  if (auto* declared = llvm::dyn_cast<llvm::Function>(callee.getCallee())) {
    declared->setDoesNotThrow();
    mark_of_program(*declared);
  }
  return b_.CreateCall(callee, args);
}

Value* FunctionLowering::at_entry(llvm::Type* type) {
  llvm::BasicBlock& entry = function_->getEntryBlock();
  return llvm::IRBuilder<>(&entry, entry.begin()).CreateAlloca(type);
}

Value* FunctionLowering::scalar_record(Expr given) {
  DType dtype = given.dtype(), wide = dtype.is_float() ? DType::f(64) : DType::i(64);
  Value* value = b_.CreateBitCast(numeric_.cast(dtype, wide, scalar(given)), b_.getInt64Ty());
  Value* record = at_entry(module_.record(Record::kTensor));
  interface::DLPackType type = interface::dlpack_type(dtype);
  b_.CreateStore(b_.getInt32(~0u), field(record, Record::kTensor, "ndim"));
  b_.CreateStore(b_.getInt8(type.code), field(record, Record::kTensor, "dtype_code"));
  b_.CreateStore(b_.getInt8(type.bits), field(record, Record::kTensor, "dtype_bits"));
  b_.CreateStore(value, field(record, Record::kTensor, "byte_offset"));
  return record;
}

Value* FunctionLowering::ask_owner(const std::string& name, const std::vector<Value*>& records) {
  Value* list = at_entry(llvm::ArrayType::get(b_.getPtrTy(), std::max<uint64_t>(records.size(), 1)));
  for (size_t i = 0; i < records.size(); ++i) b_.CreateStore(records[i], b_.CreateConstGEP1_64(b_.getPtrTy(), list, i));
  return call_symbol("relaxc_jit_external", b_.getInt32Ty(),
                     {b_.CreateGlobalString(name), list, b_.getInt64(records.size())});
}

/// The value that the function returns, as in memory.
Value* FunctionLowering::plain_result(const std::string& name, DType dtype, const std::vector<tir::Argument>& given) {
  bool hosted = module_.options().in_process;
  std::vector<Value*> args;
  for (const tir::Argument& argument : given) {
    const auto* e = std::get_if<Expr>(&argument);
    if (hosted)
      args.push_back(e != nullptr ? scalar_record(*e) : tensor_record(std::get<tir::BufferRef>(argument)));
    else
      args.push_back(e != nullptr ? numeric_.to_memory(e->dtype(), scalar(*e))
                                  : place(std::get<tir::BufferRef>(argument)).address);
  }
  bool nothing = dtype == DType::handle();
  llvm::Type* type = nothing ? b_.getVoidTy() : numeric_.memory_type(dtype);
  if (hosted && nothing) return ask_owner(name, args);
  if (hosted) {
    Value* result = at_entry(type);
    args.push_back(tensor_record(dtype, result));
    ask_owner(name, args);
    return b_.CreateLoad(type, result);
  }
  llvm::CallInst* call = call_symbol(name, type, args);
  if (extension(dtype) != llvm::Attribute::None) call->addRetAttr(extension(dtype));
  for (unsigned i = 0; i < given.size(); ++i)
    if (const auto* e = std::get_if<Expr>(&given[i]); e != nullptr && extension(e->dtype()) != llvm::Attribute::None)
      call->addParamAttr(i, extension(e->dtype()));
  return call;
}

Value* FunctionLowering::call_plain(const tir::Invoke& s) {
  Value* result = plain_result(s.callee, s.result, s.args);
  return s.status ? result : nullptr;
}

Value* FunctionLowering::call_scalar(const arith::Extern& e) {
  std::vector<tir::Argument> args(e.args.begin(), e.args.end());
  return numeric_.from_memory(e.dtype, plain_result(e.name, e.dtype, args));
}

}  // namespace relaxc::codegen_llvm
