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
  if (auto it = vars_.find(e); it != vars_.end()) return it->second;
  if (auto it = memo_.find(e); it != memo_.end()) return it->second;
  Lanes out = compute(e);
  memo_.emplace(e, out);
  memo_log_.push_back(e);
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
        if (!must_be_lazy(n.b)) return binary(n);
        return lazily(
            n.a, [&] { return value(n.b); },
            [&] {
              return Lanes{b_.getFalse(), 0, nullptr};
            },
            n.dtype);
      },
      [&](const arith::Or& n) {
        if (!must_be_lazy(n.b)) return binary(n);
        return lazily(
            n.a,
            [&] {
              return Lanes{b_.getTrue(), 0, nullptr};
            },
            [&] { return value(n.b); }, n.dtype);
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
        return apply({value(n.a)}, {n.a.dtype()}, [&](auto& x) { return b_.CreateNot(x[0]); });
      },
      [&](const arith::Select& n) { return select(n); },
      [&](const arith::Cast& n) {
        Lanes inner = value(n.value);
        DType from = n.value.dtype();
        if (inner.vector == nullptr && n.dtype.is_index() && from == DType::i(64)) return inner;
        return apply({inner}, {from}, [&](auto& x) { return numeric_.cast(from, n.dtype, x[0]); });
      },
      [&](const arith::Load& n) {
        std::optional<Lanes> out = look_up(n);
        return out ? *out : load(n.buffer, n.indices);
      },
      [&](const arith::Call& n) {
        if (arith::is_expandable(n.intrinsic) && n.args[0].dtype().is_float()) return value(arith::expand_math(e));
        std::vector<Lanes> args;
        std::vector<DType> dtypes;
        for (Expr arg : n.args) args.push_back(value(arg)), dtypes.push_back(arg.dtype());
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
  for (const Lanes& operand : operands) uniform &= operand.is_uniform();
  std::vector<Value*> values;
  for (size_t i = 0; i < operands.size(); ++i)
    values.push_back(uniform ? operands[i].scalar : widened(operands[i], dtypes[i]));
  Value* out = f(values);
  return uniform ? Lanes{out, 0, nullptr} : Lanes{nullptr, 0, out};
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
  Lanes a = value(e.a), b = value(e.b);
  DType dtype = e.a.dtype();
  if (dtype.is_index() && (e.kind == ExprKind::kAdd || e.kind == ExprKind::kSub || e.kind == ExprKind::kMul))
    return index_binary(e, a, b);
  if (std::optional<Lanes> out = compare_lanes(e, a, b)) return *out;
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
    if (!(simple == whole)) return value(simple);
  }
  if (arith::bounds(e.a, facts_).lower < 0 || arith::bounds(e.b, facts_).lower < 1) return binary(e);
  return apply({value(e.a), value(e.b)}, {e.dtype, e.dtype}, [&](auto& x) {
    return e.kind == ExprKind::kFloorDiv ? b_.CreateUDiv(x[0], x[1]) : b_.CreateURem(x[0], x[1]);
  });
}

