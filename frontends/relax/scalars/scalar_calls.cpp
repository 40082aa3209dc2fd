// scalar_calls.cpp: tables of scalar functions, and how each is read.
#include "frontends/relax/scalars/scalar_calls.h"

#include <cmath>
#include <limits>

#include "compiler/arith/math.h"
#include "compiler/support/dtype_limits.h"
#include "compiler/support/suggest.h"
#include "frontends/relax/text/literals.h"

namespace relaxc::frontend {

using arith::ExprKind;
using arith::Intrinsic;
using AstKind = ast::ExprKind;

namespace {

/// Functions of two operands that are expression kinds.
struct BinaryFunction {
  std::string_view name;
  ExprKind kind;
  bool integers_only = false;
};
constexpr BinaryFunction kBinaryFunctions[] = {
    {"max", ExprKind::kMax},
    {"min", ExprKind::kMin},
    {"floordiv", ExprKind::kFloorDiv, true},
    {"FloorDiv", ExprKind::kFloorDiv, true},
    {"floormod", ExprKind::kFloorMod, true},
    {"FloorMod", ExprKind::kFloorMod, true},
    {"truncdiv", ExprKind::kDiv, true},
    {"Div", ExprKind::kDiv},
    {"div", ExprKind::kDiv, true},
    {"truncmod", ExprKind::kMod},
    {"Mod", ExprKind::kMod},
    {"fmod", ExprKind::kMod},
    {"Add", ExprKind::kAdd},
    {"Sub", ExprKind::kSub},
    {"Mul", ExprKind::kMul},
    {"Max", ExprKind::kMax},
    {"Min", ExprKind::kMin},
    {"indexdiv", ExprKind::kFloorDiv, true},
    {"indexmod", ExprKind::kFloorMod, true},
};

/// Functions of two operands that equal an operator of Python.
struct OperatorFunction {
  std::string_view name, op;
};
constexpr OperatorFunction kOperatorFunctions[] = {
    {"EQ", "=="},         {"NE", "!="},         {"LT", "<"},           {"LE", "<="},
    {"GT", ">"},          {"GE", ">="},         {"bitwise_and", "&"},  {"bitwise_or", "|"},
    {"bitwise_xor", "^"}, {"shift_left", "<<"}, {"shift_right", ">>"}, {"pow", "**"},
    {"power", "**"},      {"add", "+"},         {"subtract", "-"},     {"multiply", "*"},
};

struct Alias {
  std::string_view name, intrinsic;
};
constexpr Alias kAliases[] = {
    {"fabs", "abs"}, {"nearbyint", "round"}, {"rint", "round"}, {"reinterpret", "bitcast"}, {"truncate", "trunc"}};
constexpr Alias kDTypeNames[] = {{"boolean", "bool"}, {"e4m3_float8", "float8_e4m3fn"}, {"e5m2_float8", "float8_e5m2"}};

template <typename Row, size_t N>
const Row* find_named(const Row (&rows)[N], std::string_view name) {
  for (const Row& row : rows)
    if (row.name == name) return &row;
  return nullptr;
}

bool is_binary_function(std::string_view name) {
  return find_named(kBinaryFunctions, name) != nullptr || find_named(kOperatorFunctions, name) != nullptr;
}

std::optional<Intrinsic> find_intrinsic(std::string_view name) {
  for (const Alias& alias : kAliases)
    if (alias.name == name) name = alias.intrinsic;
  constexpr Intrinsic kAll[] = {
#define X(name, arity) Intrinsic::k_##name,
      RELAXC_INTRINSICS(X)
#undef X
  };
  for (Intrinsic intrinsic : kAll)
    if (arith::intrinsic_name(intrinsic) == name) return intrinsic;
  return std::nullopt;
}

std::vector<std::string> known_functions() {
  std::vector<std::string> names = {"Cast", "Select", "if_then_else", "ceildiv", "And", "Or", "Not", "likely",
                                    // What could stand in its place: conversions, and openings of a suite.
                                    "float32", "float16", "float64", "int8", "int32", "int64", "uint8", "bool",
                                    "alloc_buffer", "sblock_alloc_buffer", "match_buffer", "decl_buffer", "allocate",
                                    "alloc_local", "allocate_const", "bind"};
  for (const BinaryFunction& function : kBinaryFunctions) names.emplace_back(function.name);
  for (const OperatorFunction& function : kOperatorFunctions) names.emplace_back(function.name);
#define X(name, arity) names.emplace_back(#name);
  RELAXC_INTRINSICS(X)
#undef X
  return names;
}

bool rounds(Intrinsic intrinsic) {
  return intrinsic == Intrinsic::k_floor || intrinsic == Intrinsic::k_ceil || intrinsic == Intrinsic::k_trunc ||
         intrinsic == Intrinsic::k_round;
}

/// Returns whether an intrinsic is defined for a dtype: bit operations for integers, abs for all, others for floats.
bool is_defined(Intrinsic intrinsic, DType dtype) {
  switch (intrinsic) {
    case Intrinsic::k_abs:
      return dtype.is_float() || dtype.is_integer() || dtype.is_index();
    case Intrinsic::k_bitwise_and:
    case Intrinsic::k_bitwise_or:
    case Intrinsic::k_bitwise_xor:
    case Intrinsic::k_bitwise_not:
      return dtype.is_integer() || dtype.is_index() || dtype.is_bool();
    case Intrinsic::k_shift_left:
    case Intrinsic::k_shift_right:
    case Intrinsic::k_popcount:
    case Intrinsic::k_clz:
      return dtype.is_integer() || dtype.is_index();
    default:
      return dtype.is_float();
  }
}

}  // namespace

bool ScalarCalls::is_function(std::string_view name) {
  return is_binary_function(name) || find_intrinsic(name).has_value();
}

std::optional<Scalar> ScalarCalls::of_one(std::string_view op, const Scalar& x) {
  const DType dtype = x.expr.dtype();
  const bool whole = dtype.is_integer() || dtype.is_index();
  if (x.literal == Scalar::kInteger || x.literal == Scalar::kReal) return std::nullopt;
  if (op == "negative" && (whole || dtype.is_float())) return Scalar{-x.expr};
  if (op == "logical_not" && dtype.is_bool()) return Scalar{arith::logical_not(x.expr)};
  std::optional<Intrinsic> which = find_intrinsic(op);
  if (!which || *which == Intrinsic::k_bitcast || arith::intrinsic_arity(*which) != 1) return std::nullopt;
  if (rounds(*which) && whole) return Scalar{x.expr};
  if (!is_defined(*which, dtype)) return std::nullopt;
  return Scalar{arith::call(*which, {x.expr})};
}

Status ScalarCalls::expect_arguments(const ast::Expr& e, size_t least, size_t most) {
  size_t given = e.items.size() - 1;
  if (given >= least && given <= most) return Done{};
  std::string name = dotted_path(*e.items[0]).value_or("this function");
  return source_.error(e.place, Kind::wrong_arity, "{} takes {}{} arguments, found {}", name, least,
                       least == most ? "" : fmt::format(" to {}", most), given);
}

Result<Scalar> ScalarCalls::read(const ast::Expr& e) {
  const ast::Expr& callee = *e.items[0];
  if (callee.is(AstKind::kAttribute) && callee.text == "astype") return astype(e);
  std::optional<std::string> path = dotted_path(callee);
  if (!path) return reader_.other_call(e, std::string(describe(callee)));
  for (std::string_view prefix : {"tvm.tir.", "tvm.tirx."})  // as tests of TVM write tvm.tir.const(1, "int32")
    if (path->rfind(prefix, 0) == 0) path = "T." + path->substr(prefix.size());
  if (*path == "max" || *path == "min" || *path == "float") path = "T." + *path;
  if (path->rfind("T.", 0) != 0 && path->rfind("tir.", 0) != 0) return reader_.other_call(e, *path);
  std::string name = path->substr(path->find('.') + 1);
  for (const Alias& alias : kDTypeNames)
    if (alias.name == name) name = alias.intrinsic;
  bool known = true;
  Result<Scalar> made = function(e, name, known);
  return known ? std::move(made) : unknown_function(e, *path, name);
}

/// Reads x.astype("float32").
Result<Scalar> ScalarCalls::astype(const ast::Expr& e) {
  RELAXC_DO(expect_arguments(e, 1, 1));
  RELAXC_TRY(DType dtype, reader_.element_dtype(*e.items[1]));
  RELAXC_TRY(Scalar operand, reader_.read(*e.items[0]->items[0]));
  return Scalar{context_.cast(dtype, operand.expr)};
}

/// Reads T.name(…); sets `known` to false if that is not a function of scalars.
Result<Scalar> ScalarCalls::function(const ast::Expr& e, const std::string& name, bool& known) {
  if (std::optional<DType> dtype = parse_dtype(name); dtype && *dtype != DType::handle()) return conversion(e, *dtype);
  if (name == "float") return conversion(e, DType::f(64));
  if (is_binary_function(name)) return binary_function(e, name);
  if (name == "Select" || name == "if_then_else") {
    RELAXC_DO(expect_arguments(e, 3, 3));
    return reader_.select(*e.items[1], *e.items[2], *e.items[3], e.place);
  }
  if (name == "And" || name == "all") return junction(e, true);
  if (name == "Or" || name == "any") return junction(e, false);
  if (name == "Not" || name == "likely" || name == "ignore_loop_partition") {
    RELAXC_DO(expect_arguments(e, 1, 1));
    RELAXC_TRY(arith::Expr operand, reader_.condition(*e.items[1]));
    return Scalar{name == "Not" ? arith::logical_not(operand) : operand};
  }
  if (name == "Let" && e.items.size() == 2) return let_value(e, *e.items[1]);
  if ((name == "let" || name == "Let") && e.items.size() == 4) return let_value(e, *e.items[3]);
  if (name == "isfinite") return is_finite(e);
  if (name == "Cast" || name == "cast" || name == "const") return cast(e);
  if (name == "q_multiply_shift") return fixed_point(e);
  if (name == "q_multiply_shift_per_axis") return fixed_point_of_axis(e);
  if (name == "undef" && e.items.size() == 1) return Scalar{context_.index(0), Scalar::kInteger};  // any value
  if (name == "ceildiv") return ceil_division(e);
  if ((name == "IntImm" || name == "FloatImm") && e.items.size() == 3) {  // T.FloatImm("float32", 0.5)
    RELAXC_TRY(DType dtype, reader_.element_dtype(*e.items[1]));
    RELAXC_TRY(arith::Expr value, reader_.value(*e.items[2], dtype));
    return Scalar{value};
  }
  if (name == "infinity" || name == "nan" || name == "max_value" || name == "min_value") return limit(e, name);
  if (name == "call_intrin" && e.items.size() >= 3 && e.items[2]->is(AstKind::kString)) {
    std::string inner = e.items[2]->text.substr(e.items[2]->text.rfind('.') + 1);  // "tir.exp"
    if (find_intrinsic(inner)) return intrinsic(e, inner, 3);
  }
  if (find_intrinsic(name)) return intrinsic(e, name, 1);
  known = false;
  return Scalar{};
}

Result<Scalar> ScalarCalls::unknown_function(const ast::Expr& e, const std::string& path, const std::string& name) {
  Result<Scalar> made = reader_.other_call(e, path);
  if (made || path.rfind("T.", 0) != 0 || name.find('.') != std::string::npos) return made;
  if (auto near = nearest_name(name, known_functions())) source_.hint("did you mean T.{}?", *near);
  return made;
}

Result<Scalar> ScalarCalls::is_finite(const ast::Expr& e) {
  RELAXC_DO(expect_arguments(e, 1, 1));
  RELAXC_TRY(Scalar operand, reader_.read(*e.items[1]));
  arith::Expr infinite = arith::call(Intrinsic::k_isinf, {operand.expr});
  return Scalar{arith::logical_not(arith::logical_or(infinite, arith::call(Intrinsic::k_isnan, {operand.expr})))};
}

Result<Scalar> ScalarCalls::ceil_division(const ast::Expr& e) {
  RELAXC_DO(expect_arguments(e, 2, 2));
  auto a = reader_.index(*e.items[1]);
  auto b = reader_.index(*e.items[2]);
  if (!a || !b) return source_.diag().failed();
  if (b->is_constant(0)) return source_.error(e.place, Kind::invalid_value, "division by zero");
  return Scalar{arith::ceildiv(*a, *b)};
}

/// Reads T.Let(body, where={x: value, y: value}), where each value is visible to the next, or T.let(x, value, body). A
/// part is checked where the body uses it, since a condition may keep it from being reached.
Result<Scalar> ScalarCalls::let_value(const ast::Expr& e, const ast::Expr& body) {
  Diagnostics& diag = source_.diag();
  std::vector<std::pair<const ast::Expr*, const ast::Expr*>> bindings;
  const ast::Keyword* where = e.keyword("where");
  if (where != nullptr && where->value->is(AstKind::kDict))
    for (size_t i = 0; i + 1 < where->value->items.size(); i += 2)
      bindings.push_back({where->value->items[i], where->value->items[i + 1]});
  else if (e.items.size() == 4)
    bindings.push_back({e.items[1], e.items[2]});
  else
    return source_.error(e.place, Kind::ill_formed, "expected T.Let(body, where={{x: value}})");
  auto name_parts = [&] {
    ScalarReader::Choice choice(reader_);
    bool ok = true;
    for (auto [target, given] : bindings) {
      Result<Scalar> value = reader_.read(*given);
      bool named = target->is(AstKind::kName);
      if (!named) (void)source_.error(target->place, Kind::syntax, "expected a name");
      if (value && named) reader_.name_part(target->text, *value, target->place);
      ok = ok && value && named;
    }
    return ok;
  };
  Result<Scalar> out =
      reader_.with_parts([&] { return name_parts() ? reader_.read(body) : Result<Scalar>(diag.failed()); });
  if (out && reader_.is_reached_for_certain()) RELAXC_DO(reader_.check_reached(out->expr, e.place));
  return out;
}

/// Reads T.max(a, b), T.floordiv(a, b), T.EQ(a, b) and the like.
Result<Scalar> ScalarCalls::binary_function(const ast::Expr& e, std::string_view name) {
  Diagnostics& diag = source_.diag();
  const auto* kind = find_named(kBinaryFunctions, name);
  const auto* op = find_named(kOperatorFunctions, name);
  RELAXC_DO(expect_arguments(e, 2, 2));
  auto a = reader_.read(*e.items[1]);
  auto b = reader_.read(*e.items[2]);
  if (!a || !b) return diag.failed();
  if (op != nullptr) return reader_.binary(op->op, *a, *b, e.place);
  RELAXC_TRY(auto pair, reader_.unify(*a, *b, e.place));
  auto [x, y] = pair;
  DType dtype = x.expr.dtype();
  bool arithmetic = dtype.is_float() || dtype.is_integer() || dtype.is_index();
  if ((kind->integers_only && dtype.is_float()) || !arithmetic)
    return source_.error(e.place, Kind::dtype_mismatch, "T.{} is not defined for {}", name, to_string(dtype));
  bool divides = kind->kind == ExprKind::kFloorDiv || kind->kind == ExprKind::kFloorMod ||
                 kind->kind == ExprKind::kDiv || kind->kind == ExprKind::kMod;
  if (divides && y.expr.is_constant(0)) return source_.error(e.place, Kind::invalid_value, "division by zero");
  return Scalar{context_.binary(kind->kind, x.expr, y.expr)};
}

/// Reads T.And(a, b), T.all(a, b, c) and the like.
Result<Scalar> ScalarCalls::junction(const ast::Expr& e, bool all) {
  Diagnostics& diag = source_.diag();
  RELAXC_DO(expect_arguments(e, 1, 64));
  arith::Expr out;
  std::optional<ScalarReader::Choice> others;  // the first operand decides whether the others are evaluated
  bool ok = true;
  for (size_t i = 1; i < e.items.size(); ++i) {
    if (e.items[i]->is_sequence()) return source_.error(e.items[i]->place, Kind::invalid_value, "expected a condition");
    Result<arith::Expr> part = reader_.condition(*e.items[i]);
    if (!others) others.emplace(reader_);
    ok = ok && part;
    if (ok) out = i == 1 ? *part : all ? arith::logical_and(out, *part) : arith::logical_or(out, *part);
  }
  if (!ok) return diag.failed();
  return Scalar{out};
}

/// Reads T.Cast("float32", x), T.cast(x, "float32") or T.cast(x, dtype="float32").
Result<Scalar> ScalarCalls::cast(const ast::Expr& e) {
  if (const ast::Keyword* named = e.keyword("dtype"); named != nullptr && e.items.size() == 2) {
    RELAXC_TRY(DType dtype, reader_.element_dtype(*named->value));
    RELAXC_TRY(Scalar operand, reader_.read(*e.items[1]));
    return Scalar{context_.cast(dtype, operand.expr)};
  }
  RELAXC_DO(expect_arguments(e, 2, 2));
  const ast::Expr& first = *e.items[1];
  bool dtype_first = first.is(AstKind::kString) || (first.is(AstKind::kAttribute) && first.text == "dtype");
  RELAXC_TRY(DType dtype, reader_.element_dtype(*e.items[dtype_first ? 1 : 2]));
  RELAXC_TRY(Scalar operand, reader_.read(*e.items[dtype_first ? 2 : 1]));
  if (operand.literal == Scalar::kInteger && operand.expr.constant() != nullptr)
    operand.expr = context_.imm(DType::i(64), *operand.expr.constant());
  // Only printers cast an int64 to int64, and only where it is an index to them.
  if (dtype == DType::i(64) && operand.expr.dtype() == dtype) reader_.use_as_index(operand.expr);
  return Scalar{context_.cast(dtype, operand.expr)};
}

/// T.q_multiply_shift(x, y, q, s): x times y, a number of q fractional bits, times 2^s, rounded to the nearest, ties
/// up. TVM computes in 64 bits: a left shift before, a right shift with the product.
Result<Scalar> ScalarCalls::fixed_point(const ast::Expr& e) {
  RELAXC_DO(expect_arguments(e, 4, 4));
  DType i32 = DType::i(32), i64 = DType::i(64);
  RELAXC_TRY(arith::Expr x, reader_.value(*e.items[1], i32));
  RELAXC_TRY(arith::Expr y, reader_.value(*e.items[2], i32));
  RELAXC_TRY(arith::Expr q, reader_.value(*e.items[3], i32));
  RELAXC_TRY(arith::Expr s, reader_.value(*e.items[4], i32));
  if (q.constant() == nullptr || s.constant() == nullptr || *q.constant() < 0 || *q.constant() > 31 ||
      *s.constant() < -31 || *s.constant() > 31)
    return source_.error(e.place, Kind::invalid_value,
                         "T.q_multiply_shift takes constants: 0 to 31 fractional bits and a shift of -31 to 31");
  int64_t left = std::max<int64_t>(*s.constant(), 0), right = *q.constant() + std::max<int64_t>(-*s.constant(), 0);
  arith::Expr wide = context_.cast(i64, x) * context_.imm(i64, int64_t{1} << left) * context_.cast(i64, y);
  if (right == 0) return Scalar{context_.cast(i32, wide)};
  arith::Expr rounded = wide + context_.imm(i64, int64_t{1} << (right - 1));
  return Scalar{context_.cast(i32, arith::call(Intrinsic::k_shift_right, {rounded, context_.imm(i64, right)}))};
}

/// T.q_multiply_shift_per_axis(x, y, left, right, q, shifts left, shifts right): as above, with shifts that may be read
/// from memory. The last argument says whether `right` may be other than 0, which nothing depends on.
Result<Scalar> ScalarCalls::fixed_point_of_axis(const ast::Expr& e) {
  RELAXC_DO(expect_arguments(e, 7, 7));
  DType i32 = DType::i(32), i64 = DType::i(64);
  std::vector<arith::Expr> parts;
  for (size_t i = 1; i <= 5; ++i) {
    RELAXC_TRY(arith::Expr part, reader_.value(*e.items[i], i32));
    parts.push_back(context_.cast(i64, part));
  }
  RELAXC_TRY(arith::Expr shifts, reader_.condition(*e.items[6]));
  auto shift = [](Intrinsic which, arith::Expr x, arith::Expr by) { return arith::call(which, {x, by}); };
  arith::Expr x = arith::select(shifts, shift(Intrinsic::k_shift_left, parts[0], parts[2]), parts[0]) * parts[1];
  arith::Expr right = parts[3] + parts[4], one = context_.imm(i64, 1);
  arith::Expr rounded = x + shift(Intrinsic::k_shift_left, one, right - one);
  return Scalar{context_.cast(i32, shift(Intrinsic::k_shift_right, rounded, right))};
}

Result<Scalar> ScalarCalls::conversion(const ast::Expr& e, DType dtype) {
  RELAXC_DO(expect_arguments(e, 1, 1));
  const ast::Expr& argument = *e.items[1];
  if (argument.is(AstKind::kString) && dtype.is_float()) {
    const std::string& text = argument.text;
    bool negative = text.rfind('-', 0) == 0;
    std::string rest = negative ? text.substr(1) : text;
    double number = rest == "inf"   ? std::numeric_limits<double>::infinity()
                    : rest == "nan" ? std::numeric_limits<double>::quiet_NaN()
                                    : 0;
    if (number == 0) return source_.error(argument.place, Kind::invalid_value, "expected \"inf\" or \"nan\"");
    return Scalar{context_.imm_float(dtype, negative ? -number : number)};
  }
  RELAXC_TRY(Scalar operand, reader_.read(argument));
  bool dim_literal = operand.expr.constant() != nullptr && (dtype == DType::i(64) || dtype == DType::i(32));
  if (operand.literal == Scalar::kTyped) return Scalar{context_.cast(dtype, operand.expr)};
  if (dtype.is_bool() && operand.expr.constant()) return Scalar{context_.boolean(*operand.expr.constant() != 0)};
  if (dtype == DType::index()) return Scalar{operand.expr};
  RELAXC_TRY(arith::Expr value, reader_.adapt(operand, dtype, argument.place));
  return Scalar{value, dim_literal ? Scalar::kDimLiteral : Scalar::kTyped};
}

Result<Scalar> ScalarCalls::limit(const ast::Expr& e, std::string_view name) {
  RELAXC_DO(expect_arguments(e, 1, 1));
  RELAXC_TRY(DType dtype, dtype_value(source_, *e.items[1]));
  if (dtype.is_float()) {
    double value = name == "infinity"    ? std::numeric_limits<double>::infinity()
                   : name == "nan"       ? std::numeric_limits<double>::quiet_NaN()
                   : name == "max_value" ? largest_finite(dtype)
                                         : -largest_finite(dtype);
    return Scalar{context_.imm_float(dtype, value)};
  }
  if (!dtype.is_integer() || name == "infinity" || name == "nan")
    return source_.error(e.place, Kind::dtype_mismatch, "T.{} is not defined for {}", name, to_string(dtype));
  uint64_t all = dtype.bits == 64 ? ~uint64_t{0} : (uint64_t{1} << dtype.bits) - 1;
  uint64_t largest = dtype.is_int() ? all >> 1 : all;
  uint64_t smallest = dtype.is_int() ? largest + 1 : 0;
  return Scalar{context_.imm(dtype, static_cast<int64_t>(name == "max_value" ? largest : smallest))};
}

/// Reads T.reinterpret(dtype, x), T.reinterpret(x, dtype) or T.reinterpret(x, dtype=dtype).
Result<Scalar> ScalarCalls::reinterpret(const ast::Expr& e, std::string_view name) {
  const ast::Keyword* named = e.keyword("dtype");
  const size_t count = named != nullptr ? 1 : 2;
  RELAXC_DO(expect_arguments(e, count, count));
  bool dtype_first = named == nullptr && (e.items[1]->is(AstKind::kString) || !e.items[2]->is(AstKind::kString));
  RELAXC_TRY(DType dtype, reader_.element_dtype(named != nullptr ? *named->value : *e.items[dtype_first ? 1 : 2]));
  RELAXC_TRY(Scalar operand, reader_.read(*e.items[dtype_first ? 2 : 1]));
  bool bare = operand.literal == Scalar::kInteger || operand.literal == Scalar::kReal;
  if (bare || operand.expr.dtype().bits != dtype.bits)
    return source_.error(e.place, Kind::dtype_mismatch, "T.{} takes a value of {} bits", name,
                         static_cast<int>(dtype.bits));
  // Only a bitcast can spell a constant above INT64_MAX.
  if (operand.expr.constant() != nullptr && dtype.is_uint())
    return Scalar{context_.imm(dtype, *operand.expr.constant())};
  return Scalar{context_.call(dtype, Intrinsic::k_bitcast, {operand.expr})};
}

/// Reports a wrong dtype: functions of reals take floats, functions of bits integers, all others any number.
Status ScalarCalls::check_operand(const arith::Expr& operand, Intrinsic which, std::string_view name, Place place) {
  DType dtype = operand.dtype();
  bool real = arith::is_expandable(which) || which == Intrinsic::k_sqrt || which == Intrinsic::k_fma ||
              which == Intrinsic::k_copysign;
  bool bitwise = which == Intrinsic::k_bitwise_not || which == Intrinsic::k_popcount || which == Intrinsic::k_clz;
  if (real && !dtype.is_float()) {
    Failure failure =
        source_.error(place, Kind::dtype_mismatch, "T.{} takes a float, found {}", name, to_string(dtype));
    source_.hint("convert it: T.Cast(\"float32\", …)");
    return failure;
  }
  if (which == Intrinsic::k_nextafter && dtype.bits < 32)
    return source_.error(place, Kind::unsupported, "T.nextafter is there for float32 and float64, found {}",
                         to_string(dtype));
  bool bits = dtype.is_integer() || (dtype.is_bool() && which == Intrinsic::k_bitwise_not);
  if ((which == Intrinsic::k_popcount || which == Intrinsic::k_clz) && dtype.is_index()) return Done{};
  if ((bitwise && !bits) || dtype == DType::handle())
    return source_.error(place, Kind::dtype_mismatch, "T.{} is not defined for {}", name, to_string(dtype));
  return Done{};
}

Result<Scalar> ScalarCalls::intrinsic(const ast::Expr& e, std::string_view name, size_t from) {
  Intrinsic which = *find_intrinsic(name);
  if (which == Intrinsic::k_bitcast) return reinterpret(e, name);
  size_t arity = arith::intrinsic_arity(which);
  RELAXC_DO(expect_arguments(e, from - 1 + arity, from - 1 + arity));
  std::vector<Scalar> operands;
  for (size_t i = from; i < from + arity; ++i) {
    RELAXC_TRY(Scalar operand, reader_.read(*e.items[i]));
    operands.push_back(operand);
  }
  bool one_dtype = which != Intrinsic::k_ldexp;
  for (size_t round = 0; one_dtype && round < 2; ++round)  // the second brings all to what the last one made the first
    for (size_t i = 1; i < arity; ++i) {
      RELAXC_TRY(auto pair, reader_.unify(operands[0], operands[i], e.place));
      std::tie(operands[0], operands[i]) = pair;
    }
  std::vector<arith::Expr> args;
  for (Scalar& operand : operands) {
    if (!one_dtype && !args.empty()) {
      if (operand.literal == Scalar::kInteger) {
        RELAXC_TRY(operand.expr, reader_.adapt(operand, DType::i(32), e.place));
      }
      if (!operand.expr.dtype().is_integer() && !operand.expr.dtype().is_index())
        return source_.error(e.place, Kind::dtype_mismatch, "the exponent of T.ldexp is an integer");
      args.push_back(operand.expr);
      continue;
    }
    if (operand.expr.dtype().is_index() && operand.literal == Scalar::kInteger)
      return source_.error(e.place, Kind::dtype_mismatch, "T.{} of a number without a dtype; write T.float32(…)", name);
    RELAXC_DO(check_operand(operand.expr, which, name, e.place));
    args.push_back(operand.expr);
  }
  DType dtype = args[0].dtype();
  if (rounds(which) && (dtype.is_integer() || dtype.is_index())) return operands[0];  // it is an integer already
  if (!is_defined(which, dtype))
    return source_.error(e.place, Kind::dtype_mismatch, "T.{} is not defined for {}", name, to_string(dtype));
  if (which == Intrinsic::k_popcount && dtype.is_index())  // of 64 bits, whatever width the backends choose
    return Scalar{arith::cast(dtype, arith::call(which, {arith::cast(DType::i(64), args[0])}))};
  if (which == Intrinsic::k_clz && dtype.is_index())  // of the width that the text says
    return Scalar{
        arith::cast(dtype, arith::call(which, {arith::cast(DType::i(reader_.is_long(args[0]) ? 64 : 32), args[0])}))};
  return Scalar{arith::call(which, std::move(args))};
}

}  // namespace relaxc::frontend
