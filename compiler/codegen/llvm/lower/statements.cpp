// statements.cpp: lowers each kind of statement except loops and calls.
#include "compiler/codegen/llvm/lower/statements.h"

#include <optional>

#include "compiler/codegen/llvm/lower/loops.h"
#include "compiler/tir/visit.h"

namespace relaxc::codegen_llvm {

using arith::Expr;
using llvm::Value;

void Statements::lower(tir::Stmt s) {
  values_.isolated([&] { lower_suite(s); });
}

/// Lowers nested scopes in a loop: a Let or Alloc holds the rest of its suite, so recursion would go as deep as values.
void Statements::lower_suite(tir::Stmt s) {
  Bindings::Scope variables(bindings_);
  BufferAddresses::Scope buffers(addresses_);
  while (s) {
    s = tir::visit(
        s, [&](const tir::Seq& n) { return lower_seq(n); }, [&](const tir::Let& n) { return lower_let(n); },
        [&](const tir::Alloc& n) { return lower_alloc(n); }, [&](const tir::View& n) { return lower_view(n); },
        [&](const tir::For& n) { return loops_.lower(n), tir::Stmt(); },
        [&](const tir::While& n) { return loops_.lower(n), tir::Stmt(); },
        [&](const tir::If& n) { return lower_if(n), tir::Stmt(); },
        [&](const tir::Store& n) { return memory_.store(n), tir::Stmt(); },
        [&](const tir::Block& n) { return lower_block(n), tir::Stmt(); },
        [&](const tir::Guard& n) { return lower_guard(n), tir::Stmt(); },
        [&](const tir::Invoke& n) { return calls_.lower(n), tir::Stmt(); },
        [&](const tir::Break&) { return loops_.leave(), tir::Stmt(); },
        [&](const tir::Continue&) { return loops_.lower_continue(), tir::Stmt(); });
  }
}

tir::Stmt Statements::lower_seq(const tir::Seq& s) {
  for (size_t i = 0; i < s.body.size();) {
    if (size_t taken = lower_interleaved(std::span(s.body).subspan(i)); taken != 0) {
      i += taken;
      continue;
    }
    if (i + 1 == s.body.size()) return s.body[i];
    tir::Stmt next = s.body[i++];
    is_straight(next) ? lower_straight(next) : lower(next);
  }
  return {};
}

/// Whether `s` is a guard or a call, also inside of views that only it uses: parts of a concatenation are at sums of
/// dims. A let is not, since its variable may be bound again.
bool Statements::is_straight(tir::Stmt s) {
  while (const auto* view = s.as<tir::View>()) s = view->body;
  return s.as<tir::Guard>() != nullptr || s.as<tir::Invoke>() != nullptr;
}

void Statements::lower_straight(tir::Stmt s) {
  values_.dominating([&] { lower_suite(s); });
}

size_t Statements::lower_interleaved(std::span<const tir::Stmt> body) {
  const InterleavedStores::Run run = interleaved_.run_of(body);
  const size_t count = run.stores.size();
  if (count == 0) return 0;
  auto store = [&] {
    interleaved_.together(run.buffer, static_cast<int64_t>(count), [&] {
      for (tir::Stmt s : run.stores) lower(s);
    });
  };
  if (!run.condition) return store(), count;
  const Lanes condition = values_.isolated([&] { return values_.value(run.condition); });
  if (!condition.is_uniform() && !llvm::isa<llvm::Constant>(condition.vector)) return 0;
  return under(condition, store), count;
}

void Statements::lower_guard(const tir::Guard& s) {
  Value* holds = condition_of(s);
  if (auto* known = llvm::dyn_cast<llvm::ConstantInt>(holds); known != nullptr && known->isOne()) return;
  failures_.leave_if(b_.CreateNot(holds), [&] {
    Value* expected = s.expected ? values_.scalar(s.expected) : b_.getInt64(0);
    Value* actual = s.actual ? values_.scalar(s.actual) : b_.getInt64(0);
    return failures_.fail(s, expected, actual);
  });
}

Value* Statements::condition_of(const tir::Guard& s) {
  OverflowChecks::Computing condition(checks_, &s);
  return values_.scalar(s.condition);
}

void Statements::under(Lanes condition, const std::function<void()>& then_body,
                       const std::function<void()>& else_body) {
  auto otherwise = [&] {
    if (else_body) else_body();
  };
  if (!condition.is_uniform()) {
    Value* opposite = b_.CreateNot(condition.vector);
    auto masked = [&](Value* lanes, const std::function<void()>& body) {
      LaneArithmetic::Masked running(lanes_, lanes);
      body();
    };
    masked(condition.vector, then_body);
    masked(opposite, otherwise);
    return;
  }
  if (auto* known = llvm::dyn_cast<llvm::ConstantInt>(condition.scalar))
    return known->isOne() ? then_body() : otherwise();
  llvm::BasicBlock *on_true = frame_.block("then"), *on_false = else_body ? frame_.block("else") : nullptr,
                   *join = frame_.block("join");
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

void Statements::lower_if(const tir::If& s) {
  Lanes condition = values_.isolated([&] { return values_.value(s.condition); });
  std::function<void()> else_body;
  if (s.else_body) else_body = [&] { lower(s.else_body); };
  under(
      condition, [&] { lower(s.then_body); }, else_body);
}

tir::Stmt Statements::lower_let(const tir::Let& s) {
  bindings_.bind(s.var, values_.dominating([&] { return values_.value(s.value); }));
  return s.body;
}

/// Allocates on the stack, or on the heap if the size is large or not constant. The latter is for evaluation inside
/// relaxc only: objects get such memory from the arena.
tir::Stmt Statements::lower_alloc(const tir::Alloc& s) {
  constexpr int64_t kStackLimit = 64 * 1024;
  int64_t elements = 1;
  bool constant = true;
  for (Expr dim : s.buffer->shape) {
    auto* size = llvm::dyn_cast<llvm::ConstantInt>(values_.scalar(dim));
    if (size == nullptr || __builtin_mul_overflow(elements, size->getSExtValue(), &elements)) constant = false;
  }
  bool small = s.buffer->scope == tir::Scope::kLocal || elements * s.buffer->dtype.bytes() <= kStackLimit;
  constant&& small ? put_on_stack(s.buffer, elements) : put_on_heap(s.buffer);
  return s.body;
}

/// A local of a vectorized loop's body has one copy a lane, side by side, so that an element is one vector.
void Statements::put_on_stack(tir::BufferRef buffer, int64_t elements) {
  const uint32_t lanes = lanes_.count();
  if (lanes == 0 && addresses_.find(buffer) != nullptr) return;  // an unrolled copy has the same memory
  uint64_t count = static_cast<uint64_t>(elements) * std::max<uint32_t>(lanes, 1);
  llvm::Type* type = llvm::ArrayType::get(frame_.numeric().memory_type(buffer->dtype), count);
  llvm::AllocaInst* memory = frame_.at_entry(type, buffer->name);
  const uint64_t usual = count * static_cast<uint64_t>(buffer->dtype.bytes()) >= 64 ? 64 : 16;
  memory->setAlignment(llvm::Align(buffer->alignment != 0 ? buffer->alignment : usual));
  lanes == 0 ? addresses_.put(buffer, memory) : addresses_.put_in_scope(buffer, {memory, true});
}

void Statements::put_on_heap(tir::BufferRef buffer) {
  RELAXC_CHECK(frame_.options().in_process, "buffer " + buffer->name + " was not planned into the arena");
  Value* bytes = b_.getInt64(static_cast<uint64_t>(buffer->dtype.bytes()));
  for (Expr dim : buffer->shape) {
    Value* extent = values_.scalar(dim);
    bytes = checks_.are_on() ? checks_.checked_now(arith::ExprKind::kMul, bytes, extent) : b_.CreateMul(bytes, extent);
  }
  addresses_.put_in_scope(buffer, {frame_.call_runtime("relaxc_jit_alloc", b_.getPtrTy(), {bytes}), false});
}

tir::Stmt Statements::lower_view(const tir::View& s) {
  Value* address = values_.dominating([&] {
    if (s.base == nullptr) return memory_.pointer(s.byte_offset);
    Value* offset = values_.scalar(s.byte_offset);
    return b_.CreateInBoundsGEP(b_.getInt8Ty(), addresses_.at(s.base).address, offset);
  });
  if (s.round_up != 0) {
    Value* behind = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), address, s.round_up - 1);
    llvm::IntegerType* word = b_.getIntPtrTy(frame_.module().module().getDataLayout());
    Value* mask = llvm::ConstantInt::getSigned(word, -static_cast<int64_t>(s.round_up));
    address = b_.CreateIntrinsic(llvm::Intrinsic::ptrmask, {b_.getPtrTy(), word}, {behind, mask});
  }
  addresses_.put_view(s.buffer, s.base, address);
  return s.body;
}

