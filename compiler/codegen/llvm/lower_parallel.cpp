// lower_parallel.cpp: loops whose iterations may run on several cores.
//
// The loop's body becomes a function of a range of iterations, with what it uses from around as parameters, so that the
// buffers' promise not to overlap is kept. The caller runs the whole range itself, or hands parallel_for a task that
// takes its share of the range out of a record on the caller's stack. How many tasks there are does not matter to the
// result: iterations are independent.
#include <algorithm>

#include "compiler/arith/visit.h"
#include "compiler/codegen/llvm/lower_function.h"
#include "compiler/tir/visit.h"

namespace relaxc::codegen_llvm {

using arith::Expr;
using interface::Record;
using llvm::Value;

namespace {

// Parameters of a body and fields of the record before what is captured; a body has begin and end where the record has
// min, extent.
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

FunctionLowering::FunctionLowering(const FunctionLowering& parent, llvm::Function* body)
    : module_(parent.module_),
      signature_(parent.signature_),
      source_(parent.source_),
      function_(body),
      b_(llvm::BasicBlock::Create(body->getContext(), "entry", body)),
      numeric_(b_, parent.module_.options().abilities),
      in_task_(true),
      bases_(parent.bases_),
      facts_(parent.facts_) {}

bool FunctionLowering::can_run_in_tasks(const tir::For& s) const {
  if (s.loop_kind != tir::LoopKind::kParallel || module_.options().task_slots <= 1) return false;
  bool in_order = false;
  tir::for_each_stmt(s.body, [&](tir::Stmt inner) {
    const auto* block = inner.as<tir::Block>();
    in_order |= inner.as<tir::Break>() != nullptr || (block != nullptr && combines(s, *block));
  });
  return lanes_ == 0 && !in_task_ && !index_ranges_ && !in_order;
}

/// What the body uses that stands outside of it, in order of creation.
FunctionLowering::Captures FunctionLowering::captured(const tir::For& s) const {
  std::map<uint32_t, Expr> vars;
  std::map<uint32_t, tir::BufferRef> buffers;
  std::function<void(Expr)> add;
  auto add_buffer = [&](tir::BufferRef buffer) {
    if (places_.count(buffer) != 0) buffers.emplace(buffer->id, buffer);
    for (Expr dim : buffer->shape) add(dim);
    for (Expr stride : buffer->strides) add(stride);
  };
  add = [&](Expr e) {
    arith::for_each_node(e, [&](Expr node) {
      if (const auto* load = node.as<arith::Load>()) add_buffer(load->buffer);
      if (vars_.count(node) != 0) vars.emplace(node->id, node);
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

/// `int32_t body(context, error, begin, end, captured…)`
llvm::Function* FunctionLowering::parallel_body(const tir::For& s, const Captures& captures) {
  llvm::Type *pointer = b_.getPtrTy(), *word = b_.getInt64Ty();
  std::vector<llvm::Type*> types{pointer, pointer, word, word};
  for (Expr var : captures.vars) types.push_back(vars_.at(var).scalar->getType());
  types.insert(types.end(), captures.buffers.size(), pointer);
  auto* body =
      llvm::Function::Create(llvm::FunctionType::get(b_.getInt32Ty(), types, false), llvm::GlobalValue::InternalLinkage,
                             function_->getName() + ".range", module_.module());
  module_.set_attributes(*body);
  body->addFnAttr(llvm::Attribute::NoInline);

  FunctionLowering inner(*this, body);
  inner.context_ = body->getArg(kContext);
  inner.error_ = body->getArg(kError);
  unsigned at = kCaptured;
  for (Expr var : captures.vars) inner.vars_[var] = {body->getArg(at++), 0, nullptr};
  for (tir::BufferRef buffer : captures.buffers) {
    auto* outside = llvm::dyn_cast<llvm::Argument>(places_.at(buffer).address);
    if (outside != nullptr && outside->hasNoAliasAttr()) body->getArg(at)->addAttr(llvm::Attribute::NoAlias);
    if (outside != nullptr && outside->getParamAlign())
      body->getArg(at)->addAttr(llvm::Attribute::getWithAlignment(body->getContext(), *outside->getParamAlign()));
    inner.places_[buffer] = {body->getArg(at++), false};
  }
  Value* count = inner.b_.CreateNSWSub(body->getArg(kEnd), body->getArg(kBegin));
  inner.lower_serial(s, body->getArg(kBegin), count);
  inner.b_.CreateRet(b_.getInt32(0));
  return body;
}

/// `int32_t task(void* record, int32_t index)`: the range of one of the tasks. The record ends with their number.
llvm::Function* FunctionLowering::parallel_task(llvm::Function* body, llvm::StructType* record) {
  llvm::IRBuilder<> b(body->getContext());
  auto* type = llvm::FunctionType::get(b.getInt32Ty(), {b.getPtrTy(), b.getInt32Ty()}, false);
  auto* task = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, function_->getName() + ".task",
                                      module_.module());
  module_.set_attributes(*task);
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

void FunctionLowering::lower_parallel(const tir::For& s, Value* min, Value* extent) {
  Captures captures = captured(s);
  llvm::Function* body = parallel_body(s, captures);
  Value* error = error_ != nullptr ? error_ : llvm::ConstantPointerNull::get(b_.getPtrTy());
  std::vector<Value*> args{context_, error, min, b_.CreateNSWAdd(min, extent)};
  for (Expr var : captures.vars) args.push_back(vars_.at(var).scalar);
  for (tir::BufferRef buffer : captures.buffers) args.push_back(places_.at(buffer).address);
  std::vector<llvm::Type*> types;
  for (Value* arg : args) types.push_back(arg->getType());
  types.push_back(b_.getInt64Ty());
  auto* record = llvm::StructType::get(b_.getContext(), types);
  llvm::Function* task = parallel_task(body, record);

  // Is there someone to share with, and something to share?
  llvm::BasicBlock *ask = block("context"), *tasks_block = block("tasks"), *serial = block("serial"),
                   *join = block("joined");
  Value* many = b_.CreateICmpSGT(extent, b_.getInt64(1));
  b_.CreateCondBr(b_.CreateAnd(many, b_.CreateIsNotNull(context_)), ask, serial);
  b_.SetInsertPoint(ask);
  Value* parallel_for = b_.CreateLoad(b_.getPtrTy(), field(context_, Record::kContext, "parallel_for"));
  b_.CreateCondBr(b_.CreateIsNull(parallel_for), serial, tasks_block);

  b_.SetInsertPoint(tasks_block);
  llvm::BasicBlock& entry = function_->getEntryBlock();
  Value* memory = llvm::IRBuilder<>(&entry, entry.begin()).CreateAlloca(record);
  Value* slots = b_.getInt64(static_cast<uint64_t>(module_.options().task_slots));
  Value* tasks = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, extent, slots);
  for (unsigned i = 0; i < args.size(); ++i)
    b_.CreateStore(i == kEnd ? extent : args[i], b_.CreateStructGEP(record, memory, i));
  b_.CreateStore(tasks, b_.CreateStructGEP(record, memory, static_cast<unsigned>(args.size())));
  Value* user = b_.CreateLoad(b_.getPtrTy(), field(context_, Record::kContext, "parallel_user"));
  llvm::Type *pointer = b_.getPtrTy(), *number = b_.getInt32Ty();
  auto* type = llvm::FunctionType::get(number, {pointer, number, pointer, pointer}, false);
  Value* shared = b_.CreateCall(type, parallel_for, {user, b_.CreateTrunc(tasks, number), task, memory});
  b_.CreateBr(join);

  b_.SetInsertPoint(serial);
  Value* alone = b_.CreateCall(body, args);
  b_.CreateBr(join);
  b_.SetInsertPoint(join);
  llvm::PHINode* status = b_.CreatePHI(number, 2);
  status->addIncoming(shared, tasks_block);
  status->addIncoming(alone, serial);
  if (signature_.may_fail) leave_if(b_.CreateICmpNE(status, b_.getInt32(0)), [&] { return status; });
}

}  // namespace relaxc::codegen_llvm
