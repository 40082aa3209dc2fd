// fold.cpp: see fold.h.
#include "compiler/proof/kernels/fold.h"

#include "compiler/proof/kernels/algebra.h"
#include "compiler/tir/interpreter_ops.h"

namespace relaxc::proof {

using tir::interpreter::Instruction;
using tir::interpreter::Op;
using tir::interpreter::Register;

namespace {

struct OpShape {
  OperandKind kind = OperandKind::kWhole;
  bool unary = false, ternary = false;
};

/// Derives the operands from an instruction's name, whose last letter is that of the operands' type.
constexpr OpShape shape_of(std::string_view name) {
  auto is_one_of = [&](std::initializer_list<std::string_view> names) {
    for (const std::string_view one : names)
      if (one == name) return true;
    return false;
  };
  OpShape shape;
  const bool conversion = is_one_of({"RoundSmall", "IToF", "IToD", "UToF", "UToD", "FToD", "DToF", "FToInt", "DToInt",
                                     "FToBool", "DToBool", "SmallToBits", "BitsToSmall", "FToBits", "BitsToF"});
  const char last = name.back();
  if (conversion)
    shape.kind = OperandKind::kConversion;
  else if (last == 'F')
    shape.kind = OperandKind::kSingle;
  else if (last == 'D' || is_one_of({"AngleRest", "AngleQuadrant"}))
    shape.kind = OperandKind::kDouble;
  const std::string_view stem = name.substr(0, name.size() - 1);
  const bool unary_real = last != 'I' && (stem == "Sqrt" || stem == "Floor" || stem == "Ceil" || stem == "Trunc" ||
                                          stem == "Round" || stem == "Abs" || stem == "Isnan" || stem == "Isinf");
  shape.unary = conversion || unary_real || is_one_of({"Wrap", "NotI", "NotB", "AbsI", "Popcount", "Clz"});
  shape.ternary = stem == "Fma" || is_one_of({"AngleRest", "AngleQuadrant"});
  return shape;
}

constexpr OpShape kShapes[] = {
#define X(name) shape_of(#name),
    RELAXC_INTERPRETER_OPS(X)
#undef X
};

const OpShape& shape_of(Op op) {
  return kShapes[static_cast<size_t>(op)];
}

Register compute(const Instruction& n, Register a, Register b, [[maybe_unused]] Register c) {
  using namespace tir::interpreter;
  Register d{};
  switch (n.op) {
#define X(name, ...) \
  case Op::k##name:  \
    __VA_ARGS__;     \
    break;
    RELAXC_PURE_OPS(X)
#undef X
    case Op::kCheckedAddI:
      d.i = wrapping_add(a.i, b.i);
      break;
    case Op::kCheckedSubI:
      d.i = wrapping_sub(a.i, b.i);
      break;
    case Op::kCheckedMulI:
      d.i = wrapping_mul(a.i, b.i);
      break;
    default:
      break;
  }
  return d;
}

bool takes_whole(Op op) {
  return op == Op::kIToF || op == Op::kIToD || op == Op::kUToF || op == Op::kUToD || op == Op::kBitsToSmall ||
         op == Op::kBitsToF;
}
bool takes_double(Op op) {
  return op == Op::kDToF || op == Op::kDToInt || op == Op::kDToBool;
}

enum class Result : uint8_t { kWhole, kSingle, kDouble };

Result result_of(Op op) {
  switch (op) {
    case Op::kIToD:
    case Op::kUToD:
    case Op::kFToD:
      return Result::kDouble;
    case Op::kIToF:
    case Op::kUToF:
    case Op::kDToF:
    case Op::kRoundSmall:
    case Op::kBitsToF:
    case Op::kBitsToSmall:
      return Result::kSingle;
    case Op::kEqF:
    case Op::kNeF:
    case Op::kLtF:
    case Op::kLeF:
    case Op::kIsnanF:
    case Op::kIsinfF:
    case Op::kEqD:
    case Op::kNeD:
    case Op::kLtD:
    case Op::kLeD:
    case Op::kIsnanD:
    case Op::kIsinfD:
      return Result::kWhole;
    default: {
      const OperandKind kind = operand_kind(op);
      return kind == OperandKind::kSingle   ? Result::kSingle
             : kind == OperandKind::kDouble ? Result::kDouble
                                            : Result::kWhole;
    }
  }
}

}  // namespace

OperandKind operand_kind(Op op) {
  return shape_of(op).kind;
}
bool is_unary(Op op) {
  return shape_of(op).unary;
}
bool is_ternary(Op op) {
  return shape_of(op).ternary;
}

int64_t result_of_numbers(const Instruction& n, int64_t a, int64_t b) {
  Register one, other;
  one.i = a, other.i = b;
  return compute(n, one, other, one).i;
}

std::optional<Term> folded(const Algebra& algebra, const Instruction& n, const Term& a, const Term& b, const Term& c) {
  const OperandKind kind = operand_kind(n.op);
  const bool wholes = kind == OperandKind::kWhole || (kind == OperandKind::kConversion && takes_whole(n.op));
  const bool doubles = kind == OperandKind::kDouble || (kind == OperandKind::kConversion && takes_double(n.op));
  auto known = [&](const Term& t) { return wholes ? t.is_number() : t.is_constant_real(); };
  if (!known(a) || !known(b) || !known(c)) return std::nullopt;
  auto value = [&](const Term& t) {
    Register r{};
    if (wholes)
      r.i = t.number();
    else if (doubles)
      r.d = t.low;
    else
      r.f = static_cast<float>(t.low);
    return r;
  };
  const Register made = compute(n, value(a), value(b), value(c));
  switch (result_of(n.op)) {
    case Result::kWhole:
      return number_term(made.i);
    case Result::kSingle:
      return algebra.constant(static_cast<double>(made.f));
    default:
      return algebra.constant(made.d);
  }
}

}  // namespace relaxc::proof
