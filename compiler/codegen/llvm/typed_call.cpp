// typed_call.cpp: the call behind the generated header.
//
// It refers to no table, so that a static model costs its kernels and this function alone. It checks what is cheap and
// would otherwise reach outside of the caller's memory: the bounds of the dynamic dims, the arena's size and alignment,
// the pools', and the size of separate weights.
#include "compiler/codegen/llvm/object_emitter.h"

namespace relaxc::codegen_llvm {

using interface::CallField;
using interface::Record;
using llvm::Value;

namespace {

constexpr uint32_t kNullPointer = 1, kDimBounds = 9, kArenaSize = 14, kArenaAlignment = 15, kWeightsSize = 16,
                   kPoolSize = 24, kPoolAlignment = 25;

/// What a check looks at.
struct Where {
  int32_t symbol = -1, axis = -1;
};

/// A body that returns a status as soon as something is wrong.
class Checks {
 public:
  Checks(llvm::IRBuilder<>& b, ModuleLowering& lowering, Value* error) : b_(b), lowering_(lowering), error_(error) {}

  void leave_if(Value* failed, const std::function<Value*()>& status) {
    llvm::Function* function = b_.GetInsertBlock()->getParent();
    auto* leave = llvm::BasicBlock::Create(b_.getContext(), "fails", function);
    auto* go_on = llvm::BasicBlock::Create(b_.getContext(), "holds", function);
    b_.CreateCondBr(failed, leave, go_on);
    b_.SetInsertPoint(leave);
    b_.CreateRet(status());
    b_.SetInsertPoint(go_on);
  }

  void leave_on(Value* status) {
    if (llvm::isa<llvm::ConstantInt>(status)) return;  // cannot fail
    leave_if(b_.CreateICmpNE(status, b_.getInt32(0)), [&] { return status; });
  }

  void require(Value* holds, uint32_t code, Where where, Value* expected, Value* actual) {
    leave_if(b_.CreateNot(holds), [&]() -> Value* {
      if (error_ == nullptr) return b_.getInt32(code);
      record(code, where, expected, actual);
      return b_.getInt32(code);
    });
  }

 private:
  void record(uint32_t code, Where where, Value* expected, Value* actual) {
    llvm::Function* function = b_.GetInsertBlock()->getParent();
    auto* write = llvm::BasicBlock::Create(b_.getContext(), "record", function);
    auto* done = llvm::BasicBlock::Create(b_.getContext(), "recorded", function);
    b_.CreateCondBr(b_.CreateIsNull(error_), done, write);
    b_.SetInsertPoint(write);
    auto set = [&](std::string_view name, Value* value) {
      b_.CreateStore(value, b_.CreateStructGEP(lowering_.record(Record::kError), error_,
                                               interface::field_index(Record::kError, name)));
    };
    set("code", b_.getInt32(code));
    for (std::string_view name : {"tensor", "node"}) set(name, b_.getInt32(~0u));
    set("axis", b_.getInt32(static_cast<uint32_t>(where.axis)));
    set("symbol", b_.getInt32(static_cast<uint32_t>(where.symbol)));
    set("expected", expected);
    set("actual", actual);
    b_.CreateBr(done);
    b_.SetInsertPoint(done);
  }

