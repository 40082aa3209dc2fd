// expressions.cpp: lowers each kind of expression node.
#include "compiler/codegen/llvm/lower/expressions.h"

#include <llvm/IR/IntrinsicsARM.h>

#include <cmath>
#include <tuple>

#include "compiler/arith/angle.h"
#include "compiler/arith/math.h"
#include "compiler/arith/visit.h"

namespace relaxc::codegen_llvm {

using arith::Expr;
using arith::ExprKind;
using llvm::Value;

Expressions::Expressions(Frame& frame, LaneArithmetic& lanes, Bindings& bindings, Values& values,
                         OverflowChecks& checks, BufferAddresses& addresses, Memory& memory, ExternalCalls& externals)
    : b_(frame.builder()),
      numeric_(frame.numeric()),
      lanes_(lanes),
      bindings_(bindings),
      values_(values),
      checks_(checks),
      memory_(memory),
      externals_(externals),
      selects_(frame, lanes, values, checks),
      angles_(frame, lanes, values),
      dots_(frame, lanes, addresses, values, memory),
      matrices_(frame, lanes, bindings, addresses, values, memory),
      fixed_point_(frame, lanes, values) {}

Lanes Expressions::by_kind(Expr e) {
  return arith::visit(
      e, [&](const arith::IntImm& n) { return Lanes{numeric_.constant(n.dtype, n.value)}; },
      [&](const arith::FloatImm& n) { return Lanes{numeric_.constant_float(n.dtype, n.value)}; },
      [&](const arith::VarNode& n) -> Lanes { RELAXC_UNREACHABLE("variable " + n.name + " is not bound"); },
      [&](const arith::And& n) { return selects_.both(n); }, [&](const arith::Or& n) { return selects_.either(n); },
      [&](const arith::Add& n) {
        std::optional<Lanes> out = dots_.sum(n);
        if (!out) out = matrices_.sum(n);
        return out ? *out : binary(n);
      },
      [&](const arith::Binary& n) {
        bool divides = n.kind == ExprKind::kFloorDiv || n.kind == ExprKind::kFloorMod;
        return divides && n.dtype.is_index() ? divide_index(n, e) : binary(n);
      },
      [&](const arith::Not& n) {
        return lanes_.apply({values_.pending(n.a)}, {n.a.dtype()}, [&](auto& x) { return b_.CreateNot(x[0]); });
      },
      [&](const arith::Select& n) { return selects_.select(n); }, [&](const arith::Cast& n) { return cast(n); },
      [&](const arith::Load& n) { return memory_.load(n); }, [&](const arith::Call& n) { return call(n, e); },
      [&](const arith::Extern& n) {
        return arith::is_angle_call(e) ? angles_.reduced(n) : Lanes{externals_.result_of(n)};
      });
}

namespace {

/// A float that is clamped to low..high, both integers, rounded by adding 1.5 * 2^23, and stored with `zero` added: the
/// last part of `requantize` (ops/requantize.cpp).
struct StoredFloat {
  Expr value;
  int64_t low = 0, high = 0, zero = 0;
};

std::optional<int64_t> whole_number(Expr e) {
  const auto* number = e.as<arith::FloatImm>();
  if (number == nullptr || number->value != std::nearbyint(number->value) || std::abs(number->value) > 1 << 20)
    return {};
  return static_cast<int64_t>(number->value);
}

std::optional<StoredFloat> as_stored_float(const arith::Cast& e) {
  constexpr int64_t kRoundingBits = 0x4B400000;  // the bits of the float 1.5 * 2^23
  const auto* moved = e.value.as<arith::Sub>();
  const auto* bits = moved != nullptr ? moved->a.as<arith::Call>() : nullptr;
  const auto* offset = moved != nullptr ? moved->b.as<arith::IntImm>() : nullptr;
  if (bits == nullptr || offset == nullptr || bits->intrinsic != arith::Intrinsic::k_bitcast) return {};
  const auto* rounded = bits->args[0].as<arith::Add>();
  const auto* rounding = rounded != nullptr ? rounded->b.as<arith::FloatImm>() : nullptr;
  if (rounding == nullptr || rounding->value != 12582912.0 || rounded->dtype != DType::f(32)) return {};
  const auto* above = rounded->a.as<arith::Select>();
  const auto* below = above != nullptr ? above->else_value.as<arith::Select>() : nullptr;
  if (below == nullptr || above->condition != arith::lt(above->else_value, above->then_value)) return {};
  if (below->condition != arith::lt(below->then_value, below->else_value)) return {};
  const auto low = whole_number(above->then_value), high = whole_number(below->then_value);
  if (!low || !high) return {};
  return StoredFloat{below->else_value, *low, *high, kRoundingBits - offset->value};
}

}  // namespace

/// vcvtr and, for lanes, vcvtn give the nearest int32 and saturate; the zero point is added with saturation, so that
/// clamping afterwards gives the same result. LLVM makes ssat and usat of the clamping if its bounds are those of a
/// dtype.
std::optional<Lanes> Expressions::stored_float(const arith::Cast& e) {
  constexpr uint32_t kHeliumLanes = 4;
  const bool in_lanes = numeric_.capabilities().lane_sums && lanes_.count() == kHeliumLanes;
  if (!in_lanes && (!numeric_.capabilities().rounded_integers || lanes_.count() != 0)) return {};
  if (!e.dtype.is_integer() || e.dtype.bits > 16) return {};
  const std::optional<StoredFloat> stored = as_stored_float(e);
  if (!stored) return {};
  const Lanes real = values_.value(stored->value);
  if (in_lanes && real.vector == nullptr) return {};
  Value* x = in_lanes ? nearest_integers(real.vector) : nearest_integer(real.scalar);
  const auto number = [&](int64_t n) { return llvm::ConstantInt::getSigned(x->getType(), n); };
  if (stored->zero != 0) x = b_.CreateBinaryIntrinsic(llvm::Intrinsic::sadd_sat, x, number(stored->zero));
  x = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, x, number(stored->low + stored->zero));
  x = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, x, number(stored->high + stored->zero));
  if (in_lanes) return Lanes{nullptr, 0, numeric_.cast(DType::i(32), e.dtype, x)};
  return Lanes{b_.CreateTrunc(x, numeric_.register_type(e.dtype)), 0, nullptr};
}

