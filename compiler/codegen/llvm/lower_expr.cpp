// lower_expr.cpp: expressions.
//
// Expressions are graphs with sharing; a node is computed once for each statement that uses it. Operands of a select,
// an `and` or an `or` that read memory are computed only where they are wanted, because a subscript outside of its
// buffer is what the condition is for: in scalar code by a branch, in vector code by masked loads.
#include <llvm/IR/MDBuilder.h>

#include <utility>

#include "compiler/arith/angle.h"
#include "compiler/arith/math.h"
#include "compiler/arith/simplify.h"
#include "compiler/arith/visit.h"
#include "compiler/codegen/llvm/lower_function.h"

namespace relaxc::codegen_llvm {

using arith::Expr;
using arith::ExprKind;
using llvm::Value;

Lanes FunctionLowering::value(Expr e) {
  Lanes out = pending(e);
  if (out.overflow == nullptr) return out;
  leave_if_overflowed(std::exchange(out.overflow, nullptr));
  settle(e);
  return out;
}

Lanes FunctionLowering::pending(Expr e) {
  if (auto it = vars_.find(e); it != vars_.end()) return it->second;
  if (auto it = memo_.find(e); it != memo_.end()) return it->second;
  Lanes out = compute(e);
  remember(e, out);
  return out;
}

Value* FunctionLowering::scalar(Expr e) {
  Lanes out = value(e);
  RELAXC_CHECK(out.is_uniform(), "a value that differs between lanes where only one can be used");
  return out.scalar;
}

Lanes FunctionLowering::compute(Expr e) {
  return arith::visit(
      e,
      [&](const arith::IntImm& n) {
        return Lanes{numeric_.constant(n.dtype, n.value), 0, nullptr};
      },
      [&](const arith::FloatImm& n) {
        return Lanes{numeric_.constant_float(n.dtype, n.value), 0, nullptr};
      },
      [&](const arith::VarNode& n) -> Lanes { RELAXC_UNREACHABLE("variable " + n.name + " is not bound"); },
      [&](const arith::And& n) {
        if (!must_be_lazy(n.b)) return short_circuit(n);
        return lazily(
            n.a, [&] { return pending(n.b); },
            [&] {
              return Lanes{b_.getFalse(), 0, nullptr};
            },
            n.dtype);
      },
      [&](const arith::Or& n) {
        if (!must_be_lazy(n.b)) return short_circuit(n);
        return lazily(
            n.a,
            [&] {
              return Lanes{b_.getTrue(), 0, nullptr};
            },
            [&] { return pending(n.b); }, n.dtype);
      },
      [&](const arith::Add& n) {
        std::optional<Lanes> out = dot(n);
        return out ? *out : binary(n);
      },
      [&](const arith::Binary& n) {
        bool divides = n.kind == ExprKind::kFloorDiv || n.kind == ExprKind::kFloorMod;
        return divides && n.dtype.is_index() ? divide_index(n, e) : binary(n);
      },
      [&](const arith::Not& n) {
        return apply({pending(n.a)}, {n.a.dtype()}, [&](auto& x) { return b_.CreateNot(x[0]); });
      },
      [&](const arith::Select& n) { return select(n); },
      [&](const arith::Cast& n) {
        Lanes inner = pending(n.value);
        DType from = n.value.dtype();
        if (inner.vector == nullptr && n.dtype.is_index() && from == DType::i(64)) return inner;
        return apply({inner}, {from}, [&](auto& x) { return numeric_.cast(from, n.dtype, x[0]); });
      },
      [&](const arith::Load& n) {
        if (n.buffer->record != nullptr) {
          Value* field = read_field(n);
          return Lanes{field->getType()->isPointerTy() ? b_.CreatePtrToInt(field, b_.getInt64Ty()) : field, 0, nullptr};
        }
        std::optional<Lanes> out = look_up(n);
        return out ? *out : load(n.buffer, n.indices);
      },
      [&](const arith::Call& n) {
        if (arith::is_expandable(n.intrinsic) && n.args[0].dtype().is_float()) return pending(arith::expand_math(e));
        std::vector<Lanes> args;
        std::vector<DType> dtypes;
        for (Expr arg : n.args) args.push_back(pending(arg)), dtypes.push_back(arg.dtype());
        return apply(args, dtypes, [&](auto& x) { return numeric_.call(n.intrinsic, dtypes[0], n.dtype, x); });
      },
      [&](const arith::Extern& n) {
        if (arith::is_angle_call(e)) return reduced_angle(n);
        return Lanes{call_scalar(n), 0, nullptr};
      });
}

Lanes FunctionLowering::apply(const std::vector<Lanes>& operands, const std::vector<DType>& dtypes,
                              const std::function<Value*(const std::vector<Value*>&)>& f) {
  bool uniform = true;
  Value* overflow = nullptr;
  for (const Lanes& operand : operands) {
    uniform &= operand.is_uniform();
    overflow = any_of(overflow, operand.overflow);
  }
  std::vector<Value*> values;
  for (size_t i = 0; i < operands.size(); ++i)
    values.push_back(uniform ? operands[i].scalar : widened(operands[i], dtypes[i]));
  Value* out = f(values);
  return uniform ? Lanes{out, 0, nullptr, overflow} : Lanes{nullptr, 0, out};
}

Value* FunctionLowering::widened(Lanes value, DType dtype) {
  if (value.vector != nullptr) return value.vector;
  Value* splat = b_.CreateVectorSplat(lanes_, value.scalar);
  if (value.step == 0) return splat;
  std::vector<llvm::Constant*> steps;
  for (uint32_t lane = 0; lane < lanes_; ++lane)
    steps.push_back(llvm::cast<llvm::Constant>(numeric_.constant(dtype, lane * value.step)));
  return b_.CreateAdd(splat, llvm::ConstantVector::get(steps), "", false, true);
}

Lanes FunctionLowering::binary(const arith::Binary& e) {
  Lanes a = pending(e.a), b = pending(e.b);
  DType dtype = e.a.dtype();
  if (dtype.is_index() && (e.kind == ExprKind::kAdd || e.kind == ExprKind::kSub || e.kind == ExprKind::kMul))
    return index_binary(e, a, b);
  if (std::optional<Lanes> out = compare_lanes(e, a, b)) return *out;
  bool divides = e.kind == ExprKind::kFloorDiv || e.kind == ExprKind::kFloorMod || e.kind == ExprKind::kDiv ||
                 e.kind == ExprKind::kMod;
  if (divides && may_have_overflowed(a, b)) b.scalar = divisor_where_fits(a, b);
  return apply({a, b}, {dtype, dtype}, [&](auto& x) { return numeric_.binary(e.kind, dtype, x[0], x[1]); });
}

/// Where lanes grow in even steps, what they are compared with is one number, and the lanes' own part a constant that
/// 32 bits hold: half or a quarter of the vectors that indices would take.
std::optional<Lanes> FunctionLowering::compare_lanes(const arith::Binary& e, Lanes a, Lanes b) {
  constexpr int64_t kMost = int64_t{1} << 30, kMostStep = 1 << 16;
  bool less = e.kind == ExprKind::kLt || e.kind == ExprKind::kLe;
  if (!less || !e.a.dtype().is_index() || (a.is_uniform() && b.is_uniform())) return {};
  bool even = a.vector == nullptr && b.vector == nullptr && std::max(std::abs(a.step), std::abs(b.step)) < kMostStep;
  if (!even || lanes_ > kMost / kMostStep / 4) return {};
  int64_t step = a.step - b.step;
  auto *from = llvm::dyn_cast<llvm::ConstantInt>(a.scalar), *to = llvm::dyn_cast<llvm::ConstantInt>(b.scalar);
  Value* distance = nullptr;
  if (from != nullptr && to != nullptr) {  // the builder does not fold intrinsics, and a known mask is worth knowing
    int64_t known = to->getValue().ssub_sat(from->getValue()).getSExtValue();
    distance = b_.getInt64(static_cast<uint64_t>(std::clamp(known, -kMost, kMost)));
  } else {
    distance = b_.CreateBinaryIntrinsic(llvm::Intrinsic::ssub_sat, b.scalar, a.scalar);
    distance = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, distance, b_.getInt64(static_cast<uint64_t>(-kMost)));
    distance = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, distance, b_.getInt64(kMost));
  }
  Value* limit = b_.CreateVectorSplat(lanes_, b_.CreateTrunc(distance, b_.getInt32Ty()));
  std::vector<llvm::Constant*> steps;
  for (uint32_t lane = 0; lane < lanes_; ++lane)
    steps.push_back(llvm::ConstantInt::getSigned(b_.getInt32Ty(), step * static_cast<int64_t>(lane)));
  Value* own = llvm::ConstantVector::get(steps);
  return Lanes{nullptr, 0, e.kind == ExprKind::kLt ? b_.CreateICmpSLT(own, limit) : b_.CreateICmpSLE(own, limit)};
}

