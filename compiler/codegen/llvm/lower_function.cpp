// lower_function.cpp: statements.
#include "compiler/codegen/llvm/lower_function.h"

#include "compiler/arith/simplify.h"
#include "compiler/tir/annotations.h"
#include "compiler/tir/lanes.h"
#include "compiler/tir/visit.h"

namespace relaxc::codegen_llvm {

using arith::Expr;
using llvm::Value;

FunctionLowering::FunctionLowering(ModuleLowering& module, const Signature& signature, const ObjectAddresses* data)
    : module_(module),
      signature_(signature),
      source_(*signature.source),
      function_(signature.function),
      b_(llvm::BasicBlock::Create(module.module().getContext(), "entry", signature.function)),
      numeric_(b_, module.options().abilities),
      data_(data) {
  if (source_.checks.overflow_code != 0) index_ranges_.emplace(source_);
}

void FunctionLowering::run() {
  bind_parameters();
  source_.memory.copies ? lower_copy() : lower(source_.body);
  if (signature_.may_fail)
    b_.CreateRet(b_.getInt32(0));
  else
    b_.CreateRetVoid();
}

/// A state's memory may be its own next value's: then all is where it should be.
void FunctionLowering::lower_copy() {
  llvm::BasicBlock *apart = block("apart"), *done = block("done");
  Value *from = places_.at(source_.params[0].buffer).address, *to = places_.at(source_.params[1].buffer).address;
  b_.CreateCondBr(b_.CreateICmpNE(from, to), apart, done);
  b_.SetInsertPoint(apart);
  lower(source_.body);
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
}

void FunctionLowering::bind_parameters() {
  unsigned at = 0;
  if (signature_.wants_context) context_ = function_->getArg(at++);
  for (const tir::Param& param : source_.params) {
    llvm::Argument* argument = function_->getArg(at++);
    if (param.buffer == nullptr) {
      argument->setName(param.var.name());
      vars_[param.var] = {numeric_.from_memory(param.var.dtype(), argument), 0, nullptr};
      continue;
    }
    argument->setName(param.buffer->name);
    places_[param.buffer] = {argument, false};
    if (source_.c_function) continue;  // of what C hands over nothing is known
    for (Expr dim : param.buffer->shape)
      if (const auto* symbol = dim.as<arith::VarNode>()) facts_.bound(arith::Var(symbol), arith::Range::at_least(0));
    uint64_t natural = static_cast<uint64_t>(param.buffer->dtype.bytes());
    uint64_t align = param.buffer->alignment != 0 ? param.buffer->alignment : natural;
    argument->addAttr(llvm::Attribute::getWithAlignment(function_->getContext(), llvm::Align(align)));
    if (source_.noalias) argument->addAttr(llvm::Attribute::NoAlias);
    if (param.buffer->scope == tir::Scope::kWeights) argument->addAttr(llvm::Attribute::ReadOnly);
  }
  for (const arith::Var& symbol : source_.symbols) {
    llvm::Argument* argument = function_->getArg(at++);
    argument->setName(symbol.name());
    vars_[symbol] = {argument, 0, nullptr};
  }
  if (source_.c_function)
    bind_c_function(*source_.c_function);
  else if (signature_.may_fail)
    error_ = function_->getArg(at);
}

void FunctionLowering::bind_c_function(const tir::CFunction& function) {
  llvm::Constant* nothing = llvm::ConstantPointerNull::get(b_.getPtrTy());
  for (const tir::ObjectData& data : function.data) places_[data.buffer] = {data_->at(data.name), false};
  context_ = function.context != nullptr ? place(function.context).address : nothing;
  error_ = places_.count(function.error) != 0 ? place(function.error).address : nothing;
}

llvm::BasicBlock* FunctionLowering::block(const char* name) {
  return llvm::BasicBlock::Create(function_->getContext(), name, function_);
}

/// Ends the current block; what follows in the source is not reached.
void FunctionLowering::branch_to(llvm::BasicBlock* target) {
  b_.CreateBr(target);
  b_.SetInsertPoint(block("unreached"));
}

void FunctionLowering::with(Expr var, Lanes value, const std::function<void()>& body) {
  auto [it, fresh] = vars_.emplace(var, value);
  Lanes before = it->second;
  it->second = value;
  body();
  if (fresh)
    vars_.erase(var);
  else
    vars_[var] = before;
}

void FunctionLowering::with_range(arith::Var var, Expr min, Expr extent, Lanes value,
                                  const std::function<void()>& body) {
  arith::Range first = range_of_index(min), count = range_of_index(extent);
  arith::Range range = arith::Range::at_least(first.lower);
  int64_t last = 0;
  if (first.has_upper() && count.has_upper() && !__builtin_add_overflow(first.upper, count.upper - 1, &last))
    range.upper = last;
  arith::Facts outside = facts_;
  if (range.upper >= range.lower) facts_.bound(var, range);
  prover_.reset();
  with(var, value, body);
  prover_.reset();
  facts_ = std::move(outside);
}

/// What is known of an index here. Loops ask about the same few divisors and offsets again and again.
arith::Range FunctionLowering::range_of_index(Expr e) {
  if (!prover_) prover_.emplace(e.context(), facts_);
  return prover_->bounds(e);
}

void FunctionLowering::lower(tir::Stmt s) {
  if (!s) return;
  isolated([&] {
    // Scopes that reach to the end of a suite nest as often as there are values: they are gone along, not into.
    Leave leave;
    while (s) {
      s = tir::visit(
          s, [&](const tir::Seq& n) { return lower_seq(n); }, [&](const tir::Let& n) { return lower_let(n, leave); },
          [&](const tir::Alloc& n) { return lower_alloc(n, leave); },
          [&](const tir::View& n) { return lower_view(n, leave); },
          [&](const tir::For& n) { return lower_for(n), tir::Stmt(); },
          [&](const tir::While& n) { return lower_while(n), tir::Stmt(); },
          [&](const tir::If& n) { return lower_if(n), tir::Stmt(); },
          [&](const tir::Store& n) { return lower_store(n), tir::Stmt(); },
          [&](const tir::Block& n) { return lower_block(n), tir::Stmt(); },
          [&](const tir::Guard& n) { return lower_guard(n), tir::Stmt(); },
          [&](const tir::Invoke& n) { return lower_invoke(n), tir::Stmt(); },
          [&](const tir::Break&) { return lower_leave(true), tir::Stmt(); },
          [&](const tir::Continue&) { return lower_leave(false), tir::Stmt(); });
    }
    for (; !leave.empty(); leave.pop_back()) leave.back()();
    return 0;
  });
}

void FunctionLowering::lower_leave(bool whole) {
  RELAXC_CHECK(!loops_.empty(), "a break or continue outside of loops");
  branch_to(whole ? loops_.back().leave : loops_.back().next);
}

tir::Stmt FunctionLowering::lower_seq(const tir::Seq& s) {
  for (size_t i = 0; i < s.body.size();) {
    if (size_t taken = lower_interleaved(std::span(s.body).subspan(i)); taken != 0) {
      i += taken;
      continue;
    }
    if (i + 1 == s.body.size()) return s.body[i];
    tir::Stmt next = s.body[i++];
    bool straight = next.as<tir::Guard>() != nullptr || next.as<tir::Invoke>() != nullptr;
    straight ? lower_straight(next) : lower(next);
  }
  return {};
}

void FunctionLowering::lower_straight(tir::Stmt s) {
  in_passing([&] {
    if (const auto* guard = s.as<tir::Guard>()) lower_guard(*guard);
    if (const auto* invoke = s.as<tir::Invoke>()) lower_invoke(*invoke);
    return 0;
  });
}

void FunctionLowering::lower_for(const tir::For& s) {
  Value* min = isolated([&] { return scalar(s.min); });
  Value* extent = isolated([&] { return scalar(s.extent); });
  auto* count = llvm::dyn_cast<llvm::ConstantInt>(extent);
  if (count != nullptr && count->getSExtValue() <= 0) return;
  bool outermost_vector = s.loop_kind == tir::LoopKind::kVectorized && lanes_ == 0;
  if (outermost_vector && count != nullptr && count->getSExtValue() > 1 && count->getSExtValue() <= 1024 &&
      tir::Lanes(s).may_run_together())
    return lower_vectorized(s, min, static_cast<uint32_t>(count->getSExtValue()));
  if (s.loop_kind == tir::LoopKind::kUnrolled && count != nullptr) return lower_unrolled(s, min, count->getSExtValue());
  if (can_run_in_tasks(s)) return lower_parallel(s, min, extent);
  lower_serial(s, min, extent);
}

void FunctionLowering::lower_unrolled(const tir::For& s, Value* min, int64_t count) {
  interleave(interleaved_by(s, count), count, [&] {
    llvm::BasicBlock* leave = block("unrolled");
    for (int64_t i = 0; i < count; ++i) {
      llvm::BasicBlock* next = block("copy");
      loops_.push_back({leave, next});
      with_range(s.var, s.min, s.extent, {b_.CreateNSWAdd(min, b_.getInt64(i)), 0, nullptr}, [&] { lower(s.body); });
      loops_.pop_back();
      b_.CreateBr(next);
      b_.SetInsertPoint(next);
    }
    b_.CreateBr(leave);
    b_.SetInsertPoint(leave);
  });
}

void FunctionLowering::lower_serial(const tir::For& s, Value* min, Value* extent) {
  llvm::BasicBlock *before = nullptr, *head = block("loop"), *step = block("next"), *leave = block("done");
  bool sure = !index_ranges_ || s.min.is_constant(0) || index_ranges_->all_fit(s.min + s.extent);
  Value* end = sure ? b_.CreateNSWAdd(min, extent) : checked_now(arith::ExprKind::kAdd, min, extent);
  before = b_.GetInsertBlock();
  b_.CreateCondBr(b_.CreateICmpSLT(min, end), head, leave);
  b_.SetInsertPoint(head);
  llvm::PHINode* i = b_.CreatePHI(b_.getInt64Ty(), 2, s.var.name());
  i->addIncoming(min, before);
  loops_.push_back({leave, step});
  with_range(s.var, s.min, s.extent, {i, 0, nullptr}, [&] { lower(s.body); });
  loops_.pop_back();
  b_.CreateBr(step);
  b_.SetInsertPoint(step);
  Value* next = b_.CreateNSWAdd(i, b_.getInt64(1));
  i->addIncoming(next, b_.GetInsertBlock());
  b_.CreateCondBr(b_.CreateICmpSLT(next, end), head, leave);
  b_.SetInsertPoint(leave);
}

void FunctionLowering::lower_vectorized(const tir::For& s, Value* min, uint32_t lanes) {
  auto ahead = s.annotations.find(tir::kPrefetch);
  lanes_ = lanes, prefetch_ = ahead != s.annotations.end() ? ahead->second : 0;
  with_range(s.var, s.min, s.extent, {min, 1, nullptr}, [&] { lower(s.body); });
  lanes_ = 0, prefetch_ = 0;
}

void FunctionLowering::lower_while(const tir::While& s) {
  llvm::BasicBlock *head = block("while"), *body = block("while_body"), *leave = block("while_done");
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  Value* condition = isolated([&] { return scalar(s.condition); });
  b_.CreateCondBr(condition, body, leave);
  b_.SetInsertPoint(body);
  loops_.push_back({leave, head});
  lower(s.body);
  loops_.pop_back();
  b_.CreateBr(head);
  b_.SetInsertPoint(leave);
}

void FunctionLowering::lower_under(Lanes condition, const std::function<void()>& then_body,
                                   const std::function<void()>& else_body) {
  if (!condition.is_uniform()) {
    Value* outer = mask_;
    Value* opposite = b_.CreateNot(condition.vector);
    mask_ = outer != nullptr ? b_.CreateAnd(outer, condition.vector) : condition.vector;
    then_body();
    mask_ = outer != nullptr ? b_.CreateAnd(outer, opposite) : opposite;
    if (else_body) else_body();
    mask_ = outer;
    return;
  }
  if (auto* known = llvm::dyn_cast<llvm::ConstantInt>(condition.scalar)) {
    if (known->isOne()) then_body();
    if (!known->isOne() && else_body) else_body();
    return;
  }
  llvm::BasicBlock *on_true = block("then"), *on_false = else_body ? block("else") : nullptr, *join = block("join");
  b_.CreateCondBr(condition.scalar, on_true, else_body ? on_false : join);
  b_.SetInsertPoint(on_true);
  then_body();
  b_.CreateBr(join);
  if (else_body) {
    b_.SetInsertPoint(on_false);
    else_body();
    b_.CreateBr(join);
  }
  b_.SetInsertPoint(join);
}

void FunctionLowering::lower_if(const tir::If& s) {
  Lanes condition = isolated([&] { return value(s.condition); });
  std::function<void()> else_body;
  if (s.else_body) else_body = [&] { lower(s.else_body); };
  lower_under(
      condition, [&] { lower(s.then_body); }, else_body);
}

tir::Stmt FunctionLowering::lower_let(const tir::Let& s, Leave& leave) {
  Lanes bound = in_passing([&] { return value(s.value); });
  auto known = vars_.find(s.var);
  if (known == vars_.end())
    leave.push_back([this, var = s.var] { vars_.erase(var); });
  else
    leave.push_back([this, var = s.var, before = known->second] { vars_[var] = before; });
  vars_[s.var] = bound;
  return s.body;
}

/// A local of a vectorized loop's body has one copy a lane, side by side, so that an element is one vector. Other
/// memory of a size that is known only at run time exists only in evaluation inside relaxc: objects get theirs from the
/// arena.
tir::Stmt FunctionLowering::lower_alloc(const tir::Alloc& s, Leave& leave) {
  int64_t elements = 1;
  bool constant = true;
  for (Expr dim : s.buffer->shape) {
    auto* size = llvm::dyn_cast<llvm::ConstantInt>(scalar(dim));
    if (size == nullptr || __builtin_mul_overflow(elements, size->getSExtValue(), &elements)) constant = false;
  }
  constexpr int64_t kStackLimit = 64 * 1024;
  bool on_stack =
      constant && (s.buffer->scope == tir::Scope::kLocal || elements * s.buffer->dtype.bytes() <= kStackLimit);
  if (on_stack && lanes_ == 0 && places_.count(s.buffer) != 0) return s.body;  // an unrolled copy: same memory
  if (on_stack) {
    uint64_t count = static_cast<uint64_t>(elements) * (lanes_ == 0 ? 1 : lanes_);
    llvm::Type* type = llvm::ArrayType::get(numeric_.memory_type(s.buffer->dtype), count);
    llvm::BasicBlock& entry = function_->getEntryBlock();
    llvm::IRBuilder<> at_entry(&entry, entry.begin());
    llvm::AllocaInst* memory = at_entry.CreateAlloca(type, nullptr, s.buffer->name);
    const uint64_t usual = count * static_cast<uint64_t>(s.buffer->dtype.bytes()) >= 64 ? 64 : 16;
    memory->setAlignment(llvm::Align(s.buffer->alignment != 0 ? s.buffer->alignment : usual));
    places_[s.buffer] = {memory, lanes_ != 0};
    if (lanes_ != 0) leave.push_back([this, buffer = s.buffer] { places_.erase(buffer); });
    return s.body;
  }
  RELAXC_CHECK(module_.options().in_process, "buffer " + s.buffer->name + " was not planned into the arena");
  Value* bytes = b_.getInt64(static_cast<uint64_t>(s.buffer->dtype.bytes()));
  for (Expr dim : s.buffer->shape) {
    Value* extent = scalar(dim);
    bytes = index_ranges_ ? checked_now(arith::ExprKind::kMul, bytes, extent) : b_.CreateMul(bytes, extent);
  }
  auto allocate = module_.module().getOrInsertFunction("relaxc_jit_alloc", b_.getPtrTy(), b_.getInt64Ty());
  places_[s.buffer] = {b_.CreateCall(allocate, {bytes}), false};
  leave.push_back([this, buffer = s.buffer] { places_.erase(buffer); });
  return s.body;
}

tir::Stmt FunctionLowering::lower_view(const tir::View& s, Leave& leave) {
  Value* address = in_passing([&] {
    if (s.base == nullptr) return pointer(s.byte_offset);
    Value* offset = scalar(s.byte_offset);
    return b_.CreateInBoundsGEP(b_.getInt8Ty(), place(s.base).address, offset);
  });
  if (s.round_up != 0) {
    Value* behind = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), address, s.round_up - 1);
    llvm::IntegerType* word = b_.getIntPtrTy(module_.module().getDataLayout());
    Value* mask = llvm::ConstantInt::getSigned(word, -static_cast<int64_t>(s.round_up));
    address = b_.CreateIntrinsic(llvm::Intrinsic::ptrmask, {b_.getPtrTy(), word}, {behind, mask});
  }
  places_[s.buffer] = {address, false};
  bases_[s.buffer] = s.base;
  leave.push_back([this, buffer = s.buffer, error = error_] { places_.erase(buffer), error_ = error; });
  if (source_.c_function && s.buffer == source_.c_function->error) error_ = address;
  return s.body;
}

