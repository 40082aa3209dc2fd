// algebra.cpp: dispatches instructions, and operations on floats.
#include "compiler/proof/kernels/algebra.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "compiler/proof/kernels/fold.h"
#include "compiler/proof/kernels/hash_names.h"

namespace relaxc::proof {

using tir::interpreter::Instruction;
using tir::interpreter::Op;

namespace {

struct Fraction {
  int64_t above = 0, below = 1;
};

/// Returns the fraction with the smallest terms that is rounded to `value` in its dtype; nothing if they are too large.
std::optional<Fraction> fraction_of(double value) {
  constexpr double kLargest = 0x1p52;
  constexpr int64_t kDenominator = 1024;
  const bool single = static_cast<double>(static_cast<float>(value)) == value;
  const double size = std::fabs(value);
  double rest = size;
  int64_t above[2] = {1, 0}, below[2] = {0, 1};
  for (int step = 0; step < 20 && rest < kLargest; ++step) {
    const double digit = std::floor(rest);
    const double next_above = digit * static_cast<double>(above[0]) + static_cast<double>(above[1]),
                 next_below = digit * static_cast<double>(below[0]) + static_cast<double>(below[1]);
    if (next_above > kLargest || next_below > kDenominator) break;
    above[1] = above[0], below[1] = below[0];
    above[0] = static_cast<int64_t>(next_above), below[0] = static_cast<int64_t>(next_below);
    const double now = next_above / next_below;
    if (single ? static_cast<float>(now) == static_cast<float>(size) : now == size)
      return Fraction{value < 0 ? -above[0] : above[0], below[0]};
    if (rest == digit) break;
    rest = 1 / (rest - digit);
  }
  return std::nullopt;
}

bool is_bounded_as(const Term& a, const Term& b) {
  return a.low == b.low && a.high == b.high;
}

}  // namespace

Term Algebra::hashed(TermKind kind, uint64_t what, const Term& a, const Term& b, const Term& c) const {
  Term result;
  result.kind = kind;
  result.x = residues_.hash_x(what, a.x, b.x, c.x);
  result.y = residues_.hash_y(what, a.y, b.y, c.y);
  return result;
}

Term Algebra::input(uint64_t buffer, uint64_t index, DType dtype) const {
  Term place;
  place.x = place.y = buffer;
  Term at;
  at.x = at.y = index;
  Term result = hashed(dtype.is_float() ? TermKind::kReal : TermKind::kWhole, kInput, place, at);
  if (!dtype.is_float()) std::tie(result.low, result.high) = bounds_of(dtype);
  return result;
}

Term Algebra::constant(double value) const {
  Term result;
  result.kind = TermKind::kReal;
  result.low = result.high = value;
  const std::optional<Fraction> fraction = meaning_ == Meaning::kExact ? std::nullopt : fraction_of(value);
  if (fraction) {
    result.x = residues_.multiply_x(residues_.whole_x(fraction->above),
                                    residues_.inverse_x(residues_.whole_x(fraction->below)));
    result.y = residues_.multiply_y(residues_.whole_y(fraction->above),
                                    residues_.inverse_y(residues_.whole_y(fraction->below)));
    return result;
  }
  Term bits;
  bits.x = bits.y = std::bit_cast<uint64_t>(value);
  const Term hash = hashed(TermKind::kReal, kConstant, bits);
  result.x = hash.x, result.y = hash.y;
  return result;
}

Term Algebra::scaled(double rational, const Term& t) const {
  const Term factor = constant(rational);
  Term result;
  result.kind = TermKind::kReal;
  result.x = residues_.multiply_x(factor.x, t.x), result.y = residues_.multiply_y(factor.y, t.y);
  return result;
}

Term Algebra::real(uint64_t what, const Term& a, const Term& b, const Term& c) {
  return hashed(TermKind::kReal, what, data(a), data(b), data(c));
}

Term Algebra::add_real(Op op, const Term& a, const Term& b, bool negated) {
  if (a.kind != TermKind::kReal || b.kind != TermKind::kReal) return add_real(op, data(a), data(b), negated);
  if (meaning_ == Meaning::kExact) {
    const bool exchange = !negated && a.x > b.x;
    return hashed(TermKind::kReal, of(op), exchange ? b : a, exchange ? a : b);
  }
  if (!negated) return field_sum(a, b);
  return field_sum(a, field_term(residues_.negated_x(b.x), residues_.negated_y(b.y)));
}

Term Algebra::multiply_real(Op op, const Term& a, const Term& b) {
  if (a.kind != TermKind::kReal || b.kind != TermKind::kReal) return multiply_real(op, data(a), data(b));
  if (meaning_ == Meaning::kExact) {
    const bool exchange = a.x > b.x;
    return hashed(TermKind::kReal, of(op), exchange ? b : a, exchange ? a : b);
  }
  return field_product(a, b);
}

Term Algebra::fma_real(Op op, const Term& a, const Term& b, const Term& c) {
  if (a.kind != TermKind::kReal || b.kind != TermKind::kReal || c.kind != TermKind::kReal)
    return fma_real(op, data(a), data(b), data(c));
  if (meaning_ == Meaning::kExact) {
    const bool exchange = a.x > b.x;
    return hashed(TermKind::kReal, of(op), exchange ? b : a, exchange ? a : b, c);
  }
  return field_fma(a, b, c);
}

Term Algebra::quotient(uint64_t what, const Term& a, const Term& b) {
  const Term divisor = data(b), dividend = data(a);
  if (meaning_ == Meaning::kExact || divisor.x == 0 || divisor.y == 0) return real(what, a, b);
  Term inverse = divisor;
  inverse.x = residues_.inverse_x(divisor.x), inverse.y = residues_.inverse_y(divisor.y);
  return multiply_real(Op::kMulF, dividend, inverse);
}

Term Algebra::as_extreme(TermKind kind, const Term& t) {
  if (t.kind == kind) return t;
  const bool is_real = kind == TermKind::kRealMax || kind == TermKind::kRealMin;
  if (t.is_constant_real()) {
    Term set;
    set.kind = kind;
    (kind == TermKind::kRealMax ? set.low : set.high) = t.low;
    return set;
  }
  Term set = hashed(kind, is_real ? kElementOfReals : kElementOfWholes, data(t));
  if (counted_ == Operands::kOnce) set.operands = operands_.single(set.x, set.y);
  return set;
}

bool Algebra::has_same_operands(TermKind kind, const Term& a, const Term& b) {
  if (a.kind == kind && b.kind == kind) return a.x == b.x && a.y == b.y && (!a.is_real() || is_bounded_as(a, b));
  // Whether an operand equals all of a running maximum is not worth the sum over its operands at each step.
  if (counted_ == Operands::kOnce && (a.kind == kind || b.kind == kind)) return false;
  const Term one = data(a), other = data(b);
  return one.x == other.x && one.y == other.y;
}

Term Algebra::extreme(bool largest, bool is_real, const Term& a, const Term& b) {
  const TermKind kind = is_real ? (largest ? TermKind::kRealMax : TermKind::kRealMin)
                                : (largest ? TermKind::kWholeMax : TermKind::kWholeMin);
  if (!is_real && (largest ? a.low >= b.high : a.high <= b.low)) return a;
  if (!is_real && (largest ? b.low >= a.high : b.high <= a.low)) return b;
  const double neutral = largest ? -INFINITY : INFINITY;
  if (is_real && a.is_constant_real() && a.low == neutral) return b;
  if (is_real && b.is_constant_real() && b.low == neutral) return a;
  if (has_same_operands(kind, a, b)) return a;
  const Term one = as_extreme(kind, a), other = as_extreme(kind, b);
  Term result;
  result.kind = kind;
  result.x = residues_.add_x(one.x, other.x), result.y = residues_.add_y(one.y, other.y);
  result.operands = operands_.join(one.operands, other.operands);
  has_extremes_ = true;
  if (is_real) {  // keep the extreme constant, so that it does not matter how often a constant is an operand
    result.low = std::max(one.low, other.low), result.high = std::min(one.high, other.high);
    return result;
  }
  result.low = largest ? std::max(a.low, b.low) : std::min(a.low, b.low);
  result.high = largest ? std::max(a.high, b.high) : std::min(a.high, b.high);
  return result;
}

Term Algebra::select(const Term& condition, const Term& then_value, const Term& else_value) {
  if (condition.is_number()) return condition.number() != 0 ? then_value : else_value;
  for (const Term* one : {&condition, &then_value, &else_value})
    if (one->is_poison()) return *one;
  if (equal(then_value, else_value)) return then_value;
  const bool is_real = then_value.is_real() || else_value.is_real();
  Term result = hashed(is_real ? TermKind::kReal : TermKind::kWhole, kSelected, data(condition), data(then_value),
                       data(else_value));
  if (!is_real)
    result.low = std::min(then_value.low, else_value.low), result.high = std::max(then_value.high, else_value.high);
  return result;
}

Term Algebra::call(const std::string& name, std::span<const Term> args, DType dtype) {
  for (const Term& arg : args)
    if (arg.is_poison()) return arg;
  const bool exponential = meaning_ == Meaning::kExponential && (name == "exp" || name == "exp_nonpositive");
  uint64_t what = kCalled;
  for (const char c : exponential ? "exp" : name) what = what * 1099511628211 + static_cast<unsigned char>(c);
  if (meaning_ != Meaning::kExact && name == "rsqrt") {  // as arith/math.cpp defines it
    const Term root = real(of(Op::kSqrtF), args[0]);
    return quotient(of(Op::kDivF), constant(1), root);
  }
  Term all;
  for (const Term& arg : args) all = hashed(TermKind::kReal, what, all.is_poison() ? Term{.kind = {}} : all, data(arg));
  if (exponential) all.y = Residues::exponential(data(args[0]).x);
  if (!dtype.is_float()) all.kind = TermKind::kWhole, std::tie(all.low, all.high) = bounds_of(dtype);
  return all;
}

/// Applies operations whose operands or results are floats.
Term Algebra::of_reals(const Instruction& n, const Term& a, const Term& b, const Term& c) {
  switch (n.op) {
    case Op::kAddF:
    case Op::kAddD:
    case Op::kSubF:
    case Op::kSubD:
      return add_real(n.op, a, b, n.op == Op::kSubF || n.op == Op::kSubD);
    case Op::kMulF:
    case Op::kMulD:
      return multiply_real(n.op, a, b);
    case Op::kFmaF:
    case Op::kFmaD:
      return fma_real(n.op, a, b, c);
    case Op::kDivF:
    case Op::kDivD:
      return quotient(of(n.op), a, b);
    case Op::kMaxF:
    case Op::kMaxD:
    case Op::kMinF:
    case Op::kMinD:
      return extreme(n.op == Op::kMaxF || n.op == Op::kMaxD, true, a, b);
    case Op::kEqF:
    case Op::kEqD:
    case Op::kNeF:
    case Op::kNeD: {
      const Term one = data(a), other = data(b);
      return whole(of(n.op), one.x <= other.x ? a : b, one.x <= other.x ? b : a, 0, 1);
    }
    case Op::kLtF:
    case Op::kLtD:
    case Op::kLeF:
    case Op::kLeD:
    case Op::kIsnanF:
    case Op::kIsnanD:
    case Op::kIsinfF:
    case Op::kIsinfD:
      return whole(of(n.op), a, is_unary(n.op) ? a : b, 0, 1);
    default:
      return is_unary(n.op) ? real(of(n.op), a) : real(of(n.op), a, b, is_ternary(n.op) ? c : b);
  }
}

Term Algebra::converted(const Instruction& n, const Term& a) {
  switch (n.op) {
    case Op::kIToF:
    case Op::kIToD:
    case Op::kUToF:
    case Op::kUToD:
      return real(of(n.op), a);
    case Op::kFToD:
      return meaning_ == Meaning::kExact ? real(of(n.op), a) : a;
    case Op::kRoundSmall:
    case Op::kDToF:
      return meaning_ == Meaning::kExact ? real(of(n.op, n.dtype), a) : a;
    case Op::kFToInt:
    case Op::kDToInt: {
      const auto [low, high] = bounds_of(n.dtype);
      return whole(of(n.op, n.dtype), a, a, low, high);
    }
    case Op::kFToBool:
    case Op::kDToBool:
      return whole(of(n.op), a, a, 0, 1);
    case Op::kSmallToBits:
    case Op::kFToBits: {
      Term bits = data(a);
      bits.kind = TermKind::kBits;
      std::tie(bits.low, bits.high) = std::pair(0.0, 0x1p32);
      return bits;
    }
    default:
      return from_bits(a, n.op == Op::kBitsToSmall ? n.dtype : DType::f(32));
  }
}

Term Algebra::apply(const Instruction& n, const Term& a, const Term& b, const Term& c, uint8_t wrapped_bits) {
  const OperandKind operands = operand_kind(n.op);
  const bool one = is_unary(n.op), three = is_ternary(n.op);
  if (const std::optional<Term> known = folded(*this, n, a, one ? a : b, three ? c : a)) return *known;
  if (n.op == Op::kAndI || n.op == Op::kOrI) return logical(n.op == Op::kAndI, a, b);
  if (a.is_poison() && a.kind != TermKind::kAddress) return a;
  if (!one && b.is_poison() && b.kind != TermKind::kAddress) return b;
  if (three && c.is_poison()) return c;
  if (operands == OperandKind::kConversion) return converted(n, a);
  if (operands != OperandKind::kWhole) return of_reals(n, a, b, c);
  switch (n.op) {
    case Op::kAddI:
    case Op::kCheckedAddI:
      return add(a, b, false, wrapped_bits);
    case Op::kSubI:
    case Op::kCheckedSubI:
      return add(a, b, true, wrapped_bits);
    case Op::kMulI:
    case Op::kCheckedMulI:
      return multiply(a, b, wrapped_bits);
    case Op::kWrap:
      return wrap(a, n.dtype);
    case Op::kShiftLeft:
    case Op::kShiftRightI:
    case Op::kShiftRightU:
      return shift(n, a, b);
    default:
      return integer(n, a, b);
  }
}

bool Algebra::equal(const Term& a, const Term& b) {
  if (a.is_poison() || b.is_poison()) return false;
  if (a.is_number() && b.is_number()) return a.x == b.x;
  const Term one = data(a), other = data(b);
  return one.y == other.y && (one.x == other.x || meaning_ == Meaning::kExponential);
}

std::string Algebra::text(const Term& t) {
  if (t.is_number()) return fmt::format("{}", t.number());
  if (t.is_constant_real()) return fmt::format("{}", t.low);
  if (t.kind == TermKind::kUnwritten) return "memory that nothing has written";
  if (t.kind == TermKind::kOutside) return "what is beyond a buffer";
  return fmt::format("term {:015x}", data(t).y);
}

}  // namespace relaxc::proof
