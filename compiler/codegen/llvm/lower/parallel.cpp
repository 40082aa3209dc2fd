// parallel.cpp: emits a parallel loop's body as a function, a task that runs a part of it, and the call of either.
#include "compiler/codegen/llvm/lower/parallel.h"

#include <algorithm>
#include <map>

#include "compiler/arith/visit.h"
#include "compiler/codegen/llvm/lower/function_parts.h"
#include "compiler/tir/visit.h"

namespace relaxc::codegen_llvm {

using arith::Expr;
using interface::Record;
using llvm::Value;

namespace {

// Indices of the body's parameters and of the record's fields; captured values follow. Where the body has begin and
// end, the record has min and extent.
constexpr unsigned kContext = 0, kError = 1, kBegin = 2, kEnd = 3, kCaptured = 4;

/// Whether iterations combine into the same elements: a program may say so of a loop that runs in parallel, and several
/// tasks would lose updates.
bool combines(const tir::For& loop, const tir::Block& block) {
  return std::any_of(block.iters.begin(), block.iters.end(), [&](const tir::IterVar& iter) {
    bool moves = false;
    arith::for_each_node(iter.binding, [&](Expr node) { moves |= node == loop.var; });
    return moves && iter.iter_kind != tir::IterKind::kSpatial;
  });
}

}  // namespace

bool ParallelLoops::can_run(const tir::For& s) const {
  if (s.loop_kind != tir::LoopKind::kParallel || frame_.options().task_slots <= 1 || frame_.in_task()) return false;
  bool in_order = false;
  tir::for_each_stmt(s.body, [&](tir::Stmt inner) {
    const auto* block = inner.as<tir::Block>();
    in_order |= inner.as<tir::Break>() != nullptr || (block != nullptr && combines(s, *block));
  });
  return !in_order;
}

/// The variables and buffers from outside that the body uses, in order of creation.
ParallelLoops::Captures ParallelLoops::captured(const tir::For& s) const {
  std::map<uint32_t, Expr> vars;
  std::map<uint32_t, tir::BufferRef> buffers;
  std::function<void(Expr)> add;
  auto add_buffer = [&](tir::BufferRef buffer) {
    if (addresses_.find(buffer) != nullptr) buffers.emplace(buffer->id, buffer);
    for (Expr dim : buffer->shape) add(dim);
    for (Expr stride : buffer->strides) add(stride);
  };
  add = [&](Expr e) {
    arith::for_each_node(e, [&](Expr node) {
      if (const auto* load = node.as<arith::Load>()) add_buffer(load->buffer);
      if (bindings_.find(node) != nullptr) vars.emplace(node->id, node);
    });
  };
  tir::for_each_stmt(s.body, [&](tir::Stmt inner) {
    for (Expr e : tir::expressions(inner)) add(e);
    if (const auto* store = inner.as<tir::Store>()) add_buffer(store->buffer);
    if (const auto* view = inner.as<tir::View>()) {
      if (view->base != nullptr) add_buffer(view->base);
      add_buffer(view->buffer);
    }
    if (const auto* alloc = inner.as<tir::Alloc>()) add_buffer(alloc->buffer);
    if (const auto* invoke = inner.as<tir::Invoke>())
      for (const tir::Argument& argument : invoke->args)
        if (const auto* buffer = std::get_if<tir::BufferRef>(&argument)) add_buffer(*buffer);
  });
  Captures out;
  for (const auto& [id, var] : vars) out.vars.push_back(var);
  for (const auto& [id, buffer] : buffers) out.buffers.push_back(buffer);
  return out;
}

/// Declares `int32_t body(context, error, begin, end, captured…)`.
llvm::Function* ParallelLoops::declare_body(const Captures& captures) {
  llvm::Type *pointer = b_.getPtrTy(), *word = b_.getInt64Ty();
  std::vector<llvm::Type*> types{pointer, pointer, word, word};
  for (Expr var : captures.vars) types.push_back(bindings_.find(var)->scalar->getType());
  types.insert(types.end(), captures.buffers.size(), pointer);
  auto* body =
      llvm::Function::Create(llvm::FunctionType::get(b_.getInt32Ty(), types, false), llvm::GlobalValue::InternalLinkage,
                             frame_.function()->getName() + ".range", frame_.module().module());
  frame_.module().set_attributes(*body);
  body->addFnAttr(llvm::Attribute::NoInline);
  return body;
}

llvm::Function* ParallelLoops::body_of(const tir::For& s, const Captures& captures) {
  llvm::Function* body = declare_body(captures);
  FunctionParts inner(frame_, bindings_, addresses_, body);
  inner.frame.set_context(body->getArg(kContext));
  inner.failures.set_error(body->getArg(kError));
  unsigned at = kCaptured;
  for (Expr var : captures.vars) inner.bindings.bind(var, {body->getArg(at++)});
  for (tir::BufferRef buffer : captures.buffers) {
    auto* outside = llvm::dyn_cast<llvm::Argument>(addresses_.at(buffer).address);
    if (outside != nullptr && outside->hasNoAliasAttr()) body->getArg(at)->addAttr(llvm::Attribute::NoAlias);
    if (outside != nullptr && outside->getParamAlign())
      body->getArg(at)->addAttr(llvm::Attribute::getWithAlignment(body->getContext(), *outside->getParamAlign()));
    inner.addresses.put(buffer, body->getArg(at++));
  }
  llvm::IRBuilder<>& b = inner.frame.builder();
  Value* count = b.CreateNSWSub(body->getArg(kEnd), body->getArg(kBegin));
  inner.loops.lower_serial(s, body->getArg(kBegin), count);
  b.CreateRet(b.getInt32(0));
  return body;
}

/// Makes `int32_t task(void* record, int32_t index)`: one part of the range, of as many as the record's end says.
llvm::Function* ParallelLoops::task_of(llvm::Function* body, llvm::StructType* record) {
  llvm::IRBuilder<> b(body->getContext());
  auto* type = llvm::FunctionType::get(b.getInt32Ty(), {b.getPtrTy(), b.getInt32Ty()}, false);
  auto* task = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, frame_.function()->getName() + ".task",
                                      frame_.module().module());
  frame_.module().set_attributes(*task);
  b.SetInsertPoint(llvm::BasicBlock::Create(b.getContext(), "entry", task));
  std::vector<Value*> fields;
  for (unsigned i = 0; i < record->getNumElements(); ++i)
    fields.push_back(b.CreateLoad(record->getElementType(i), b.CreateStructGEP(record, task->getArg(0), i)));
  Value *min = fields[kBegin], *extent = fields[kEnd], *tasks = fields.back();
  // The first (extent mod tasks) tasks take one iteration more, so that no product can overflow.
  Value *share = b.CreateUDiv(extent, tasks), *rest = b.CreateURem(extent, tasks);
  Value* index = b.CreateSExt(task->getArg(1), b.getInt64Ty());
  auto begin_of = [&](Value* i) {
    Value* more = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, i, rest);
    return b.CreateAdd(min, b.CreateAdd(b.CreateMul(i, share), more));
  };
  std::vector<Value*> args{fields[kContext], fields[kError], begin_of(index),
                           begin_of(b.CreateAdd(index, b.getInt64(1)))};
  args.insert(args.end(), fields.begin() + kCaptured, fields.end() - 1);
  b.CreateRet(b.CreateCall(body, args));
  return task;
}