void Statements::lower_block(const tir::Block& s) {
  std::vector<Lanes> axes;
  for (const tir::IterVar& iter : s.iters)
    axes.push_back(values_.isolated([&] { return values_.value(iter.binding); }));
  const Lanes first = first_iteration(s, axes);
  Bindings::Scope scope(bindings_);
  for (size_t i = 0; i < s.iters.size(); ++i) {
    // A predicate may be there because the binding exceeds the axis; then only the binding's own range is certain.
    const tir::IterVar& iter = s.iters[i];
    Expr min = s.predicate ? iter.binding : iter.min;
    Expr extent = s.predicate ? iter.min.context().index(1) : iter.extent;
    bindings_.bind_range(iter.var, min, extent, axes[i]);
  }
  auto body = [&] {
    if (s.init) under(first, [&] { lower(s.init); });
    lower(s.body);
  };
  if (!s.predicate) return body();
  under(values_.isolated([&] { return values_.value(s.predicate); }), body);
}

/// The condition that all reduce axes are at their start; true for a block without an init.
Lanes Statements::first_iteration(const tir::Block& s, const std::vector<Lanes>& axes) {
  Lanes first{b_.getTrue(), 0, nullptr};
  DType flag = DType::boolean(), index = DType::index();
  for (size_t i = 0; i < s.iters.size(); ++i) {
    if (!s.init || s.iters[i].iter_kind != tir::IterKind::kReduce) continue;
    Lanes begin = values_.isolated([&] { return values_.value(s.iters[i].min); });
    const Expr compared = arith::eq(s.iters[i].binding, s.iters[i].min);
    const auto [axis, least] = lanes_.indices().operands_of(compared, axes[i], begin);
    Lanes at_begin = lanes_.apply({axis, least}, {index, index}, [&](auto& x) { return b_.CreateICmpEQ(x[0], x[1]); });
    first = lanes_.apply({first, at_begin}, {flag, flag}, [&](auto& x) { return b_.CreateAnd(x[0], x[1]); });
  }
  return first;
}

}  // namespace relaxc::codegen_llvm
