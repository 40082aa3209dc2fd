// selects.cpp: lowers select, `and` and `or`.
#include "compiler/codegen/llvm/lower/selects.h"

#include <utility>

namespace relaxc::codegen_llvm {

using arith::Expr;
using arith::ExprKind;
using llvm::Value;

Lanes Selects::select(const arith::Select& e) {
  const Expr whole(&e);
  auto operand = [&](Expr value) { return lanes_.indices().as(whole, values_.pending(value)); };
  if (values_.must_be_lazy(e.then_value) || values_.must_be_lazy(e.else_value))
    return lazily(
        e.condition, [&] { return operand(e.then_value); }, [&] { return operand(e.else_value); }, e.dtype);
  Lanes condition = values_.pending(e.condition), a = values_.pending_if_checked(e.then_value),
        b = values_.pending_if_checked(e.else_value);
  a = lanes_.indices().as(whole, a), b = lanes_.indices().as(whole, b);
  if (condition.is_uniform() && a.is_uniform() && b.is_uniform()) {
    Lanes out{b_.CreateSelect(condition.scalar, a.scalar, b.scalar), 0, nullptr, condition.overflow};
    if (!LaneArithmetic::may_have_overflowed(a, b)) return out;
    out.overflow = lanes_.any_of(out.overflow, b_.CreateSelect(condition.scalar, flag_of(a), flag_of(b)));
    return out;
  }
  Value *x = lanes_.widened(a, e.dtype), *y = lanes_.widened(b, e.dtype);
  return {nullptr, 0, b_.CreateSelect(condition.is_uniform() ? condition.scalar : condition.vector, x, y)};
}

Lanes Selects::both(const arith::And& e) {
  if (!values_.must_be_lazy(e.b)) return short_circuit(e);
  return lazily(
      e.a, [&] { return values_.pending(e.b); }, [&] { return Lanes{b_.getFalse()}; }, e.dtype);
}

Lanes Selects::either(const arith::Or& e) {
  if (!values_.must_be_lazy(e.b)) return short_circuit(e);
  return lazily(
      e.a, [&] { return Lanes{b_.getTrue()}; }, [&] { return values_.pending(e.b); }, e.dtype);
}

/// Computes both sides, since neither reads memory; an overflow on the right counts if the left leaves it to decide.
Lanes Selects::short_circuit(const arith::Binary& e) {
  Lanes a = values_.pending(e.a), b = values_.pending_if_checked(e.b);
  Value* later = std::exchange(b.overflow, nullptr);
  Lanes out = lanes_.apply({a, b}, {e.dtype, e.dtype},
                           [&](auto& x) { return frame_.numeric().binary(e.kind, e.dtype, x[0], x[1]); });
  if (later == nullptr) return out;
  Value* asked = e.kind == ExprKind::kAnd ? a.scalar : b_.CreateNot(a.scalar);
  out.overflow = lanes_.any_of(out.overflow, b_.CreateAnd(asked, later));
  return out;
}

Lanes Selects::lazily(Expr condition, const Operand& then_value, const Operand& else_value, DType dtype) {
  Lanes decided = values_.value(condition);
  if (!decided.is_uniform()) return by_mask(decided.vector, then_value, else_value, dtype);
  if (auto* known = llvm::dyn_cast<llvm::ConstantInt>(decided.scalar))
    return known->isOne() ? then_value() : else_value();
  llvm::BasicBlock *on_true = frame_.block("pick"), *on_false = frame_.block("other"), *join = frame_.block("picked");
  b_.CreateCondBr(decided.scalar, on_true, on_false);
  Arm x = arm(on_true, then_value), y = arm(on_false, else_value);
  const bool uniform = x.value.is_uniform() && y.value.is_uniform();
  for (Arm* one : {&x, &y}) {
    b_.SetInsertPoint(one->end);
    if (!uniform) one->value.scalar = lanes_.widened(one->value, dtype);
    b_.CreateBr(join);
  }
  b_.SetInsertPoint(join);
  auto joined = [&](Value* from_x, Value* from_y) {
    llvm::PHINode* phi = b_.CreatePHI(from_x->getType(), 2);
    phi->addIncoming(from_x, x.end);
    phi->addIncoming(from_y, y.end);
    return phi;
  };
  Value* out = joined(x.value.scalar, y.value.scalar);
  if (!uniform) return Lanes{nullptr, 0, out};
  if (!LaneArithmetic::may_have_overflowed(x.value, y.value)) return Lanes{out};
  return Lanes{out, 0, nullptr, joined(flag_of(x.value), flag_of(y.value))};
}

Selects::Arm Selects::arm(llvm::BasicBlock* begin, const Operand& operand) {
  b_.SetInsertPoint(begin);
  OverflowChecks::Way asked(checks_);
  const Lanes out = values_.isolated(operand);
  return {out, b_.GetInsertBlock()};
}

Lanes Selects::by_mask(Value* decided, const Operand& then_value, const Operand& else_value, DType dtype) {
  auto under = [&](Value* condition, const Operand& operand) {
    LaneArithmetic::Masked masked(lanes_, condition);
    return values_.isolated([&] { return lanes_.widened(operand(), dtype); });
  };
  Value* x = under(decided, then_value);
  Value* y = under(b_.CreateNot(decided), else_value);
  return {nullptr, 0, b_.CreateSelect(decided, x, y)};
}

}  // namespace relaxc::codegen_llvm
