// adapters.cpp: the functions that rlx_function_private points to, and public prim funcs.
//
// runtime-lite hands over arrays of pointers and symbols; prim funcs take each as a parameter. An adapter loads one
// after the other. The order of parameters is the one that compiler/interface/object.h states.
#include "compiler/codegen/llvm/object_emitter.h"

namespace relaxc::codegen_llvm {

using interface::Record;
using llvm::Value;

llvm::Function* ObjectEmitter::declare(const std::string& name, llvm::FunctionType* type, bool global) {
  auto linkage = global ? llvm::GlobalValue::ExternalLinkage : llvm::GlobalValue::InternalLinkage;
  llvm::Function* function = llvm::Function::Create(type, linkage, name, module_);
  lowering_.set_attributes(*function);
  return function;
}

Value* ObjectEmitter::field(llvm::IRBuilder<>& b, Value* address, Record which, std::string_view name) {
  return b.CreateStructGEP(lowering_.record(which), address, interface::field_index(which, name));
}

Value* ObjectEmitter::call(llvm::IRBuilder<>& b, const std::string& prim_func, Value* context, std::vector<Value*> args,
                           Value* error) {
  const Signature* callee = lowering_.find(prim_func);
  RELAXC_CHECK(callee != nullptr, "an entry names the prim func " + prim_func + ", which does not exist");
  if (context == nullptr) context = llvm::ConstantPointerNull::get(b.getPtrTy());
  if (callee->wants_context) args.insert(args.begin(), context);
  if (callee->may_fail) args.push_back(error);
  RELAXC_CHECK(args.size() == callee->function->arg_size(),
               "the parameters of " + prim_func + " are not those of its role");
  Value* status = b.CreateCall(callee->function, args);
  return callee->may_fail ? status : b.getInt32(0);
}

namespace {

/// Element `i` of an array of int64_t or of pointers.
Value* element(llvm::IRBuilder<>& b, llvm::Type* type, Value* array, uint64_t i) {
  return b.CreateLoad(type, b.CreateConstInBoundsGEP1_64(type, array, i));
}

/// Leaves the function with `code` if a symbol that is read from data is not known.
void leave_if_unknown(llvm::IRBuilder<>& b, const interface::Entry& entry, Value* symbols,
                      const std::function<void()>& leave) {
  Value* unknown = nullptr;
  for (size_t i = 0; i < entry.symbols.size(); ++i) {
    if (!interface::is_value(entry.symbols[i])) continue;
    Value* is_unknown =
        b.CreateICmpEQ(element(b, b.getInt64Ty(), symbols, i), b.getInt64(static_cast<uint64_t>(INT64_MIN)));
    unknown = unknown == nullptr ? is_unknown : b.CreateOr(unknown, is_unknown);
  }
  if (unknown == nullptr) return;
  llvm::Function* function = b.GetInsertBlock()->getParent();
  auto* on_true = llvm::BasicBlock::Create(b.getContext(), "unknown", function);
  auto* on_false = llvm::BasicBlock::Create(b.getContext(), "known", function);
  b.CreateCondBr(unknown, on_true, on_false);
  b.SetInsertPoint(on_true);
  leave();
  b.SetInsertPoint(on_false);
}

}  // namespace

llvm::Function* ObjectEmitter::shapes_adapter(const Entry& entry) {
  llvm::IRBuilder<> b(module_.getContext());
  llvm::Type* pointer = b.getPtrTy();
  auto* function = declare(local(entry, "shapes"),
                           llvm::FunctionType::get(b.getInt32Ty(), {pointer, pointer, pointer}, false), false);
  b.SetInsertPoint(llvm::BasicBlock::Create(b.getContext(), "entry", function));
  leave_if_unknown(b, entry, function->getArg(0), [&] { b.CreateRet(b.getInt32(0)); });
  std::vector<Value*> args;
  for (size_t i = 0; i < entry.symbols.size(); ++i) args.push_back(element(b, b.getInt64Ty(), function->getArg(0), i));
  args.push_back(function->getArg(1));
  b.CreateRet(call(b, entry.shapes, nullptr, args, function->getArg(2)));
  return function;
}

llvm::Function* ObjectEmitter::arena_adapter(const Entry& entry) {
  constexpr uint32_t kNeedsData = 22;
  llvm::IRBuilder<> b(module_.getContext());
  llvm::Type* pointer = b.getPtrTy();
  auto* function =
      declare(local(entry, "arena"), llvm::FunctionType::get(b.getInt32Ty(), {pointer, pointer}, false), false);
  b.SetInsertPoint(llvm::BasicBlock::Create(b.getContext(), "entry", function));
  leave_if_unknown(b, entry, function->getArg(0), [&] {
    bool bounded = entry.arena_max != UINT64_MAX;
    if (bounded) b.CreateStore(b.getInt64(entry.arena_max), function->getArg(1));
    b.CreateRet(b.getInt32(bounded ? 0 : kNeedsData));
  });
  std::vector<Value*> args;
  for (size_t i = 0; i < entry.symbols.size(); ++i) args.push_back(element(b, b.getInt64Ty(), function->getArg(0), i));
  args.push_back(function->getArg(1));
  b.CreateRet(call(b, entry.arena, nullptr, args, llvm::ConstantPointerNull::get(b.getPtrTy())));
  return function;
}

llvm::Function* ObjectEmitter::values_adapter(const Entry& entry) {
  llvm::IRBuilder<> b(module_.getContext());
  llvm::Type* pointer = b.getPtrTy();
  auto* type = llvm::FunctionType::get(b.getInt32Ty(), {pointer, pointer, pointer, pointer, pointer}, false);
  auto* function = declare(local(entry, "values"), type, false);
  b.SetInsertPoint(llvm::BasicBlock::Create(b.getContext(), "entry", function));
  Value* symbols = function->getArg(3);
  std::vector<Value*> args;
  for (size_t i = 0; i < entry.inputs.size(); ++i) args.push_back(element(b, pointer, function->getArg(1), i));
  for (size_t i = 0; i < entry.symbols.size(); ++i)
    if (!interface::is_value(entry.symbols[i])) args.push_back(element(b, b.getInt64Ty(), symbols, i));
  args.push_back(symbols);
  b.CreateRet(call(b, entry.values, function->getArg(0), args, function->getArg(4)));
  return function;
}

llvm::Function* ObjectEmitter::call_adapter(const Entry& entry) {
  llvm::IRBuilder<> b(module_.getContext());
  llvm::Type* pointer = b.getPtrTy();
  auto* type = llvm::FunctionType::get(b.getInt32Ty(), {pointer, pointer, pointer, pointer, pointer}, false);
  auto* function = declare(local(entry, "call"), type, false);
  b.SetInsertPoint(llvm::BasicBlock::Create(b.getContext(), "entry", function));
  Value* context = function->getArg(0);
  std::vector<Value*> args;
  for (size_t i = 0; i < entry.inputs.size(); ++i) args.push_back(element(b, pointer, function->getArg(1), i));
  for (size_t i = 0; i < entry.outputs.size(); ++i) args.push_back(element(b, pointer, function->getArg(2), i));
  args.push_back(b.CreateLoad(pointer, field(b, context, Record::kContext, "arena")));
  for (Value* pool : pool_addresses(b, entry, context)) args.push_back(pool);
  args.push_back(weights_address(b, context));
  args.push_back(function->getArg(4));
  for (size_t i = 0; i < entry.symbols.size(); ++i) args.push_back(element(b, b.getInt64Ty(), function->getArg(3), i));
  Value* error = b.CreateLoad(pointer, field(b, context, Record::kContext, "error"));
  b.CreateRet(call(b, entry.call, context, args, error));
  return function;
}

Value* ObjectEmitter::pool_field(llvm::IRBuilder<>& b, Value* pools, size_t index, std::string_view name) {
  Value* pool = b.CreateConstInBoundsGEP1_64(lowering_.record(Record::kMemoryPool), pools, index);
  return b.CreateLoad(name == "data" ? static_cast<llvm::Type*>(b.getPtrTy()) : b.getInt64Ty(),
                      field(b, pool, Record::kMemoryPool, name));
}

std::vector<Value*> ObjectEmitter::pool_addresses(llvm::IRBuilder<>& b, const Entry& entry, Value* context) {
  std::vector<Value*> addresses;
  if (entry.pools.empty()) return addresses;
  Value* pools = b.CreateLoad(b.getPtrTy(), field(b, context, Record::kContext, "pools"));
  for (size_t i = 0; i < entry.pools.size(); ++i)
    addresses.push_back(entry.pools[i].bytes == 0 ? llvm::ConstantPointerNull::get(b.getPtrTy())
                                                  : pool_field(b, pools, i, "data"));
  return addresses;
}

/// `int32_t name(rlx_context* context, parameters…, symbols…)`; the context may be null unless an external function is
/// called.
void ObjectEmitter::public_function(const interface::PublicPrimFunc& named) {
  const Signature* callee = lowering_.find(named.name);
  RELAXC_CHECK(callee != nullptr, "no prim func " + named.name);
  llvm::IRBuilder<> b(module_.getContext());
  llvm::Type* pointer = b.getPtrTy();
  std::vector<llvm::Type*> types{pointer};
  size_t hidden = (callee->wants_context ? 1 : 0), visible = callee->function->arg_size() - (callee->may_fail ? 1 : 0);
  for (size_t i = hidden; i < visible; ++i)
    types.push_back(callee->function->getArg(static_cast<unsigned>(i))->getType());
  std::string name = interface::public_symbol(object_, named.name);
  auto* function = declare(name, llvm::FunctionType::get(b.getInt32Ty(), types, false), true);
  auto* entry = llvm::BasicBlock::Create(b.getContext(), "entry", function);
  b.SetInsertPoint(entry);
  Value* error = llvm::ConstantPointerNull::get(b.getPtrTy());
  if (callee->may_fail) {
    auto* has = llvm::BasicBlock::Create(b.getContext(), "context", function);
    auto* go = llvm::BasicBlock::Create(b.getContext(), "call", function);
    b.CreateCondBr(b.CreateIsNull(function->getArg(0)), go, has);
    b.SetInsertPoint(has);
    Value* given = b.CreateLoad(pointer, field(b, function->getArg(0), Record::kContext, "error"));
    b.CreateBr(go);
    b.SetInsertPoint(go);
    llvm::PHINode* phi = b.CreatePHI(pointer, 2);
    phi->addIncoming(error, entry);
    phi->addIncoming(given, has);
    error = phi;
  }
  std::vector<Value*> args;
  for (unsigned i = 1; i < function->arg_size(); ++i) args.push_back(function->getArg(i));
  b.CreateRet(call(b, named.name, function->getArg(0), args, error));
  refer_to_runtime(".text." + name, "ax");
}

}  // namespace relaxc::codegen_llvm