Value* Expressions::nearest_integer(Value* real) {
  Value* whole = b_.CreateIntrinsic(llvm::Intrinsic::arm_vcvtr, {b_.getFloatTy()}, {real});
  return b_.CreateBitCast(whole, b_.getInt32Ty());
}

Value* Expressions::nearest_integers(Value* reals) {
  auto* whole = llvm::FixedVectorType::get(b_.getInt32Ty(), lanes_.count());
  return b_.CreateIntrinsic(llvm::Intrinsic::arm_mve_vcvtn, {whole, reals->getType()}, {b_.getInt32(0), reals});
}

bool Expressions::fits_32_bits(Expr index) {
  const arith::Range range = bindings_.range_of(index);
  return range.lower >= INT32_MIN && range.upper <= INT32_MAX;
}

Lanes Expressions::cast(const arith::Cast& e) {
  if (std::optional<Lanes> stored = stored_float(e)) return *stored;
  if (std::optional<Lanes> product = fixed_point_.rounded_product(e)) return *product;
  Lanes inner = values_.pending(e.value);
  DType from = e.value.dtype();
  if (inner.vector == nullptr && e.dtype.is_index() && from == DType::i(64)) return inner;
  if (inner.vector != nullptr && from.is_index() && e.dtype.is_float() && fits_32_bits(e.value)) {
    // Vectors of 64 bits are converted lane by lane on many machines.
    inner = lanes_.indices().resized(inner, b_.getInt32Ty());
    from = DType::i(32);
  }
  return lanes_.apply({inner}, {from}, [&](auto& x) { return numeric_.cast(from, e.dtype, x[0]); });
}

Lanes Expressions::call(const arith::Call& e, Expr whole) {
  if (arith::is_expandable(e.intrinsic) && e.args[0].dtype().is_float())
    return values_.pending(arith::expand_math(whole));
  std::vector<Lanes> args;
  std::vector<DType> dtypes;
  for (Expr arg : e.args) {
    args.push_back(values_.pending(arg)), dtypes.push_back(arg.dtype());
    if (arg.dtype().is_index()) args.back() = lanes_.indices().resized(args.back(), lanes_.indices().widest());
  }
  return lanes_.apply(args, dtypes, [&](auto& x) { return numeric_.call(e.intrinsic, dtypes[0], e.dtype, x); });
}

Lanes Expressions::binary(const arith::Binary& e) {
  Lanes a = values_.pending(e.a), b = values_.pending(e.b);
  DType dtype = e.a.dtype();
  if (dtype.is_index()) std::tie(a, b) = lanes_.indices().operands_of(Expr(&e), a, b);
  if (dtype.is_index() && (e.kind == ExprKind::kAdd || e.kind == ExprKind::kSub || e.kind == ExprKind::kMul))
    return index_binary(e, a, b);
  if (std::optional<Lanes> out = compare_lanes(e, a, b)) return *out;
  bool divides = e.kind == ExprKind::kFloorDiv || e.kind == ExprKind::kFloorMod || e.kind == ExprKind::kDiv ||
                 e.kind == ExprKind::kMod;
  if (divides && LaneArithmetic::may_have_overflowed(a, b)) b.scalar = checks_.divisor_where_fits(a, b);
  return lanes_.apply({a, b}, {dtype, dtype}, [&](auto& x) { return numeric_.binary(e.kind, dtype, x[0], x[1]); });
}

