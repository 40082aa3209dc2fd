// algebra_whole.cpp: operations on integers that depend on data.
#include <algorithm>
#include <bit>
#include <cmath>

#include "compiler/proof/kernels/algebra.h"
#include "compiler/proof/kernels/fold.h"
#include "compiler/proof/kernels/hash_names.h"

namespace relaxc::proof {

using tir::interpreter::Instruction;
using tir::interpreter::Op;

std::pair<double, double> bounds_of(DType dtype) {
  if (dtype.is_bool()) return {0, 1};
  if (dtype.is_uint()) return {0, std::ldexp(1.0, dtype.bits) - 1};
  return {-std::ldexp(1.0, dtype.bits - 1), std::ldexp(1.0, dtype.bits - 1) - 1};
}

Term Algebra::summed(const Term& t) {
  if (counted_ == Operands::kAll) return t;
  Term once = t;
  std::tie(once.x, once.y) = operands_.sums(residues_, t.operands);
  return once;
}

Term Algebra::data(const Term& t) {
  Term result = t;
  switch (t.kind) {
    case TermKind::kReal:
      return t;
    case TermKind::kNumber:
      result.kind = TermKind::kWhole;
      result.x = residues_.whole_x(t.number()), result.y = residues_.whole_y(t.number());
      return result;
    case TermKind::kWhole: {
      if (t.wrap_bits == 0) return t;
      Term width;
      width.x = width.y = uint64_t{t.wrap_bits} * 2 + (t.wrap_signed ? 1 : 0);
      result = hashed(TermKind::kWhole, kWrapped, t, width);
      break;
    }
    case TermKind::kRealMax:
    case TermKind::kRealMin: {
      Term known;
      known.x = known.y = std::bit_cast<uint64_t>(t.kind == TermKind::kRealMax ? t.low : t.high);
      return hashed(TermKind::kReal, kExtremeOfReals + 16 * static_cast<uint64_t>(t.kind), summed(t), known);
    }
    case TermKind::kWholeMax:
    case TermKind::kWholeMin:
      result = hashed(TermKind::kWhole, kExtremeOfWholes + 16 * static_cast<uint64_t>(t.kind), summed(t));
      break;
    case TermKind::kBits:
      result = hashed(TermKind::kWhole, kFloatBits, t);
      break;
    case TermKind::kSlice:
      result = slice_data(t);
      break;
    default:
      return t;
  }
  result.low = t.low, result.high = t.high;
  return result;
}

Term Algebra::whole(uint64_t what, const Term& a, const Term& b, double low, double high) {
  Term result = hashed(TermKind::kWhole, what, data(a), data(b));
  result.low = low, result.high = high;
  return result;
}

/// An operand that was wrapped to fewer bits than the operation has becomes a hashed value of its own. If it was
/// wrapped to at least as many bits, its residues are used as they are, and the result is marked as wrapped instead.
Term Algebra::operand(const Term& t, uint8_t bits) {
  if (t.kind == TermKind::kWhole && t.wrap_bits >= bits) {
    Term open = t;
    return open;
  }
  return data(t);
}

Term Algebra::add(const Term& a, const Term& b, bool negated, uint8_t wrapped_bits) {
  const Term one = operand(a, wrapped_bits), other = operand(b, wrapped_bits);
  Term result;
  result.kind = TermKind::kWhole;
  result.x = residues_.add_x(one.x, negated ? residues_.negated_x(other.x) : other.x);
  result.y = residues_.add_y(one.y, negated ? residues_.negated_y(other.y) : other.y);
  result.low = one.low + (negated ? -other.high : other.low);
  result.high = one.high + (negated ? -other.low : other.high);
  if (one.wrap_bits != 0 || other.wrap_bits != 0) result.wrap_bits = wrapped_bits, result.wrap_signed = true;
  return result;
}

Term Algebra::multiply(const Term& a, const Term& b, uint8_t wrapped_bits) {
  const Term one = operand(a, wrapped_bits), other = operand(b, wrapped_bits);
  Term result;
  result.kind = TermKind::kWhole;
  result.x = residues_.multiply_x(one.x, other.x), result.y = residues_.multiply_y(one.y, other.y);
  const double corners[] = {one.low * other.low, one.low * other.high, one.high * other.low, one.high * other.high};
  result.low = *std::min_element(corners, corners + 4), result.high = *std::max_element(corners, corners + 4);
  if (one.wrap_bits != 0 || other.wrap_bits != 0) result.wrap_bits = wrapped_bits, result.wrap_signed = true;
  if (result.low == 0 && result.high == 0) return number_term(0);
  return result;
}

Term Algebra::wrap(const Term& t, DType dtype) {
  const auto [low, high] = bounds_of(dtype);
  if (t.kind == TermKind::kSlice) {
    Slice slice = slice_of(t);
    const auto bytes = static_cast<uint8_t>(dtype.bits / 8);
    if (slice.count >= bytes) {
      slice.count = bytes, slice.is_signed = dtype.is_int();
      return sliced(t.x, slice);
    }
    if (dtype.is_int() || !slice.is_signed) return t;
  }
  const bool fits = t.low >= low && t.high <= high;
  if (t.kind != TermKind::kWhole) {
    if (fits) return t;
    return wrap(data(t), dtype);
  }
  if (fits && (t.wrap_bits == 0 || t.wrap_bits < dtype.bits)) return t;
  if (t.wrap_bits != 0 && t.wrap_bits < dtype.bits) return wrap(data(t), dtype);
  Term result = t;
  result.wrap_bits = dtype.bits, result.wrap_signed = dtype.is_int();
  result.low = low, result.high = high;
  if (fits && t.wrap_bits != 0) result.low = t.low, result.high = t.high;
  return result;
}

/// Quotients and remainders, rounded towards zero or down. A right shift is a quotient, a mask of low bits a remainder.
Term Algebra::divided(const Term& a, const Term& b, bool remainder, bool down) {
  const bool positive = b.low > 0 && b.low == b.high;
  if (positive && a.low >= 0) {
    if (a.high < b.low) return remainder ? a : number_term(0);
    down = true;
  }
  double low = -0x1p63, high = 0x1p63;
  if (positive && remainder) low = down ? 0 : 1 - b.low, high = b.low - 1;
  if (positive && !remainder) {
    low = std::floor(a.low / b.low), high = std::floor(a.high / b.low);
    if (!down) high = std::ceil(a.high / b.low);
  }
  return whole((remainder ? kRemainder : kQuotient) + (down ? 16 : 0), a, b, low, high);
}

Term Algebra::shift(const Instruction& n, const Term& a, const Term& b) {
  const int64_t bits = b.is_number() ? b.number() : -1;
  if (bits < 0 || bits >= 63) return whole(of(n.op, n.dtype), a, b, -0x1p63, 0x1p63);
  if (a.kind == TermKind::kSlice && bits % 8 == 0) {
    Slice slice = slice_of(a);
    const auto bytes = static_cast<int8_t>(bits / 8);
    if (n.op == Op::kShiftLeft && slice.count + bytes <= 8) {
      slice.begin = static_cast<int8_t>(slice.begin - bytes);
      slice.count = static_cast<uint8_t>(slice.count + bytes);
      slice.zeros = static_cast<uint8_t>(slice.zeros + bytes);
      return sliced(a.x, slice);
    }
    const bool sign = slice.is_signed && n.op == Op::kShiftRightU;
    if (n.op != Op::kShiftLeft && slice.count > bytes && !sign) {
      slice.begin = static_cast<int8_t>(slice.begin + bytes);
      slice.count = static_cast<uint8_t>(slice.count - bytes);
      slice.zeros = slice.zeros > bytes ? static_cast<uint8_t>(slice.zeros - bytes) : uint8_t{0};
      return sliced(a.x, slice);
    }
  }
  const Term power = number_term(int64_t{1} << bits);
  if (n.op == Op::kShiftLeft) return multiply(a, power, static_cast<uint8_t>(n.dtype.bits));
  return divided(a, power, false, true);
}

/// Returns the bits of `a` that a constant mask selects.
Term Algebra::masked(const Term& a, const Term& b) {
  const int64_t mask = b.number();
  if (a.kind == TermKind::kSlice) {
    Slice slice = slice_of(a);
    for (const uint8_t bytes : {uint8_t{1}, uint8_t{2}, uint8_t{4}})
      if (mask == (int64_t{1} << (8 * bytes)) - 1 && (slice.count >= bytes || !slice.is_signed)) {
        slice.count = std::min(slice.count, bytes), slice.is_signed = false;
        return sliced(a.x, slice);
      }
    if (mask == -65536) {
      slice.zeros = std::max(slice.zeros, uint8_t{2});
      return sliced(a.x, slice);
    }
  }
  if (mask > 0 && (mask & (mask + 1)) == 0) return divided(a, number_term(mask + 1), true, true);
  return whole(of(Op::kAndI), a, b, -0x1p63, 0x1p63);
}

/// And and or of integers. For conditions, one operand may decide the result even if the other is not defined.
Term Algebra::logical(bool conjunction, const Term& a, const Term& b) {
  if (b.is_number() && !a.is_number()) return logical(conjunction, b, a);
  if (a.is_number()) {
    if (a.number() == 0) return conjunction ? a : b;
    if (b.is_poison()) return a.number() == 1 && !conjunction ? a : b;
    const bool condition = b.low >= 0 && b.high <= 1;
    if (a.number() == 1 && condition) return conjunction ? b : a;
    if (conjunction) return masked(b, a);
  }
  if (a.is_poison()) return a;
  if (b.is_poison()) return b;
  const Term one = data(a), other = data(b);
  const bool conditions = a.low >= 0 && a.high <= 1 && b.low >= 0 && b.high <= 1;
  if (one.x == other.x && one.y == other.y) return a;
  return whole(of(conjunction ? Op::kAndI : Op::kOrI), one.x <= other.x ? one : other, one.x <= other.x ? other : one,
               conditions ? 0 : -0x1p63, conditions ? 1 : 0x1p63);
}

Term Algebra::integer(const Instruction& n, const Term& a, const Term& b) {
  switch (n.op) {
    case Op::kDivI:
    case Op::kDivU:
      return divided(a, b, false, false);
    case Op::kModI:
    case Op::kModU:
      return divided(a, b, true, false);
    case Op::kFloorDivI:
      return divided(a, b, false, true);
    case Op::kFloorModI:
      return divided(a, b, true, true);
    case Op::kMinI:
    case Op::kMinU:
    case Op::kMaxI:
    case Op::kMaxU:
      return extreme(n.op == Op::kMaxI || n.op == Op::kMaxU, false, a, b);
    case Op::kLtI:
    case Op::kLtU:
      if (a.high < b.low) return number_term(1);
      return a.low >= b.high ? number_term(0) : whole(of(n.op), a, b, 0, 1);
    case Op::kLeI:
    case Op::kLeU:
      if (a.high <= b.low) return number_term(1);
      return a.low > b.high ? number_term(0) : whole(of(n.op), a, b, 0, 1);
    case Op::kEqI:
    case Op::kNeI:
    case Op::kXorI: {
      const Term one = data(a), other = data(b);
      if (n.op != Op::kXorI && (a.high < b.low || b.high < a.low)) return number_term(n.op == Op::kNeI ? 1 : 0);
      const bool condition = n.op != Op::kXorI;
      return whole(of(n.op), one.x <= other.x ? one : other, one.x <= other.x ? other : one, condition ? 0 : -0x1p63,
                   condition ? 1 : 0x1p63);
    }
    case Op::kNotB:
      return whole(of(n.op), a, a, 0, 1);
    case Op::kAbsI:
      if (a.low >= 0) return a;
      return whole(of(n.op), a, a, 0, std::max(-a.low, a.high));
    case Op::kNotI:  // -1 - a
      return add(number_term(-1), a, true, 64);
    case Op::kPopcount:
    case Op::kClz:
      return whole(of(n.op, n.dtype), a, a, 0, 64);
    default:
      return whole(of(n.op, n.dtype), a, is_unary(n.op) ? a : b, -0x1p63, 0x1p63);
  }
}

}  // namespace relaxc::proof