/// Fused reshapes are full of divisions, each tens of cycles and a vector of them far worse; most vanish or lose their
/// rounding once the ranges of the loops are known.
Lanes FunctionLowering::divide_index(const arith::Binary& e, Expr whole) {
  if (!index_ranges_ && simplified_.count(whole) == 0) {
    Expr simple = arith::simplify(whole, facts_);
    arith::for_each_node(simple, [&](Expr node) { simplified_.insert(node); });
    if (!(simple == whole)) return pending(simple);
  }
  auto least = [&](Expr part) { return (index_ranges_ ? index_ranges_->range(part) : range_of_index(part)).lower; };
  if (least(e.a) < 0 || least(e.b) < 1) return binary(e);
  Lanes a = pending(e.a), b = pending(e.b);
  if (may_have_overflowed(a, b)) b.scalar = divisor_where_fits(a, b);
  return apply({a, b}, {e.dtype, e.dtype}, [&](auto& x) {
    return e.kind == ExprKind::kFloorDiv ? b_.CreateUDiv(x[0], x[1]) : b_.CreateURem(x[0], x[1]);
  });
}

Lanes FunctionLowering::index_binary(const arith::Binary& e, Lanes a, Lanes b) {
  if (needs_check(Expr(&e))) {
    RELAXC_CHECK(a.is_uniform() && b.is_uniform(), "checked index arithmetic in a vectorized loop");
    return checked(e.kind, a, b);
  }
  if (may_have_overflowed(a, b)) return unchecked(e.kind, a, b);
  if (e.kind == ExprKind::kAdd) return add(a, b);
  if (e.kind == ExprKind::kMul) return multiply(a, b);
  if (a.vector == nullptr && b.vector == nullptr)
    return {b_.CreateNSWSub(a.scalar, b.scalar), a.step - b.step, nullptr};
  DType dtype = DType::index();
  return {nullptr, 0, b_.CreateNSWSub(widened(a, dtype), widened(b, dtype))};
}

