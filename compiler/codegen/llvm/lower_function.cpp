// lower_function.cpp: statements.
#include "compiler/codegen/llvm/lower_function.h"

#include "compiler/arith/simplify.h"
#include "compiler/codegen/llvm/vector_check.h"
#include "compiler/tir/visit.h"

namespace relaxc::codegen_llvm {

using arith::Expr;
using llvm::Value;

FunctionLowering::FunctionLowering(ModuleLowering& module, const Signature& signature)
    : module_(module),
      signature_(signature),
      source_(*signature.source),
      function_(signature.function),
      b_(llvm::BasicBlock::Create(module.module().getContext(), "entry", signature.function)),
      numeric_(b_, module.options().abilities),
      check_index_(signature.source->overflow_code() != 0) {}

void FunctionLowering::run() {
  bind_parameters();
  lower(source_.body);
  if (signature_.may_fail)
    b_.CreateRet(b_.getInt32(0));
  else
    b_.CreateRetVoid();
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
  if (signature_.may_fail) error_ = function_->getArg(at);
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
  arith::Range first = arith::bounds(min, facts_), count = arith::bounds(extent, facts_);
  arith::Range range = arith::Range::at_least(first.lower);
  int64_t last = 0;
  if (first.has_upper() && count.has_upper() && !__builtin_add_overflow(first.upper, count.upper - 1, &last))
    range.upper = last;
  arith::Facts outside = facts_;
  if (range.upper >= range.lower) facts_.bound(var, range);
  with(var, value, body);
  facts_ = std::move(outside);
}

void FunctionLowering::lower(tir::Stmt s) {
  if (!s) return;
  isolated([&] {
    tir::visit(
        s, [&](const tir::Seq& n) { lower_seq(n); }, [&](const tir::For& n) { lower_for(n); },
        [&](const tir::While& n) { lower_while(n); }, [&](const tir::If& n) { lower_if(n); },
        [&](const tir::Let& n) { lower_let(n); }, [&](const tir::Alloc& n) { lower_alloc(n); },
        [&](const tir::View& n) { lower_view(n); }, [&](const tir::Store& n) { lower_store(n); },
        [&](const tir::Block& n) { lower_block(n); }, [&](const tir::Guard& n) { lower_guard(n); },
        [&](const tir::Invoke& n) { lower_invoke(n); },
        [&](const tir::Break&) {
          RELAXC_CHECK(!loops_.empty(), "a break outside of loops");
          branch_to(loops_.back().leave);
        },
        [&](const tir::Continue&) {
          RELAXC_CHECK(!loops_.empty(), "a continue outside of loops");
          branch_to(loops_.back().next);
        });
    return 0;
  });
}

void FunctionLowering::lower_seq(const tir::Seq& s) {
  for (tir::Stmt inner : s.body) lower(inner);
}

void FunctionLowering::lower_for(const tir::For& s) {
  Value* min = isolated([&] { return scalar(s.min); });
  Value* extent = isolated([&] { return scalar(s.extent); });
  auto* count = llvm::dyn_cast<llvm::ConstantInt>(extent);
  if (count != nullptr && count->getSExtValue() <= 0) return;
  bool outermost_vector = s.loop_kind == tir::LoopKind::kVectorized && lanes_ == 0;
  if (outermost_vector && count != nullptr && count->getSExtValue() > 1 && count->getSExtValue() <= 1024 &&
      can_vectorize(s))
    return lower_vectorized(s, min, static_cast<uint32_t>(count->getSExtValue()));
  if (s.loop_kind == tir::LoopKind::kUnrolled && count != nullptr) {
    llvm::BasicBlock* leave = block("unrolled");
    for (int64_t i = 0; i < count->getSExtValue(); ++i) {
      llvm::BasicBlock* next = block("copy");
      loops_.push_back({leave, next});
      with_range(s.var, s.min, s.extent, {b_.CreateNSWAdd(min, b_.getInt64(i)), 0, nullptr}, [&] { lower(s.body); });
      loops_.pop_back();
      b_.CreateBr(next);
      b_.SetInsertPoint(next);
    }
    b_.CreateBr(leave);
    b_.SetInsertPoint(leave);
    return;
  }
  if (can_run_in_tasks(s)) return lower_parallel(s, min, extent);
  lower_serial(s, min, extent);
}

void FunctionLowering::lower_serial(const tir::For& s, Value* min, Value* extent) {
  llvm::BasicBlock *before = b_.GetInsertBlock(), *head = block("loop"), *step = block("next"), *leave = block("done");
  Value* end = b_.CreateNSWAdd(min, extent);
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
  lanes_ = lanes;
  with_range(s.var, s.min, s.extent, {min, 1, nullptr}, [&] { lower(s.body); });
  lanes_ = 0;
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

void FunctionLowering::lower_let(const tir::Let& s) {
  Lanes bound = isolated([&] { return value(s.value); });
  with(s.var, bound, [&] { lower(s.body); });
}

/// A local of a vectorized loop's body has one copy a lane, side by side, so that an element is one vector. Other
/// memory of a size that is known only at run time exists only in evaluation inside relaxc: objects get theirs from the
/// arena.
void FunctionLowering::lower_alloc(const tir::Alloc& s) {
  int64_t elements = 1;
  bool constant = true;
  for (Expr dim : s.buffer->shape) {
    auto* size = llvm::dyn_cast<llvm::ConstantInt>(scalar(dim));
    if (size == nullptr || __builtin_mul_overflow(elements, size->getSExtValue(), &elements)) constant = false;
  }
  constexpr int64_t kStackLimit = 64 * 1024;
  bool on_stack =
      constant && (s.buffer->scope == tir::Scope::kLocal || elements * s.buffer->dtype.bytes() <= kStackLimit);
  if (on_stack && lanes_ == 0 && places_.count(s.buffer) != 0) return lower(s.body);  // an unrolled copy: same memory
  if (on_stack) {
    uint64_t count = static_cast<uint64_t>(elements) * (lanes_ == 0 ? 1 : lanes_);
    llvm::Type* type = llvm::ArrayType::get(numeric_.memory_type(s.buffer->dtype), count);
    llvm::BasicBlock& entry = function_->getEntryBlock();
    llvm::IRBuilder<> at_entry(&entry, entry.begin());
    llvm::AllocaInst* memory = at_entry.CreateAlloca(type, nullptr, s.buffer->name);
    memory->setAlignment(llvm::Align(count * static_cast<uint64_t>(s.buffer->dtype.bytes()) >= 64 ? 64 : 16));
    places_[s.buffer] = {memory, lanes_ != 0};
    lower(s.body);
    if (lanes_ != 0) places_.erase(s.buffer);
    return;
  }
  RELAXC_CHECK(module_.options().in_process, "buffer " + s.buffer->name + " was not planned into the arena");
  Value* bytes = b_.getInt64(static_cast<uint64_t>(s.buffer->dtype.bytes()));
  for (Expr dim : s.buffer->shape) bytes = b_.CreateMul(bytes, scalar(dim));
  auto allocate = module_.module().getOrInsertFunction("relaxc_jit_alloc", b_.getPtrTy(), b_.getInt64Ty());
  places_[s.buffer] = {b_.CreateCall(allocate, {bytes}), false};
  lower(s.body);
  places_.erase(s.buffer);
}

void FunctionLowering::lower_view(const tir::View& s) {
  Value* offset = scalar(s.byte_offset);
  Value* address = s.base == nullptr ? b_.CreateIntToPtr(offset, b_.getPtrTy())
                                     : b_.CreateInBoundsGEP(b_.getInt8Ty(), place(s.base).address, offset);
  places_[s.buffer] = {address, false};
  lower(s.body);
  places_.erase(s.buffer);
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
