// expression.cpp: prints scalar expressions as C.
//
// An operation becomes a C operator where both mean the same. Where C leaves it undefined (signed overflow, division by
// zero, casts out of range) or lacks the type, it becomes a call of a helper.
#include "compiler/codegen/c/expression.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/arith/angle.h"
#include "compiler/arith/dot.h"
#include "compiler/arith/visit.h"
#include "compiler/codegen/c/literals.h"
#include "compiler/codegen/c/operators.h"
#include "compiler/codegen/c/types.h"
#include "compiler/tir/dot_word.h"

namespace relaxc::codegen_c {
using namespace arith;

namespace {

/// A pointer in a struct stands for its address in index arithmetic.
std::string to_index(const Load& n, const std::string& field) {
  return n.dtype.is_index() ? "(int64_t)(uintptr_t)" + field : field;
}

}  // namespace

std::string Expressions::helper(const std::string& name) {
  helpers_.insert(name);
  return "rlx_" + name;
}

std::string Expressions::text(Expr e) {
  auto found = temporaries_.find(e);
  return found != temporaries_.end() ? found->second : print(e);
}

std::string Expressions::print(Expr e) {
  return visit(
      e, [&](const IntImm& n) { return integer_text(n.dtype, n.value); },
      [&](const FloatImm& n) { return float_text(n.dtype, n.value); }, [&](const VarNode&) { return variable(e); },
      [&](const Binary& n) { return binary(n); }, [&](const Not& n) { return "!" + text(n.a); },
      [&](const Select& n) {
        return fmt::format("({} ? {} : {})", text(n.condition), text(n.then_value), text(n.else_value));
      },
      [&](const Cast& n) { return cast(n); },
      [&](const Load& n) {
        if (n.buffer->record != nullptr) return to_index(n, field(n));
        std::string value = element(n.buffer, n.indices);
        return is_small_float(n.dtype) ? helper("load_" + suffix(n.dtype)) + "(" + value + ")" : value;
      },
      [&](const Call& n) { return call(n); },
      [&](const Extern& n) {
        std::string args;
        for (Expr arg : n.args) args += (args.empty() ? "" : ", ") + text(arg);
        if (is_angle_call(Expr(&n))) return fmt::format("{}({})", helper(n.name.substr(4)), args);
        return n.dtype.is_bool() ? fmt::format("({}({}) != 0)", n.name, args) : fmt::format("{}({})", n.name, args);
      });
}

std::string Expressions::type_of(Expr e) {
  return is_narrow(e) ? value_type(DType::i(32)) : value_type(e.dtype());
}

std::string Expressions::field(const Load& n) {
  const std::string& name = names_.of(n.buffer);
  if (n.indices.empty()) return name;
  const std::string_view field = n.buffer->record->fields[static_cast<size_t>(*n.indices[1].constant())].name;
  if (n.indices[0].is_constant(0) && !field.empty()) return fmt::format("{}->{}", name, field);
  return fmt::format("{}[{}]{}{}", name, text(n.indices[0]), field.empty() ? "" : ".", field);
}

std::string Expressions::pointer(const std::string& type, Expr address) {
  const auto* load = address.as<Load>();
  const bool is_pointer = load != nullptr && load->buffer->record != nullptr;
  return fmt::format("({}*)(uintptr_t){}", type, is_pointer ? field(*load) : text(address));
}

std::string Expressions::variable(Expr e) {
  const std::string& name = names_.of(e);
  if (declared_wide_.count(e->id) != 0 && is_narrow(e)) return "(int32_t)" + name;
  if (lane_ == nullptr || lane_->own_vars.count(e->id) != 0) return name;
  tir::Lanes::Step step = lane_->lanes->step(e);
  if (!step) return fmt::format("{}[{}]", name, lane_->index);
  if (*step == 0) return name;
  return *step == 1 ? fmt::format("({} + {})", name, lane_->index)
                    : fmt::format("({} + {} * {})", name, integer_text(DType::index(), *step), lane_->index);
}

std::string Expressions::rounded(DType dtype, std::string value) {
  return is_small_float(dtype) ? helper("round_" + suffix(dtype)) + "(" + value + ")" : value;
}

std::string Expressions::dot(const Binary& n) {
  if (!dots_ || lane_ != nullptr || n.kind != ExprKind::kAdd || n.dtype != DType::i(32)) return "";
  auto sum = [&](const char* name, const Load* first, Expr word) {
    return fmt::format("{}({}, &{}, {})", helper(name), text(n.a), element(first->buffer, first->indices), text(word));
  };
  if (const std::optional<Dot4> found = as_dot4(n.b))
    if (const Load* bytes = tir::word_of(*found)) return sum("dot4", bytes, found->b);
  if (const std::optional<arith::PairDot> found = arith::as_pair_dot(n.b))
    if (const Load* pairs = tir::pairs_of(*found)) return sum("pair_dot", pairs, found->b);
  return "";
}

std::string Expressions::binary(const Binary& n) {
  if (std::string sum = dot(n); !sum.empty()) return sum;
  DType dtype = n.a.dtype();
  std::string a = text(n.a), b = text(n.b);
  std::string_view sign = operator_text(n.kind);
  bool condition = is_comparison(n.kind) || n.kind == ExprKind::kAnd || n.kind == ExprKind::kOr;
  if (condition) return fmt::format("({} {} {})", a, sign, b);
  if (!dtype.is_float()) return integer_binary(n, a, b);
  if (n.kind == ExprKind::kMin || n.kind == ExprKind::kMax) {
    std::string value = dtype.bits == 64 ? "f64" : "f32";
    return fmt::format("{}({}, {})", helper((n.kind == ExprKind::kMin ? "fmin_" : "fmax_") + value), a, b);
  }
  std::string f = dtype.bits == 64 ? "" : "f";
  if (!sign.empty()) return rounded(dtype, fmt::format("({} {} {})", a, sign, b));
  if (n.kind == ExprKind::kMod) return rounded(dtype, fmt::format("fmod{}({}, {})", f, a, b));
  if (n.kind == ExprKind::kFloorDiv) return rounded(dtype, fmt::format("floor{0}({1} / {2})", f, a, b));
  RELAXC_CHECK(n.kind == ExprKind::kFloorMod, "no such arithmetic of floats");
  return rounded(dtype, fmt::format("({1} - floor{0}({1} / {2}) * {2})", f, a, b));
}

std::string Expressions::integer_binary(const Binary& n, const std::string& a, const std::string& b) {
  DType dtype = n.a.dtype();
  bool unsigned_type = dtype.is_uint() || dtype.is_bool();
  std::string name;
  switch (n.kind) {
    case ExprKind::kAdd:
      name = "add";
      break;
    case ExprKind::kSub:
      name = "sub";
      break;
    case ExprKind::kMul:
      name = "mul";
      break;
    case ExprKind::kDiv:
      name = unsigned_type ? "udiv" : "div";
      break;
    case ExprKind::kMod:
      name = unsigned_type ? "umod" : "mod";
      break;
    case ExprKind::kFloorDiv:
      name = unsigned_type ? "udiv" : "floordiv";
      break;
    case ExprKind::kFloorMod:
      name = unsigned_type ? "umod" : "floormod";
      break;
    case ExprKind::kMin:
      name = "min";
      break;
    case ExprKind::kMax:
      name = "max";
      break;
    default:
      RELAXC_UNREACHABLE("not arithmetic");
  }
  if (dtype.is_index()) return index_binary(n, name, a, b);
  if (dtype.is_bool())
    return fmt::format("({} {} {})", a, n.kind == ExprKind::kMul || n.kind == ExprKind::kMin ? "&&" : "||", b);
  return fmt::format("{}({}, {})", helper(name + "_" + suffix(dtype)), a, b);
}

/// Prints an operation in the widest type among the result and the operands (compiler/tir/index_widths.h). C converts a
/// narrow operand to the other's type; if both are narrow and the result is not, a cast is needed.
std::string Expressions::index_binary(const Binary& n, const std::string& name, const std::string& a,
                                      const std::string& b) {
  const Expr whole(&n);
  const bool checked = ranges_ != nullptr && !ranges_->fits(whole);
  checks_ |= checked;
  if (checked) return fmt::format("{}({}, {}, &bad)", helper("checked_" + name), a, b);
  const bool narrow = is_narrow(n.a) && is_narrow(n.b), fits = is_narrow(whole);
  const std::string_view sign = operator_text(n.kind);
  const bool plain = n.kind == ExprKind::kAdd || n.kind == ExprKind::kSub || n.kind == ExprKind::kMul;
  std::string out;
  if (plain)
    out = fmt::format("({}{} {} {})", narrow && !fits ? "(int64_t)" : "", a, sign, b);
  else
    out = fmt::format("{}({}, {})", helper(name + (narrow && fits ? "_i32" : "_i64")), a, b);
  return fits && !narrow ? "(int32_t)" + out : out;
}

std::string Expressions::cast(const Cast& n) {
  DType from = n.value.dtype(), to = n.dtype;
  std::string value = text(n.value);
  if (is_narrow(Expr(&n)) && from.is_integer()) return "(int32_t)" + value;
  if (to.is_bool()) return fmt::format("({} != 0)", value);
  if (to.is_float()) return rounded(to, fmt::format("({}){}", value_type(to), value));
  if (from.is_float()) {
    std::string source = from.bits == 64 ? "f64" : "f32";
    return fmt::format("{}({})", helper("from_" + source + "_" + suffix(to)), value);
  }
  if (to.is_integer() && to.bits < 8)  // a byte holds more than the type
    return fmt::format("{}((uint32_t){})", helper("narrow_" + suffix(to)), value);
  return fmt::format("({}){}", value_type(to), value);
}

std::string Expressions::call(const Call& n) {
  DType dtype = n.args[0].dtype();
  std::string a = text(n.args[0]), f = dtype.bits == 64 ? "" : "f", s = dtype.is_float() ? "" : suffix(dtype);
  auto b = [&] { return text(n.args[1]); };
  auto math = [&](const std::string& name) {
    return dtype.is_float() ? rounded(dtype, fmt::format("{}{}({})", name, f, a)) : a;
  };
  bool logical_shift = dtype.is_uint() || dtype.is_bool();
  switch (n.intrinsic) {
    case Intrinsic::k_sqrt:
      return math("sqrt");
    case Intrinsic::k_floor:
      return math("floor");
    case Intrinsic::k_ceil:
      return math("ceil");
    case Intrinsic::k_trunc:
      return math("trunc");
    case Intrinsic::k_round:
      return math("rint");
    case Intrinsic::k_abs:
      if (dtype.is_float()) return fmt::format("fabs{}({})", f, a);
      return logical_shift ? a : fmt::format("{}({})", helper("abs_" + s), a);
    case Intrinsic::k_fma:
      return rounded(dtype, fmt::format("fma{}({}, {}, {})", f, a, b(), text(n.args[2])));
    case Intrinsic::k_copysign:
      return fmt::format("copysign{}({}, {})", f, a, b());
    case Intrinsic::k_isnan:
      return dtype.is_float() ? fmt::format("(isnan({}) != 0)", a) : "0";
    case Intrinsic::k_isinf:
      return dtype.is_float() ? fmt::format("(isinf({}) != 0)", a) : "0";
    case Intrinsic::k_bitwise_and:
      return fmt::format("({})({} & {})", value_type(dtype), a, b());
    case Intrinsic::k_bitwise_or:
      return fmt::format("({})({} | {})", value_type(dtype), a, b());
    case Intrinsic::k_bitwise_xor:
      return fmt::format("({})({} ^ {})", value_type(dtype), a, b());
    case Intrinsic::k_bitwise_not:
      if (dtype.is_bool()) return "!" + a;
      if (dtype.is_uint() && dtype.bits < 8)  // a byte holds more than the type
        return fmt::format("({})(~{} & {})", value_type(dtype), a, (1 << dtype.bits) - 1);
      return fmt::format("({})~{}", value_type(dtype), a);
    case Intrinsic::k_shift_left:
      return fmt::format("{}({}, {})", helper("shl_" + s), a, b());
    case Intrinsic::k_shift_right:
      return fmt::format("{}({}, {})", helper((logical_shift ? "ushr_" : "shr_") + s), a, b());
    case Intrinsic::k_popcount:
      return fmt::format("({}){}({})", value_type(n.dtype), helper("popcount_" + s), a);
    case Intrinsic::k_clz:
      return fmt::format("({}){}({})", value_type(n.dtype), helper("clz_" + s), a);
    case Intrinsic::k_bitcast:
      return bitcast(n);
    default:
      RELAXC_UNREACHABLE(std::string(intrinsic_name(n.intrinsic)) + " should have been lowered");
  }
}

std::string Expressions::bitcast(const Call& n) {
  DType from = n.args[0].dtype(), to = n.dtype;
  std::string value = text(n.args[0]);
  if (from.is_float()) {
    std::string bits = helper("bits_" + suffix(from)) + "(" + value + ")";
    return to.is_float() ? bitcast_bits(to, bits) : fmt::format("({}){}", value_type(to), bits);
  }
  return to.is_float() ? bitcast_bits(to, value) : fmt::format("({}){}", value_type(to), value);
}

std::string Expressions::bitcast_bits(DType to, const std::string& bits) {
  if (is_small_float(to)) return fmt::format("{}(({}){})", helper("load_" + suffix(to)), memory_type(to), bits);
  std::string width = to.bits == 64 ? "u64" : "u32";
  return fmt::format("{}((uint{}_t){})", helper("float_" + width), static_cast<int>(to.bits), bits);
}

std::string Expressions::offset(const tir::Buffer& buffer, const std::vector<Expr>& indices) {
  if (indices.empty()) return "0";
  Expr at = tir::element_offset(indices[0].context(), buffer, indices);
  return text(at);
}

std::string Expressions::element(tir::BufferRef buffer, const std::vector<Expr>& indices) {
  std::string at = offset(*buffer, indices);
  if (at.size() > 2 && at.front() == '(' && at.back() == ')' && at.find(')') == at.size() - 1)
    at = at.substr(1, at.size() - 2);
  if (lane_ != nullptr && lane_->lanes->is_private(buffer) && lane_->own_buffers.count(buffer->id) == 0)
    at = at == "0" ? lane_->index : fmt::format("({}) * {} + {}", at, lane_->count, lane_->index);
  return names_.of(buffer) + "[" + at + "]";
}

std::string Expressions::stored(DType dtype, const std::string& value) {
  if (is_small_float(dtype)) return helper("bits_" + suffix(dtype)) + "(" + value + ")";
  return dtype.is_bool() ? "(uint8_t)" + value : value;
}

}  // namespace relaxc::codegen_c