  llvm::IRBuilder<>& b_;
  ModuleLowering& lowering_;
  Value* error_;
};

void check_bounds(llvm::IRBuilder<>& b, Checks& checks, const interface::Symbol& symbol, int32_t index, Value* value) {
  auto imm = [&](int64_t n) { return b.getInt64(static_cast<uint64_t>(n)); };
  checks.require(b.CreateICmpSGE(value, imm(symbol.lower)), kDimBounds, {.symbol = index}, imm(symbol.lower), value);
  if (symbol.upper != INT64_MAX)
    checks.require(b.CreateICmpSLE(value, imm(symbol.upper)), kDimBounds, {.symbol = index}, imm(symbol.upper), value);
  if (symbol.multiple_of > 1)
    checks.require(b.CreateICmpEQ(b.CreateSRem(value, imm(symbol.multiple_of)), imm(0)), kDimBounds, {.symbol = index},
                   imm(symbol.multiple_of), value);
}

/// That the context, which has `given` pools, lends enough of pool `i`.
void check_pool(llvm::IRBuilder<>& b, Checks& checks, const interface::Entry& entry, size_t i, Value* given,
                const std::function<Value*(size_t, std::string_view)>& field) {
  if (entry.pools[i].bytes == 0) return;
  const Where where{.axis = static_cast<int32_t>(i)};
  Value *needed = b.getInt64(entry.pools[i].bytes), *align = b.getInt64(entry.arena_align), *none = b.getInt64(0);
  checks.require(b.CreateICmpUGT(given, b.getInt32(static_cast<uint32_t>(i))), kPoolSize, where, needed, none);
  Value* data = field(i, "data");
  Value* there = b.CreateSelect(b.CreateIsNull(data), none, field(i, "bytes"));
  checks.require(b.CreateICmpUGE(there, needed), kPoolSize, where, needed, there);
  Value* rest = b.CreateAnd(b.CreatePtrToInt(data, b.getInt64Ty()), b.CreateSub(align, b.getInt64(1)));
  checks.require(b.CreateICmpEQ(rest, none), kPoolAlignment, where, align, rest);
}

/// A variable in the frame. Outside of the entry block, memory would be taken while running.
Value* in_frame(llvm::IRBuilder<>& b, llvm::Type* type) {
  llvm::BasicBlock& entry = b.GetInsertBlock()->getParent()->getEntryBlock();
  return llvm::IRBuilder<>(&entry, entry.begin()).CreateAlloca(type);
}

size_t count_dims(const std::vector<interface::Tensor>& tensors) {
  size_t count = 0;
  for (const interface::Tensor& tensor : tensors) count += tensor.dims.size();
  return count;
}

}  // namespace

void ObjectEmitter::typed_call(const Entry& entry) {
  llvm::IRBuilder<> b(module_.getContext());
  llvm::Type *pointer = b.getPtrTy(), *word = b.getInt64Ty();
  std::string name = interface::run_symbol(object_, entry);
  auto* function = declare(name, llvm::FunctionType::get(b.getInt32Ty(), {pointer, pointer}, false), true);
  b.SetInsertPoint(llvm::BasicBlock::Create(b.getContext(), "entry", function));
  Value *context = function->getArg(0), *given = function->getArg(1);
  Checks(b, lowering_, nullptr).leave_if(b.CreateOr(b.CreateIsNull(context), b.CreateIsNull(given)), [&] {
    return b.getInt32(kNullPointer);
  });

  std::vector<CallField> fields = interface::call_fields(object_, entry);
  std::vector<llvm::Type*> types;
  for (const CallField& field : fields) types.push_back(field.kind == CallField::kSymbol ? word : pointer);
  auto* record = llvm::StructType::get(b.getContext(), types);
  std::vector<Value*> inputs, outputs, output_dims(entry.outputs.size()), symbols(entry.symbols.size());
  for (size_t i = 0; i < fields.size(); ++i) {
    Value* value = b.CreateLoad(types[i], b.CreateStructGEP(record, given, static_cast<unsigned>(i)));
    if (fields[i].kind == CallField::kInput) inputs.push_back(value);
    if (fields[i].kind == CallField::kOutput) outputs.push_back(value);
    if (fields[i].kind == CallField::kOutputDims) output_dims[fields[i].index] = value;
    if (fields[i].kind == CallField::kSymbol) symbols[fields[i].index] = value;
  }
  Value* error = b.CreateLoad(pointer, this->field(b, context, Record::kContext, "error"));
  Checks checks(b, lowering_, error);
  for (size_t i = 0; i < symbols.size(); ++i)
    if (symbols[i] != nullptr) check_bounds(b, checks, entry.symbols[i], static_cast<int32_t>(i), symbols[i]);

  if (!entry.values.empty()) {
    Value* all = in_frame(b, llvm::ArrayType::get(word, symbols.size()));
    std::vector<Value*> args = inputs;
    for (size_t i = 0; i < symbols.size(); ++i) {
      if (symbols[i] == nullptr) continue;
      b.CreateStore(symbols[i], b.CreateConstInBoundsGEP1_64(word, all, i));
      args.push_back(symbols[i]);
    }
    args.push_back(all);
    checks.leave_on(call(b, entry.values, context, args, error));
    for (size_t i = 0; i < symbols.size(); ++i) {
      if (symbols[i] != nullptr) continue;
      symbols[i] = b.CreateLoad(word, b.CreateConstInBoundsGEP1_64(word, all, i));
      check_bounds(b, checks, entry.symbols[i], static_cast<int32_t>(i), symbols[i]);
    }
  }

  size_t before = count_dims(entry.inputs), count = before + count_dims(entry.outputs);
  Value* dims = in_frame(b, llvm::ArrayType::get(word, std::max<size_t>(count, 1)));
  auto dim = [&](size_t i) { return b.CreateConstInBoundsGEP1_64(word, dims, i); };
  size_t at = before;
  for (const interface::Tensor& tensor : entry.outputs)
    for (int64_t extent : tensor.dims) {
      Value* value = extent >= 0           ? b.getInt64(static_cast<uint64_t>(extent))
                     : extent == INT64_MIN ? b.getInt64(0)
                                           : symbols.at(static_cast<size_t>(-1 - extent));
      b.CreateStore(value, dim(at++));
    }
  if (!entry.shapes.empty() && (!entry.symbols.empty() || interface::has_derived_dims(entry))) {
    std::vector<Value*> args = symbols;
    args.push_back(dims);
    checks.leave_on(call(b, entry.shapes, context, args, error));
  }
  at = before;
  for (size_t i = 0; i < entry.outputs.size(); at += entry.outputs[i++].dims.size())
    if (output_dims[i] != nullptr && !entry.outputs[i].dims.empty())
      b.CreateStore(b.CreateLoad(word, output_dims[i]), dim(at));

  Value* arena = b.CreateLoad(pointer, this->field(b, context, Record::kContext, "arena"));
  Value* needed = b.getInt64(entry.arena_max);
  if (!interface::is_static(entry) && !entry.arena.empty()) {
    Value* bytes = in_frame(b, word);
    std::vector<Value*> args = symbols;
    args.push_back(bytes);
    checks.leave_on(call(b, entry.arena, context, args, error));
    needed = b.CreateLoad(word, bytes);
  }
  auto* constant = llvm::dyn_cast<llvm::ConstantInt>(needed);
  if (constant == nullptr || !constant->isZero()) {
    Value* size = b.CreateLoad(word, this->field(b, context, Record::kContext, "arena_bytes"));
    Value* there = b.CreateSelect(b.CreateIsNull(arena), b.getInt64(0), size);
    checks.require(b.CreateICmpUGE(there, needed), kArenaSize, {}, needed, there);
    Value* rest = b.CreateAnd(b.CreatePtrToInt(arena, word), b.getInt64(entry.arena_align - 1));
    checks.require(b.CreateOr(b.CreateICmpEQ(rest, b.getInt64(0)), b.CreateICmpEQ(needed, b.getInt64(0))),
                   kArenaAlignment, {}, b.getInt64(entry.arena_align), rest);
  }

  if (!entry.pools.empty()) {
    Value* pools = b.CreateLoad(pointer, this->field(b, context, Record::kContext, "pools"));
    Value* given = b.CreateLoad(b.getInt32Ty(), this->field(b, context, Record::kContext, "num_pools"));
    given = b.CreateSelect(b.CreateIsNull(pools), b.getInt32(0), given);
    auto of_pool = [&](size_t i, std::string_view name) { return pool_field(b, pools, i, name); };
    for (size_t i = 0; i < entry.pools.size(); ++i) check_pool(b, checks, entry, i, given, of_pool);
  }

  if (object_.weights.separate) {
    Value* file = b.CreateLoad(pointer, this->field(b, context, Record::kContext, "weights"));
    Value* size = b.CreateLoad(word, this->field(b, context, Record::kContext, "weights_bytes"));
    Value* there = b.CreateSelect(b.CreateIsNull(file), b.getInt64(0), size);
    Value* expected = b.getInt64(interface::weights_file_bytes(object_.weights));
    checks.require(b.CreateICmpUGE(there, expected), kWeightsSize, {}, expected, there);
  }

  std::vector<Value*> args = inputs;
  args.insert(args.end(), outputs.begin(), outputs.end());
  args.push_back(arena);
  for (Value* pool : pool_addresses(b, entry, context)) args.push_back(pool);
  args.insert(args.end(), {weights_address(b, context), dim(before)});
  args.insert(args.end(), symbols.begin(), symbols.end());
  checks.leave_on(call(b, entry.call, context, args, error));
  at = before;
  for (size_t i = 0; i < entry.outputs.size(); at += entry.outputs[i++].dims.size())
    for (size_t k = 0; output_dims[i] != nullptr && k < entry.outputs[i].dims.size(); ++k)
      b.CreateStore(b.CreateLoad(word, dim(at + k)), b.CreateConstGEP1_64(word, output_dims[i], k));
  b.CreateRet(b.getInt32(0));
  refer_to_runtime(".text." + name, "ax");
}

/// The arena's size of a dynamic entry, from its dims alone; there is none where a symbol is read from data.
void ObjectEmitter::typed_arena(const Entry& entry) {
  if (interface::is_static(entry) || entry.arena.empty() || !entry.values.empty()) return;
  llvm::IRBuilder<> b(module_.getContext());
  std::vector<llvm::Type*> types(entry.symbols.size(), b.getInt64Ty());
  types.push_back(b.getPtrTy());
  std::string name = interface::arena_symbol(object_, entry);
  auto* function = declare(name, llvm::FunctionType::get(b.getInt32Ty(), types, false), true);
  b.SetInsertPoint(llvm::BasicBlock::Create(b.getContext(), "entry", function));
  Checks checks(b, lowering_, nullptr);
  std::vector<Value*> args;
  for (llvm::Argument& argument : function->args()) args.push_back(&argument);
  for (size_t i = 0; i < entry.symbols.size(); ++i)
    check_bounds(b, checks, entry.symbols[i], static_cast<int32_t>(i), args[i]);
  b.CreateRet(call(b, entry.arena, nullptr, args, llvm::ConstantPointerNull::get(b.getPtrTy())));
  refer_to_runtime(".text." + name, "ax");
}

}  // namespace relaxc::codegen_llvm
