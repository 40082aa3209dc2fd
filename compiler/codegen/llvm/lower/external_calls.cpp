// external_calls.cpp: passes arguments to C functions and takes their results.
#include "compiler/codegen/llvm/lower/external_calls.h"

#include "compiler/interface/dlpack.h"
#include "compiler/tir/runtime_functions.h"

namespace relaxc::codegen_llvm {

using arith::Expr;
using interface::Record;
using llvm::Value;

namespace {

constexpr uint64_t kHandleBytes = 8;

/// Callers extend small integers to int, as C does.
llvm::Attribute::AttrKind extension(DType dtype) {
  bool small = (dtype.is_integer() || dtype.is_bool()) && dtype.bits < 32;
  return !small ? llvm::Attribute::None : dtype.is_int() ? llvm::Attribute::SExt : llvm::Attribute::ZExt;
}

}  // namespace

Value* ExternalCalls::call(const tir::Invoke& s, Results& results) {
  if (s.plain) {
    Value* result = plain_result(s.callee, s.result, s.args);
    return s.status ? result : nullptr;
  }
  bool hosted = frame_.options().in_process;
  std::vector<Value*> args;
  if (!hosted) args.push_back(frame_.context());
  for (const tir::Argument& argument : s.args) {
    const auto* buffer = std::get_if<tir::BufferRef>(&argument);
    bool handle = buffer != nullptr && (*buffer)->dtype == DType::handle();
    RELAXC_CHECK(!handle || !hosted, "a handle in a run of the compiler's own: " + s.callee);
    if (handle)
      args.push_back(handle_argument(*buffer, s.error_node, results));
    else if (buffer != nullptr)
      args.push_back(tensor_record(*buffer));
    else
      args.push_back(hosted ? scalar_record(std::get<Expr>(argument)) : as_int64(std::get<Expr>(argument)));
  }
  return hosted ? ask_owner(s.callee, args) : frame_.call_symbol(s.callee, b_.getInt32Ty(), args);
}

Value* ExternalCalls::call_runtime(const tir::Invoke& s) {
  RELAXC_CHECK(!frame_.options().in_process, "a run of the compiler's own has no runtime: " + s.callee);
  std::vector<Value*> args{frame_.context()};
  for (const tir::Argument& argument : s.args) {
    const auto* buffer = std::get_if<tir::BufferRef>(&argument);
    args.push_back(buffer != nullptr ? addresses_.at(*buffer).address : as_int64(std::get<Expr>(argument)));
  }
  args.push_back(failures_.error());
  return frame_.call_symbol(s.callee, b_.getInt32Ty(), args);
}

Value* ExternalCalls::result_of(const arith::Extern& e) {
  std::vector<tir::Argument> args(e.args.begin(), e.args.end());
  return numeric_.from_memory(e.dtype, plain_result(e.name, e.dtype, args));
}

/// Emits the call and returns its result, in the type that memory holds.
Value* ExternalCalls::plain_result(const std::string& name, DType dtype, const std::vector<tir::Argument>& given) {
  if (frame_.options().in_process) return plain_result_of_owner(name, dtype, given);
  std::vector<Value*> args;
  for (const tir::Argument& argument : given) {
    const auto* e = std::get_if<Expr>(&argument);
    args.push_back(e != nullptr ? numeric_.to_memory(e->dtype(), values_.scalar(*e))
                                : addresses_.at(std::get<tir::BufferRef>(argument)).address);
  }
  llvm::Type* type = dtype == DType::handle() ? b_.getVoidTy() : numeric_.memory_type(dtype);
  llvm::CallInst* call = frame_.call_symbol(name, type, args);
  if (extension(dtype) != llvm::Attribute::None) call->addRetAttr(extension(dtype));
  for (unsigned i = 0; i < given.size(); ++i)
    if (const auto* e = std::get_if<Expr>(&given[i]); e != nullptr && extension(e->dtype()) != llvm::Attribute::None)
      call->addParamAttr(i, extension(e->dtype()));
  return call;
}

Value* ExternalCalls::plain_result_of_owner(const std::string& name, DType dtype,
                                            const std::vector<tir::Argument>& given) {
  std::vector<Value*> records;
  for (const tir::Argument& argument : given) {
    const auto* e = std::get_if<Expr>(&argument);
    records.push_back(e != nullptr ? scalar_record(*e) : tensor_record(std::get<tir::BufferRef>(argument)));
  }
  if (dtype == DType::handle()) return ask_owner(name, records);
  llvm::Type* type = numeric_.memory_type(dtype);
  Value* result = frame_.at_entry(type);
  records.push_back(tensor_record(dtype, result));
  ask_owner(name, records);
  return b_.CreateLoad(type, result);
}

Value* ExternalCalls::ask_owner(const std::string& name, const std::vector<Value*>& records) {
  Value* list = frame_.at_entry(llvm::ArrayType::get(b_.getPtrTy(), std::max<uint64_t>(records.size(), 1)));
  for (size_t i = 0; i < records.size(); ++i) b_.CreateStore(records[i], b_.CreateConstGEP1_64(b_.getPtrTy(), list, i));
  return frame_.call_symbol("relaxc_jit_external", b_.getInt32Ty(),
                            {b_.CreateGlobalString(name), list, b_.getInt64(records.size())});
}

/// The argument for a handle: the handle, the place for one, or the place for a tensor (see tir::Invoke).
Value* ExternalCalls::handle_argument(tir::BufferRef buffer, int32_t node, Results& results) {
  Value* words = addresses_.at(buffer).address;
  if (buffer->shape.empty())
    return b_.CreateIntToPtr(b_.CreateAlignedLoad(b_.getInt64Ty(), words, llvm::Align(kHandleBytes)), b_.getPtrTy());
  return buffer->shape[0].is_constant(1) ? place_of_handle(words, results) : place_of_tensor(words, node, results);
}

Value* ExternalCalls::place_of_handle(Value* words, Results& results) {
  Value* handle = frame_.at_entry(b_.getPtrTy());
  b_.CreateStore(frame_.null(), handle);
  results.push_back([this, handle, words] {
    Value* given = b_.CreatePtrToInt(b_.CreateLoad(b_.getPtrTy(), handle), b_.getInt64Ty());
    b_.CreateAlignedStore(given, words, llvm::Align(kHandleBytes));
  });
  return handle;
}

Value* ExternalCalls::place_of_tensor(Value* words, int32_t node, Results& results) {
  Value* record = frame_.at_entry(frame_.module().record(Record::kTensor));
  frame_.call_runtime(tir::runtime_name(tir::RuntimeFunction::kResultBegin), b_.getVoidTy(), {words, record});
  results.push_back([this, words, record, node] {
    Value* found = frame_.call_runtime(tir::runtime_name(tir::RuntimeFunction::kResultEnd), b_.getInt32Ty(),
                                       {record, words, failures_.error()});
    failures_.leave_if_failed(found, [&] { return failures_.name_failure(node, found); });
  });
  return record;
}

Value* ExternalCalls::as_int64(Expr given) {
  return numeric_.cast(given.dtype(), DType::i(64), values_.scalar(given));
}

Value* ExternalCalls::scalar_record(Expr given) {
  DType dtype = given.dtype(), wide = dtype.is_float() ? DType::f(64) : DType::i(64);
  Value* value = b_.CreateBitCast(numeric_.cast(dtype, wide, values_.scalar(given)), b_.getInt64Ty());
  Value* record = frame_.at_entry(frame_.module().record(Record::kTensor));
  auto set = [&](std::string_view name, Value* to) { b_.CreateStore(to, frame_.field(record, Record::kTensor, name)); };
  interface::DLPackType type = interface::dlpack_type(dtype);
  set("ndim", b_.getInt32(~0u));
  set("dtype_code", b_.getInt8(type.code));
  set("dtype_bits", b_.getInt8(type.bits));
  set("byte_offset", value);
  return record;
}

/// Makes an rlx_tensor on the stack that describes the buffer, with the shape beside it.
Value* ExternalCalls::tensor_record(tir::BufferRef buffer) {
  uint64_t rank = buffer->shape.size();
  Value* shape = frame_.at_entry(llvm::ArrayType::get(b_.getInt64Ty(), std::max<uint64_t>(rank, 1)));
  for (size_t i = 0; i < rank; ++i) {
    Value* place = b_.CreateConstGEP1_64(b_.getInt64Ty(), shape, i);
    b_.CreateStore(values_.scalar(buffer->shape[i]), place);
  }
  return tensor_record(buffer->dtype, addresses_.at(buffer).address, shape, rank);
}

Value* ExternalCalls::tensor_record(DType dtype, Value* data, Value* shape, uint64_t rank) {
  Value* record = frame_.at_entry(frame_.module().record(Record::kTensor));
  auto set = [&](std::string_view name, Value* to) { b_.CreateStore(to, frame_.field(record, Record::kTensor, name)); };
  interface::DLPackType type = interface::dlpack_type(dtype);
  set("data", data);
  set("device_type", b_.getInt32(1));
  set("device_id", b_.getInt32(0));
  set("ndim", b_.getInt32(static_cast<uint32_t>(rank)));
  set("dtype_code", b_.getInt8(type.code));
  set("dtype_bits", b_.getInt8(type.bits));
  set("dtype_lanes", b_.getInt16(1));
  set("shape", shape != nullptr ? shape : frame_.null());
  set("strides", frame_.null());
  set("byte_offset", b_.getInt64(0));
  return record;
}

}  // namespace relaxc::codegen_llvm