void ParallelLoops::lower(const tir::For& s, Value* min, Value* extent) {
  Captures captures = captured(s);
  llvm::Function* body = body_of(s, captures);
  Value* error = failures_.error() != nullptr ? failures_.error() : frame_.null();
  std::vector<Value*> args{frame_.context(), error, min, b_.CreateNSWAdd(min, extent)};
  for (Expr var : captures.vars) args.push_back(bindings_.find(var)->scalar);
  for (tir::BufferRef buffer : captures.buffers) args.push_back(addresses_.at(buffer).address);
  std::vector<llvm::Type*> types;
  for (Value* arg : args) types.push_back(arg->getType());
  types.push_back(b_.getInt64Ty());
  auto* record = llvm::StructType::get(b_.getContext(), types);
  llvm::Function* task = task_of(body, record);

  // Tasks need more than one iteration, and a context with parallel_for.
  llvm::BasicBlock *ask = frame_.block("context"), *tasks = frame_.block("tasks"), *serial = frame_.block("serial"),
                   *join = frame_.block("joined");
  Value* many = b_.CreateICmpSGT(extent, b_.getInt64(1));
  b_.CreateCondBr(b_.CreateAnd(many, b_.CreateIsNotNull(frame_.context())), ask, serial);
  b_.SetInsertPoint(ask);
  Value* parallel_for = b_.CreateLoad(b_.getPtrTy(), frame_.field(frame_.context(), Record::kContext, "parallel_for"));
  b_.CreateCondBr(b_.CreateIsNull(parallel_for), serial, tasks);

  b_.SetInsertPoint(tasks);
  Value* shared = share(parallel_for, task, record, args, extent);
  b_.CreateBr(join);
  b_.SetInsertPoint(serial);
  Value* alone = b_.CreateCall(body, args);
  b_.CreateBr(join);
  b_.SetInsertPoint(join);
  llvm::PHINode* status = b_.CreatePHI(b_.getInt32Ty(), 2);
  status->addIncoming(shared, tasks);
  status->addIncoming(alone, serial);
  if (frame_.signature().may_fail) failures_.leave_if_failed(status, [&] { return status; });
}

/// Emits the call of parallel_for, with a record of the body's arguments, and returns its status.
Value* ParallelLoops::share(Value* parallel_for, llvm::Function* task, llvm::StructType* record,
                            const std::vector<Value*>& args, Value* extent) {
  Value* memory = frame_.at_entry(record);
  Value* slots = b_.getInt64(static_cast<uint64_t>(frame_.options().task_slots));
  Value* tasks = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, extent, slots);
  for (unsigned i = 0; i < args.size(); ++i)
    b_.CreateStore(i == kEnd ? extent : args[i], b_.CreateStructGEP(record, memory, i));
  b_.CreateStore(tasks, b_.CreateStructGEP(record, memory, static_cast<unsigned>(args.size())));
  Value* user = b_.CreateLoad(b_.getPtrTy(), frame_.field(frame_.context(), Record::kContext, "parallel_user"));
  llvm::Type *pointer = b_.getPtrTy(), *number = b_.getInt32Ty();
  auto* type = llvm::FunctionType::get(number, {pointer, number, pointer, pointer}, false);
  return b_.CreateCall(type, parallel_for, {user, b_.CreateTrunc(tasks, number), task, memory});
}

}  // namespace relaxc::codegen_llvm