/// Of operands that may have overflowed: what they have become then is no reason for poison.
Lanes FunctionLowering::unchecked(ExprKind kind, Lanes a, Lanes b) {
  Value* out = kind == ExprKind::kAdd   ? b_.CreateAdd(a.scalar, b.scalar)
               : kind == ExprKind::kSub ? b_.CreateSub(a.scalar, b.scalar)
                                        : b_.CreateMul(a.scalar, b.scalar);
  return {out, 0, nullptr, any_of(a.overflow, b.overflow)};
}

Lanes FunctionLowering::add(Lanes a, Lanes b) {
  if (a.vector == nullptr && b.vector == nullptr)
    return {b_.CreateNSWAdd(a.scalar, b.scalar), a.step + b.step, nullptr};
  return {nullptr, 0, b_.CreateNSWAdd(widened(a, DType::index()), widened(b, DType::index()))};
}

Lanes FunctionLowering::multiply(Lanes a, Lanes b) {
  if (a.is_uniform() && b.is_uniform()) return {b_.CreateNSWMul(a.scalar, b.scalar), 0, nullptr};
  if (a.is_uniform()) std::swap(a, b);
  auto* factor = b.is_uniform() ? llvm::dyn_cast<llvm::ConstantInt>(b.scalar) : nullptr;
  if (a.vector == nullptr && factor != nullptr)
    return {b_.CreateNSWMul(a.scalar, b.scalar), a.step * factor->getSExtValue(), nullptr};
  return {nullptr, 0, b_.CreateNSWMul(widened(a, DType::index()), widened(b, DType::index()))};
}

Lanes FunctionLowering::offset_of(tir::BufferRef buffer, const std::vector<Expr>& indices) {
  RELAXC_CHECK(indices.size() == buffer->shape.size(), "wrong number of subscripts of " + buffer->name);
  Lanes offset{b_.getInt64(0), 0, nullptr};
  for (size_t i = 0; i < indices.size(); ++i) {
    Lanes index = value(indices[i]);
    if (buffer->strides.empty())
      offset = i == 0 ? index : add(multiply(offset, value(buffer->shape[i])), index);
    else
      offset = add(offset, multiply(index, value(buffer->strides[i])));
  }
  return offset;
}

