// scalar.cpp: reads the operators of scalar expressions, and unifies dtypes. scalar_calls.h has the functions.
#include "frontends/relax/scalars/scalar.h"

#include "compiler/arith/visit.h"
#include "frontends/relax/scalars/scalar_calls.h"
#include "frontends/relax/text/literals.h"

namespace relaxc::frontend {

using arith::ExprKind;
using AstKind = ast::ExprKind;

constexpr int64_t kMostFactors = 16;  ///< maximum exponent of an integer power, which is expanded to products

Result<Scalar> ScalarReader::read(const ast::Expr& e) {
  Diagnostics& diag = source_.diag();
  switch (e.kind) {
    case AstKind::kInt: {
      RELAXC_TRY(int64_t number, integer_value(source_, e));
      return Scalar{context_.index(number), Scalar::kInteger};
    }
    case AstKind::kFloat:
      return Scalar{context_.imm_float(DType::f(64), float_value(e)), Scalar::kReal};
    case AstKind::kTrue:
    case AstKind::kFalse:
      return Scalar{context_.boolean(e.is(AstKind::kTrue))};
    case AstKind::kName:
      return name(e);
    case AstKind::kSubscript:
      return subscript(e);
    case AstKind::kAttribute:
      return attribute(e);
    case AstKind::kCall:
      return ScalarCalls(*this).read(e);
    case AstKind::kUnary:
      return unary(e);
    case AstKind::kBoolOp:
      return logical(e);
    case AstKind::kIfElse:
      return select(*e.items[1], *e.items[0], *e.items[2], e.place);
    case AstKind::kBinary:
    case AstKind::kCompare: {
      auto a = read(*e.items[0]);
      auto b = read(*e.items[1]);
      if (!a || !b) return diag.failed();
      return binary(e.text, *a, *b, e.place);
    }
    default:
      break;
  }
  return source_.error(e.place, Kind::invalid_value, "expected a scalar, found {}", describe(e));
}

Result<arith::Expr> ScalarReader::index(const ast::Expr& e) {
  return value(e, DType::index());
}

Result<arith::Expr> ScalarReader::condition(const ast::Expr& e) {
  RELAXC_TRY(Scalar scalar, read(e));
  if (scalar.literal == Scalar::kTyped && scalar.expr.dtype().is_bool()) return scalar.expr;
  DType dtype = scalar.expr.dtype();
  if (scalar.literal == Scalar::kTyped && (dtype.is_integer() || dtype.is_index()))  // as in C
    return arith::ne(scalar.expr, context_.imm(dtype, 0));
  return source_.error(e.place, Kind::dtype_mismatch, "a condition must be a bool, found {}",
                       to_string(scalar.expr.dtype()));
}

Result<arith::Expr> ScalarReader::value(const ast::Expr& e, DType dtype) {
  RELAXC_TRY(Scalar scalar, read(e));
  return adapt(scalar, dtype, e.place);
}

Result<arith::Expr> ScalarReader::adapt(const Scalar& scalar, DType dtype, Place place) {
  arith::Expr e = scalar.expr;
  if (e.dtype() == dtype && scalar.literal != Scalar::kReal) return e;
  bool numeric = dtype.is_float() || dtype.is_integer() || dtype.is_index();
  if (const auto* chosen = e.as<arith::Select>(); chosen != nullptr && scalar.literal != Scalar::kTyped) {
    RELAXC_TRY(arith::Expr a, adapt({chosen->then_value, scalar.literal}, dtype, place));
    RELAXC_TRY(arith::Expr b, adapt({chosen->else_value, scalar.literal}, dtype, place));
    return arith::select(chosen->condition, a, b);
  }
  bool computed = e.constant() == nullptr && e.as<arith::FloatImm>() == nullptr;
  if (computed && numeric &&
      (scalar.literal == Scalar::kInteger || (scalar.literal == Scalar::kReal && dtype.is_float())))
    return context_.cast(dtype, e);
  switch (scalar.literal) {
    case Scalar::kInteger:
      if (!numeric) break;
      if (dtype.is_float()) return context_.imm_float(dtype, static_cast<double>(*e.constant()));
      if (arith::wrap_to_dtype(*e.constant(), dtype) != *e.constant() && dtype != DType::u(64))
        return source_.error(place, Kind::overflow, "{} does not fit {}", *e.constant(), to_string(dtype));
      return context_.imm(dtype, *e.constant());
    case Scalar::kReal:
      if (dtype.is_float()) return context_.imm_float(dtype, static_cast<const arith::FloatImm*>(e.node())->value);
      return source_.error(place, Kind::dtype_mismatch, "expected a value of dtype {}, found a float",
                           to_string(dtype));
    case Scalar::kDimLiteral:
      if (dtype.is_index() || dtype.is_integer()) return context_.imm(dtype, *e.constant());
      break;
    case Scalar::kTyped:
      // A dim stored as an integer, or an integer used as a dim: the IR distinguishes the two, but programs
      // do not.
      if (dtype.is_index() && e.dtype().is_integer()) {
        use_as_index(e);
        return context_.cast(dtype, e);
      }
      if (dtype.is_integer() && e.dtype().is_index()) return context_.cast(dtype, e);
      break;
  }
  return source_.error(place, Kind::dtype_mismatch, "expected a value of dtype {}, found {}", to_string(dtype),
                       to_string(e.dtype()));
}

Result<arith::Expr> ScalarReader::stored(const Scalar& scalar, DType dtype, Place place) {
  auto number = [](DType one) { return one.is_float() || one.is_integer() || one.is_index() || one.is_bool(); };
  const DType given = scalar.expr.dtype();
  const bool typed = scalar.literal == Scalar::kTyped || scalar.literal == Scalar::kDimLiteral;
  if (typed && given != dtype && number(given) && number(dtype)) return context_.cast(dtype, scalar.expr);
  return adapt(scalar, dtype, place);
}

namespace {

bool is_made_of_names(arith::Expr e) {
  bool names = true;
  arith::for_each_node(e, [&](arith::Expr node) {
    names &= node->kind != ExprKind::kLoad && node->kind != ExprKind::kCall && node->kind != ExprKind::kExtern;
  });
  return names;
}

}  // namespace

Result<std::pair<Scalar, Scalar>> ScalarReader::unify(const Scalar& a, const Scalar& b, Place place) {
  if (a.literal == b.literal && a.expr.dtype() == b.expr.dtype()) return std::pair(a, b);
  auto weaker = [](const Scalar& x, const Scalar& y) {  // x takes y's dtype
    if (x.literal != y.literal)
      return x.literal == Scalar::kInteger || (x.literal != Scalar::kTyped && y.literal == Scalar::kTyped);
    return x.expr.dtype().is_integer() && y.expr.dtype().is_index();
  };
  auto wider = [](DType x, DType y) { return x.code == y.code && x.is_integer() && x.bits < y.bits; };
  // Printers write an integer literal only beside an index, so an int64 beside it is one.
  for (auto [number, other] : {std::pair(&a, &b), {&b, &a}})
    if (number->literal == Scalar::kInteger && other->expr.dtype() == DType::i(64) && is_made_of_names(other->expr))
      use_as_index(other->expr);
  // An integer beside a bare real number becomes a float32, as TVM has it.
  auto whole = [](const Scalar& x) {
    return x.literal == Scalar::kTyped && (x.expr.dtype().is_integer() || x.expr.dtype().is_index());
  };
  if (a.literal == Scalar::kReal && whole(b)) return unify(a, Scalar{context_.cast(DType::f(32), b.expr)}, place);
  if (b.literal == Scalar::kReal && whole(a)) return unify(Scalar{context_.cast(DType::f(32), a.expr)}, b, place);
  if (weaker(a, b)) {
    RELAXC_TRY(arith::Expr e, adapt(a, b.expr.dtype(), place));
    return std::pair(Scalar{e, b.literal}, b);
  }
  if (weaker(b, a)) {
    RELAXC_TRY(arith::Expr e, adapt(b, a.expr.dtype(), place));
    return std::pair(a, Scalar{e, a.literal});
  }
  if (wider(a.expr.dtype(), b.expr.dtype())) return std::pair(Scalar{context_.cast(b.expr.dtype(), a.expr)}, b);
  if (wider(b.expr.dtype(), a.expr.dtype())) return std::pair(a, Scalar{context_.cast(a.expr.dtype(), b.expr)});
  Failure failure = source_.error(place, Kind::dtype_mismatch, "operands of dtypes {} and {}",
                                  to_string(a.expr.dtype()), to_string(b.expr.dtype()));
  source_.hint("convert one side: T.Cast(\"{}\", …)", to_string(a.expr.dtype()));
  return failure;
}

Result<Scalar> ScalarReader::binary(std::string_view op, const Scalar& left, const Scalar& right, Place place) {
  RELAXC_TRY(auto pair, unify(left, right, place));
  auto [a, b] = pair;
  arith::Expr x = a.expr, y = b.expr;
  DType dtype = x.dtype();
  // Two literals give a literal; a comparison always gives a bool.
  Scalar::Literal literal = a.literal;
  if (op == "==") return Scalar{arith::eq(x, y)};
  if (op == "!=") return Scalar{arith::ne(x, y)};
  if (op == "<") return Scalar{arith::lt(x, y)};
  if (op == "<=") return Scalar{arith::le(x, y)};
  if (op == ">") return Scalar{arith::gt(x, y)};
  if (op == ">=") return Scalar{arith::ge(x, y)};
  bool bitwise = op == "&" || op == "|" || op == "^" || op == "<<" || op == ">>";
  if (bitwise) return bits(op, x, y, place);
  bool numeric = dtype.is_float() || dtype.is_integer() || dtype.is_index();
  bool whole = !dtype.is_float();
  if (!numeric || op == "@")
    return source_.error(place, Kind::dtype_mismatch, "'{}' is not defined for {}", op, to_string(dtype));
  if (op == "max") return Scalar{arith::max(x, y)};
  if (op == "min") return Scalar{arith::min(x, y)};
  if (op == "+") return Scalar{x + y, literal == Scalar::kDimLiteral ? Scalar::kTyped : literal};
  if (op == "-") return Scalar{x - y, literal == Scalar::kDimLiteral ? Scalar::kTyped : literal};
  if (op == "*") return Scalar{x * y, literal == Scalar::kDimLiteral ? Scalar::kTyped : literal};
  if (whole && y.is_constant(0)) return source_.error(place, Kind::invalid_value, "division by zero");
  if (op == "//" && whole) return Scalar{arith::floordiv(x, y), literal};
  if (op == "%" && whole) return Scalar{arith::floormod(x, y), literal};
  if (op == "%" || op == "mod") return Scalar{context_.binary(ExprKind::kMod, x, y)};
  if (op == "/" && whole && divides_integers()) return Scalar{context_.binary(ExprKind::kDiv, x, y), literal};
  if (op == "/" && !whole) return Scalar{x / y, literal};
  if (op == "**") {
    RELAXC_TRY(Scalar made, power(x, y, place));
    return Scalar{made.expr, literal == Scalar::kDimLiteral ? Scalar::kTyped : literal};
  }
  Failure failure = source_.error(place, Kind::dtype_mismatch, "'{}' is not defined for {}", op, to_string(dtype));
  source_.hint("{}", whole ? "integers divide by '//', which rounds down, or by T.truncdiv" : "floats divide by '/'");
  return failure;
}

Result<Scalar> ScalarReader::bits(std::string_view op, arith::Expr x, arith::Expr y, Place place) {
  DType dtype = x.dtype();
  if (dtype.is_bool() && (op == "&" || op == "|"))
    return Scalar{op == "&" ? arith::logical_and(x, y) : arith::logical_or(x, y)};
  if (dtype.is_bool() && op == "^") return Scalar{arith::ne(x, y)};
  auto intrinsic = op == "&"    ? arith::Intrinsic::k_bitwise_and
                   : op == "|"  ? arith::Intrinsic::k_bitwise_or
                   : op == "^"  ? arith::Intrinsic::k_bitwise_xor
                   : op == "<<" ? arith::Intrinsic::k_shift_left
                                : arith::Intrinsic::k_shift_right;
  if (dtype.is_integer()) return Scalar{arith::call(intrinsic, {x, y})};
  if (!dtype.is_index())
    return source_.error(place, Kind::dtype_mismatch, "'{}' is not defined for {}", op, to_string(dtype));
  // An index has no fixed width; for operations on its bits it is a 64-bit integer.
  const int64_t* by = y.constant();
  if (by != nullptr && *by >= 0 && *by < 62 && op == "<<") return Scalar{x * (int64_t{1} << *by)};
  if (by != nullptr && *by >= 0 && *by < 62 && op == ">>") return Scalar{arith::floordiv(x, int64_t{1} << *by)};
  DType wide = DType::i(64);
  arith::Expr made = arith::call(intrinsic, {context_.cast(wide, x), context_.cast(wide, y)});
  return Scalar{context_.cast(dtype, made)};
}

/// Returns pow(x, y) for floats; for integers, a product, which needs a small constant exponent.
Result<Scalar> ScalarReader::power(arith::Expr x, arith::Expr y, Place place) {
  if (x.dtype().is_float()) return Scalar{arith::call(arith::Intrinsic::k_pow, {x, y})};
  const int64_t* exponent = y.constant();
  if (exponent == nullptr || *exponent < 0 || *exponent > kMostFactors)
    return source_.error(place, Kind::invalid_value, "an integer takes a constant exponent in 0..{}", kMostFactors);
  arith::Expr out = context_.imm(x.dtype(), 1);
  for (int64_t i = 0; i < *exponent; ++i) out = i == 0 ? x : out * x;
  return Scalar{out};
}

Result<Scalar> ScalarReader::unary(const ast::Expr& e) {
  RELAXC_TRY(Scalar operand, read(*e.items[0]));
  DType dtype = operand.expr.dtype();
  if (e.text == "not") {
    if (dtype.is_bool()) return Scalar{arith::logical_not(operand.expr)};
    return source_.error(e.place, Kind::dtype_mismatch, "'not' takes a bool, found {}", to_string(dtype));
  }
  if (e.text == "~" && dtype.is_bool()) return Scalar{arith::logical_not(operand.expr)};
  if (e.text == "~" && dtype.is_index() && operand.literal == Scalar::kTyped)
    return Scalar{context_.index(-1) - operand.expr};
  if (e.text == "~" && dtype.is_integer()) return Scalar{arith::call(arith::Intrinsic::k_bitwise_not, {operand.expr})};
  if (e.text == "~" || dtype.is_bool())
    return source_.error(e.place, Kind::dtype_mismatch, "'{}' is not defined for {}", e.text, to_string(dtype));
  if (e.text == "+") return operand;
  if (operand.literal == Scalar::kTyped) return Scalar{-operand.expr};
  // A negated literal is still a literal without a dtype.
  if (const auto* number = operand.expr.as<arith::FloatImm>())
    return Scalar{context_.imm_float(dtype, -number->value), operand.literal};
  if (dtype.is_float()) return Scalar{-operand.expr};
  const int64_t* number = operand.expr.constant();
  if (number == nullptr) return Scalar{-operand.expr};
  return Scalar{context_.imm(dtype, static_cast<int64_t>(-static_cast<uint64_t>(*number))), operand.literal};
}

Result<Scalar> ScalarReader::logical(const ast::Expr& e) {
  Diagnostics& diag = source_.diag();
  auto a = condition(*e.items[0]);
  auto b = [&] {
    Choice choice(*this);
    return condition(*e.items[1]);
  }();
  if (!a || !b) return diag.failed();
  return Scalar{e.text == "and" ? arith::logical_and(*a, *b) : arith::logical_or(*a, *b)};
}

Result<Scalar> ScalarReader::select(const ast::Expr& test, const ast::Expr& then_value, const ast::Expr& else_value,
                                    Place place) {
  Diagnostics& diag = source_.diag();
  auto c = condition(test);
  auto chosen = [&](const ast::Expr& value) {
    Choice choice(*this);
    return read(value);
  };
  auto a = chosen(then_value), b = chosen(else_value);
  if (!c || !a || !b) return diag.failed();
  RELAXC_TRY(auto pair, unify(*a, *b, place));
  auto [x, y] = pair;
  return Scalar{arith::select(*c, x.expr, y.expr), x.literal};
}

Result<Scalar> ScalarReader::attribute(const ast::Expr& e) {
  return source_.error(e.place, Kind::invalid_value, "expected a scalar, found {}", describe(e));
}

Result<Scalar> ScalarReader::subscript(const ast::Expr& e) {
  return source_.error(e.place, Kind::invalid_value, "a scalar cannot be subscripted here");
}

Result<DType> ScalarReader::element_dtype(const ast::Expr& e) {
  return dtype_value(source_, e);
}

Result<Scalar> ScalarReader::other_call(const ast::Expr& e, const std::string& callee) {
  return source_.error(e.items[0]->place, Kind::unbound_name, "'{}' is not a function of scalars", callee);
}

}  // namespace relaxc::frontend