Lanes FunctionLowering::index_binary(const arith::Binary& e, Lanes a, Lanes b) {
  if (needs_check(Expr(&e))) {
    RELAXC_CHECK(a.is_uniform() && b.is_uniform(), "checked index arithmetic in a vectorized loop");
    return {checked(e.kind, a.scalar, b.scalar), 0, nullptr};
  }
  if (e.kind == ExprKind::kAdd) return add(a, b);
  if (e.kind == ExprKind::kMul) return multiply(a, b);
  if (a.vector == nullptr && b.vector == nullptr)
    return {b_.CreateNSWSub(a.scalar, b.scalar), a.step - b.step, nullptr};
  DType dtype = DType::index();
  return {nullptr, 0, b_.CreateNSWSub(widened(a, dtype), widened(b, dtype))};
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

/// Index arithmetic that leaves the function instead of wrapping: all of it in one block, but for guards, whose record
/// says what they compare.
Value* FunctionLowering::checked(ExprKind kind, Value* a, Value* b) {
  auto id = kind == ExprKind::kAdd   ? llvm::Intrinsic::sadd_with_overflow
            : kind == ExprKind::kSub ? llvm::Intrinsic::ssub_with_overflow
                                     : llvm::Intrinsic::smul_with_overflow;
  Value *both = b_.CreateBinaryIntrinsic(id, a, b), *failed = b_.CreateExtractValue(both, 1);
  llvm::BasicBlock *leave = guard_ != nullptr || overflow_ == nullptr ? block("overflow") : overflow_,
                   *go_on = block("fits");
  b_.CreateCondBr(failed, leave, go_on, llvm::MDBuilder(function_->getContext()).createUnlikelyBranchWeights());
  if (leave != overflow_) {
    b_.SetInsertPoint(leave);
    leave_by_overflow(tir::overflow_record(source_, guard_));
    if (guard_ == nullptr) overflow_ = leave;
  }
  b_.SetInsertPoint(go_on);
  return b_.CreateExtractValue(both, 0);
}

/// What a guard compares is in its record as far as it can be computed.
void FunctionLowering::leave_by_overflow(const tir::Guard& record) {
  const tir::Guard* computed_by = std::exchange(guard_, nullptr);
  isolated([&] {
    auto known = [&](Expr e, int64_t otherwise) -> Value* {
      return e && index_ranges_->all_fit(e) ? scalar(e) : b_.getInt64(static_cast<uint64_t>(otherwise));
    };
    store_error(record, known(record.expected, INT64_MAX), known(record.actual, tir::overflow_actual(record)));
    b_.CreateRet(b_.getInt32(static_cast<uint32_t>(record.code)));
    return 0;
  });
  guard_ = computed_by;
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

bool FunctionLowering::must_be_lazy(Expr e) {
  bool lazy = false;
  arith::for_each_node(e, [&](Expr node) {
    lazy |= node->kind == ExprKind::kLoad || (node->kind == ExprKind::kExtern && !arith::is_angle_call(node)) ||
            needs_check(node);
  });
  return lazy;
}

Lanes FunctionLowering::select(const arith::Select& e) {
  if (must_be_lazy(e.then_value) || must_be_lazy(e.else_value))
    return lazily(
        e.condition, [&] { return value(e.then_value); }, [&] { return value(e.else_value); }, e.dtype);
  Lanes condition = value(e.condition), a = value(e.then_value), b = value(e.else_value);
  if (condition.is_uniform() && a.is_uniform() && b.is_uniform())
    return {b_.CreateSelect(condition.scalar, a.scalar, b.scalar), 0, nullptr};
  Value *x = widened(a, e.dtype), *y = widened(b, e.dtype);
  return {nullptr, 0, b_.CreateSelect(condition.is_uniform() ? condition.scalar : condition.vector, x, y)};
}

Lanes FunctionLowering::lazily(Expr condition, const std::function<Lanes()>& then_value,
                               const std::function<Lanes()>& else_value, DType dtype) {
  Lanes decided = value(condition);
  if (!decided.is_uniform()) {
    Value* outer = mask_;
    mask_ = outer != nullptr ? b_.CreateAnd(outer, decided.vector) : decided.vector;
    Value* x = isolated([&] { return widened(then_value(), dtype); });
    Value* opposite = b_.CreateNot(decided.vector);
    mask_ = outer != nullptr ? b_.CreateAnd(outer, opposite) : opposite;
    Value* y = isolated([&] { return widened(else_value(), dtype); });
    mask_ = outer;
    return {nullptr, 0, b_.CreateSelect(decided.vector, x, y)};
  }
  if (auto* known = llvm::dyn_cast<llvm::ConstantInt>(decided.scalar))
    return known->isOne() ? then_value() : else_value();
  llvm::BasicBlock *on_true = block("pick"), *on_false = block("other"), *join = block("picked");
  b_.CreateCondBr(decided.scalar, on_true, on_false);
  b_.SetInsertPoint(on_true);
  auto arm = [&](const std::function<Lanes()>& f) {
    return isolated([&] {
      Lanes out = f();
      return lanes_ == 0 ? out.scalar : widened(out, dtype);
    });
  };
  Value* x = arm(then_value);
  llvm::BasicBlock* end_true = b_.GetInsertBlock();
  b_.CreateBr(join);
  b_.SetInsertPoint(on_false);
  Value* y = arm(else_value);
  llvm::BasicBlock* end_false = b_.GetInsertBlock();
  b_.CreateBr(join);
  b_.SetInsertPoint(join);
  llvm::PHINode* phi = b_.CreatePHI(x->getType(), 2);
  phi->addIncoming(x, end_true);
  phi->addIncoming(y, end_false);
  return lanes_ == 0 ? Lanes{phi, 0, nullptr} : Lanes{nullptr, 0, phi};
}

}  // namespace relaxc::codegen_llvm