void FunctionLowering::lower_block(const tir::Block& s) {
  std::vector<Lanes> axes;
  for (const tir::IterVar& iter : s.iters) axes.push_back(isolated([&] { return value(iter.binding); }));
  Lanes first{b_.getTrue(), 0, nullptr};
  bool reduces = false;
  DType flag = DType::boolean(), index = DType::index();
  for (size_t i = 0; i < s.iters.size(); ++i) {
    if (s.init && s.iters[i].iter_kind == tir::IterKind::kReduce) {
      reduces = true;
      Lanes at_begin = apply({axes[i], isolated([&] { return value(s.iters[i].min); })}, {index, index},
                             [&](auto& x) { return b_.CreateICmpEQ(x[0], x[1]); });
      first = apply({first, at_begin}, {flag, flag}, [&](auto& x) { return b_.CreateAnd(x[0], x[1]); });
    }
  }
  std::function<void(size_t)> bind_from = [&](size_t i) {
    if (i < s.iters.size()) {
      // A predicate may be there because the binding leaves the axis; then only the binding's own range is sure.
      const tir::IterVar& iter = s.iters[i];
      Expr min = s.predicate ? iter.binding : iter.min;
      Expr extent = s.predicate ? iter.min.context().index(1) : iter.extent;
      return with_range(iter.var, min, extent, axes[i], [&] { bind_from(i + 1); });
    }
    auto body = [&] {
      if (s.init && reduces) lower_under(first, [&] { lower(s.init); }, {});
      if (s.init && !reduces) lower(s.init);
      lower(s.body);
    };
    if (!s.predicate) return body();
    lower_under(isolated([&] { return value(s.predicate); }), body, {});
  };
  bind_from(0);
}

void FunctionLowering::lower_store(const tir::Store& s) {
  Lanes offset = offset_of(s.buffer, s.indices);
  const auto* load = s.value.as<arith::Load>();
  bool narrow = s.value.dtype().is_float() && s.value.dtype().bits < 32;
  if (load == nullptr || !narrow) return store(s.buffer, offset, to_stored(s.buffer->dtype, value(s.value)));
  bool is_vector = false;  // a copy keeps its bits; there is no need to go through float
  Value* bits = load_raw(load->buffer, offset_of(load->buffer, load->indices), is_vector);
  store(s.buffer, offset, is_vector ? Lanes{nullptr, 0, bits} : Lanes{bits, 0, nullptr});
}

}  // namespace relaxc::codegen_llvm