namespace {

constexpr int64_t kMostDistance = int64_t{1} << 30, kMostStep = 1 << 16;

}  // namespace

/// If both sides have a constant step between lanes, compares their distance in the first lane with 32-bit constants:
/// that takes half or a quarter of the vectors that indices would take.
std::optional<Lanes> Expressions::compare_lanes(const arith::Binary& e, Lanes a, Lanes b) {
  bool less = e.kind == ExprKind::kLt || e.kind == ExprKind::kLe;
  if (!less || !e.a.dtype().is_index() || (a.is_uniform() && b.is_uniform())) return {};
  bool even = a.vector == nullptr && b.vector == nullptr && std::max(std::abs(a.step), std::abs(b.step)) < kMostStep;
  const uint32_t lanes = lanes_.count();
  if (!even || lanes > kMostDistance / kMostStep / 4) return {};
  int64_t step = a.step - b.step;
  Value* apart = distance(a.scalar, b.scalar, kMostDistance);
  Value* limit = b_.CreateVectorSplat(lanes, b_.CreateTrunc(apart, b_.getInt32Ty()));
  std::vector<llvm::Constant*> steps;
  for (uint32_t lane = 0; lane < lanes; ++lane)
    steps.push_back(llvm::ConstantInt::getSigned(b_.getInt32Ty(), step * static_cast<int64_t>(lane)));
  Value* own = llvm::ConstantVector::get(steps);
  return Lanes{nullptr, 0, e.kind == ExprKind::kLt ? b_.CreateICmpSLT(own, limit) : b_.CreateICmpSLE(own, limit)};
}

/// to - from, clamped to -most..most. The builder does not fold intrinsics, and constants make a mask known.
Value* Expressions::distance(Value* from, Value* to, int64_t most) {
  auto number = [&](int64_t n) -> Value* { return llvm::ConstantInt::getSigned(from->getType(), n); };
  auto *known_from = llvm::dyn_cast<llvm::ConstantInt>(from), *known_to = llvm::dyn_cast<llvm::ConstantInt>(to);
  if (known_from != nullptr && known_to != nullptr) {
    int64_t known = known_to->getValue().ssub_sat(known_from->getValue()).getSExtValue();
    return number(std::clamp(known, -most, most));
  }
  Value* out = b_.CreateBinaryIntrinsic(llvm::Intrinsic::ssub_sat, to, from);
  out = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, out, number(-most));
  return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, out, number(most));
}

/// Fused reshapes are full of divisions, each tens of cycles and a vector of them far worse; most vanish or lose their
/// rounding once the ranges of the loops are known.
Lanes Expressions::divide_index(const arith::Binary& e, Expr whole) {
  if (!checks_.are_on())
    if (std::optional<Expr> simple = bindings_.simplified(whole)) return values_.pending(*simple);
  auto least = [&](Expr part) { return (checks_.are_on() ? checks_.range_of(part) : bindings_.range_of(part)).lower; };
  if (least(e.a) < 0 || least(e.b) < 1) return binary(e);
  Lanes a = values_.pending(e.a), b = values_.pending(e.b);
  std::tie(a, b) = lanes_.indices().operands_of(whole, a, b);
  if (LaneArithmetic::may_have_overflowed(a, b)) b.scalar = checks_.divisor_where_fits(a, b);
  return lanes_.apply({a, b}, {e.dtype, e.dtype}, [&](auto& x) {
    return e.kind == ExprKind::kFloorDiv ? b_.CreateUDiv(x[0], x[1]) : b_.CreateURem(x[0], x[1]);
  });
}

Lanes Expressions::index_binary(const arith::Binary& e, Lanes a, Lanes b) {
  if (checks_.needed(Expr(&e))) {
    RELAXC_CHECK(a.is_uniform() && b.is_uniform(), "checked index arithmetic in a vectorized loop");
    return checks_.checked(e.kind, a, b);
  }
  if (LaneArithmetic::may_have_overflowed(a, b)) return unchecked(e.kind, a, b);
  if (e.kind == ExprKind::kAdd) return lanes_.add(a, b);
  return e.kind == ExprKind::kMul ? lanes_.multiply(a, b) : lanes_.subtract(a, b);
}

/// Computes with operands that may have overflowed. It wraps around, since nsw would make their values poison.
Lanes Expressions::unchecked(ExprKind kind, Lanes a, Lanes b) {
  Value* out = kind == ExprKind::kAdd   ? b_.CreateAdd(a.scalar, b.scalar)
               : kind == ExprKind::kSub ? b_.CreateSub(a.scalar, b.scalar)
                                        : b_.CreateMul(a.scalar, b.scalar);
  return {out, 0, nullptr, lanes_.any_of(a.overflow, b.overflow)};
}

}  // namespace relaxc::codegen_llvm