Lanes FunctionLowering::select(const arith::Select& e) {
  if (must_be_lazy(e.then_value) || must_be_lazy(e.else_value))
    return lazily(
        e.condition, [&] { return pending(e.then_value); }, [&] { return pending(e.else_value); }, e.dtype);
  Lanes condition = pending(e.condition), a = where_asked(e.then_value), b = where_asked(e.else_value);
  if (condition.is_uniform() && a.is_uniform() && b.is_uniform()) {
    Lanes out{b_.CreateSelect(condition.scalar, a.scalar, b.scalar), 0, nullptr, condition.overflow};
    if (!may_have_overflowed(a, b)) return out;
    auto flag = [&](Lanes way) { return way.overflow != nullptr ? way.overflow : b_.getFalse(); };
    out.overflow = any_of(out.overflow, b_.CreateSelect(condition.scalar, flag(a), flag(b)));
    return out;
  }
  Value *x = widened(a, e.dtype), *y = widened(b, e.dtype);
  return {nullptr, 0, b_.CreateSelect(condition.is_uniform() ? condition.scalar : condition.vector, x, y)};
}

/// Neither side reads memory, so both are computed; what overflows on the right counts where that is asked.
Lanes FunctionLowering::short_circuit(const arith::Binary& e) {
  Lanes a = pending(e.a), b = where_asked(e.b);
  Value* later = std::exchange(b.overflow, nullptr);
  Lanes out = apply({a, b}, {e.dtype, e.dtype}, [&](auto& x) { return numeric_.binary(e.kind, e.dtype, x[0], x[1]); });
  if (later == nullptr) return out;
  Value* asked = e.kind == ExprKind::kAnd ? a.scalar : b_.CreateNot(a.scalar);
  out.overflow = any_of(out.overflow, b_.CreateAnd(asked, later));
  return out;
}

Lanes FunctionLowering::lazily(Expr condition, const std::function<Lanes()>& then_value,
                               const std::function<Lanes()>& else_value, DType dtype) {
  Lanes decided = value(condition);
  if (!decided.is_uniform()) return lazily_by_mask(decided.vector, then_value, else_value, dtype);
  if (auto* known = llvm::dyn_cast<llvm::ConstantInt>(decided.scalar))
    return known->isOne() ? then_value() : else_value();
  llvm::BasicBlock *on_true = block("pick"), *on_false = block("other"), *join = block("picked");
  b_.CreateCondBr(decided.scalar, on_true, on_false);
  auto arm = [&](llvm::BasicBlock* begin, const std::function<Lanes()>& f) {
    b_.SetInsertPoint(begin);
    bool optional = std::exchange(optional_, false);
    llvm::BasicBlock* leave = guard_overflow_;
    Lanes out = isolated(f);
    optional_ = optional, guard_overflow_ = leave;
    if (lanes_ != 0) out.scalar = widened(out, dtype);
    llvm::BasicBlock* end = b_.GetInsertBlock();
    b_.CreateBr(join);
    return std::pair(out, end);
  };
  auto [x, end_true] = arm(on_true, then_value);
  auto [y, end_false] = arm(on_false, else_value);
  b_.SetInsertPoint(join);
  llvm::PHINode* phi = b_.CreatePHI(x.scalar->getType(), 2);
  phi->addIncoming(x.scalar, end_true);
  phi->addIncoming(y.scalar, end_false);
  if (lanes_ != 0) return Lanes{nullptr, 0, phi};
  if (!may_have_overflowed(x, y)) return Lanes{phi, 0, nullptr};
  llvm::PHINode* overflow = b_.CreatePHI(b_.getInt1Ty(), 2);
  overflow->addIncoming(x.overflow != nullptr ? x.overflow : b_.getFalse(), end_true);
  overflow->addIncoming(y.overflow != nullptr ? y.overflow : b_.getFalse(), end_false);
  return Lanes{phi, 0, nullptr, overflow};
}

Lanes FunctionLowering::lazily_by_mask(Value* decided, const std::function<Lanes()>& then_value,
                                       const std::function<Lanes()>& else_value, DType dtype) {
  Value* outer = mask_;
  mask_ = outer != nullptr ? b_.CreateAnd(outer, decided) : decided;
  Value* x = isolated([&] { return widened(then_value(), dtype); });
  Value* opposite = b_.CreateNot(decided);
  mask_ = outer != nullptr ? b_.CreateAnd(outer, opposite) : opposite;
  Value* y = isolated([&] { return widened(else_value(), dtype); });
  mask_ = outer;
  return {nullptr, 0, b_.CreateSelect(decided, x, y)};
}

}  // namespace relaxc::codegen_llvm
