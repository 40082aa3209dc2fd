// math_test.cpp: the functions of compiler/arith/math.h against the C library's long double, over exponents and special
// values.
//
// The expressions are evaluated here by a few lines of their own, so that a fault of the interpreter cannot hide one of
// the functions.
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <string>

#include "compiler/arith/angle.h"
#include "compiler/arith/math.h"
#include "compiler/arith/visit.h"
#include "tests/sanitized.h"

using namespace relaxc;
using namespace relaxc::arith;

namespace {

/// A value as bits: floats as their own, integers sign-extended, bools 0 or 1.
struct Cell {
  double real = 0;
  int64_t integer = 0;
};

class FlatEvaluator {
 public:
  explicit FlatEvaluator(Expr root) : root_(root) {
    for_each_node(root, [&](Expr e) {
      slot_[e] = order_.size();
      order_.push_back(e);
    });
    cells_.resize(order_.size());
  }

  double operator()(const std::vector<std::pair<Var, double>>& inputs) {
    for (const auto& [var, value] : inputs)
      if (slot_.count(var) != 0) cells_[slot_[var]].real = value;
    for (size_t i = 0; i < order_.size(); ++i)
      if (order_[i].as<VarNode>() == nullptr) cells_[i] = eval(order_[i]);
    return cells_[slot_[root_]].real;
  }

 private:
  const Cell& at(Expr e) { return cells_[slot_[e]]; }
  static double fit(DType dtype, double value) {
    return dtype.bits == 32 ? static_cast<double>(static_cast<float>(value)) : value;
  }

  Cell eval(Expr e) {
    return visit(
        e,
        [&](const IntImm& n) {
          return Cell{0, n.value};
        },
        [&](const FloatImm& n) {
          return Cell{n.value, 0};
        },
        [&](const VarNode&) { return Cell{}; }, [&](const Binary& n) { return binary(n); },
        [&](const Not& n) {
          return Cell{0, !at(n.a).integer};
        },
        [&](const Select& n) { return at(n.condition).integer ? at(n.then_value) : at(n.else_value); },
        [&](const Cast& n) { return cast_cell(n); }, [&](const Load&) { return Cell{}; },
        [&](const Call& n) { return call_cell(n); }, [&](const Extern& n) { return angle_cell(n); });
  }

  /// x + sign * y, modulo 2^64.
  static int64_t wrapped(int64_t x, int64_t y, int64_t sign) {
    return static_cast<int64_t>(static_cast<uint64_t>(x) + static_cast<uint64_t>(sign) * static_cast<uint64_t>(y));
  }

  Cell binary(const Binary& n) {
    double a = at(n.a).real, b = at(n.b).real;
    int64_t x = at(n.a).integer, y = at(n.b).integer;
    bool real = n.a.dtype().is_float(), single = n.a.dtype().bits == 32;
    switch (n.kind) {
      case ExprKind::kAdd:
        return real ? Cell{fit(n.dtype, a + b), 0} : Cell{0, wrap_to_dtype(wrapped(x, y, 1), n.dtype)};
      case ExprKind::kSub:
        return real ? Cell{fit(n.dtype, a - b), 0} : Cell{0, wrap_to_dtype(wrapped(x, y, -1), n.dtype)};
      case ExprKind::kMul:
        return {single ? static_cast<double>(static_cast<float>(a) * static_cast<float>(b)) : a * b, 0};
      case ExprKind::kDiv:
        return {single ? static_cast<double>(static_cast<float>(a) / static_cast<float>(b)) : a / b, 0};
      case ExprKind::kMin:
        return {std::isnan(a) || a < b ? a : b, 0};
      case ExprKind::kMax:
        return {std::isnan(a) || a > b ? a : b, 0};
      case ExprKind::kEq:
        return {0, real ? a == b : x == y};
      case ExprKind::kNe:
        return {0, real ? a != b : x != y};
      case ExprKind::kLt:
        return {0, real ? a < b : x < y};
      case ExprKind::kLe:
        return {0, real ? a <= b : x <= y};
      case ExprKind::kAnd:
        return {0, x && y};
      case ExprKind::kOr:
        return {0, x || y};
      default:
        throw std::runtime_error("an operation that the functions do not use");
    }
  }

  Cell cast_cell(const Cast& n) {
    double a = at(n.value).real;
    if (n.value.dtype().is_float() && n.dtype.is_float()) return {fit(n.dtype, a), 0};
    if (n.dtype.is_float()) return {fit(n.dtype, static_cast<double>(at(n.value).integer)), 0};
    double limit = std::ldexp(1.0, n.dtype.bits - 1);
    return {0, std::isnan(a) ? 0
               : a >= limit  ? static_cast<int64_t>(limit) - 1
               : a < -limit  ? -static_cast<int64_t>(limit)
                             : static_cast<int64_t>(a)};
  }

  Cell call_cell(const Call& n) {
    double a = at(n.args[0]).real;
    int64_t x = at(n.args[0]).integer, y = n.args.size() > 1 ? at(n.args[1]).integer : 0;
    bool single = n.dtype.bits == 32;
    switch (n.intrinsic) {
      case Intrinsic::k_fma: {
        double b = at(n.args[1]).real, c = at(n.args[2]).real;
        if (single)
          return {static_cast<double>(std::fmaf(static_cast<float>(a), static_cast<float>(b), static_cast<float>(c))),
                  0};
        return {std::fma(a, b, c), 0};
      }
      case Intrinsic::k_sqrt:
        return {single ? static_cast<double>(std::sqrt(static_cast<float>(a))) : std::sqrt(a), 0};
      case Intrinsic::k_abs:
        return {std::fabs(a), 0};
      case Intrinsic::k_round:
        return {std::nearbyint(a), 0};
      case Intrinsic::k_floor:
        return {std::floor(a), 0};
      case Intrinsic::k_copysign:
        return {std::copysign(a, at(n.args[1]).real), 0};
      case Intrinsic::k_isnan:
        return {0, std::isnan(a)};
      case Intrinsic::k_shift_left:
        return {0, wrap_to_dtype(static_cast<int64_t>(static_cast<uint64_t>(x) << y), n.dtype)};
      case Intrinsic::k_shift_right:
        return {0, x >> y};
      case Intrinsic::k_bitcast:
        if (n.dtype.is_float())
          return {
              single ? static_cast<double>(std::bit_cast<float>(static_cast<int32_t>(x))) : std::bit_cast<double>(x),
              0};
        return {0, single ? std::bit_cast<int32_t>(static_cast<float>(a)) : std::bit_cast<int64_t>(a)};
      default:
        throw std::runtime_error("a function that the functions do not use");
    }
  }

  Cell angle_cell(const Extern& n) {
    auto function = n.name == kAngleRest ? angle_rest : angle_quadrant;
    return {function(at(n.args[0]).real, at(n.args[1]).real, at(n.args[2]).real), 0};
  }

  Expr root_;
  std::vector<Expr> order_;
  std::unordered_map<Expr, size_t> slot_;
  std::vector<Cell> cells_;
};

using Reference = long double (*)(long double);

long double sigmoid(long double x) {
  return 1 / (1 + std::exp(-x));
}
long double rsqrt(long double x) {
  return 1 / std::sqrt(x);
}
long double exp10_(long double x) {
  return std::pow(10.0L, x);
}
long double exp2_(long double x) {
  return std::exp2(x);
}

struct Function {
  Intrinsic intrinsic;
  Reference reference;
  double low, high;  ///< the interesting range; specials and all exponents are tried in any case
};

#define REF(name) [](long double x) -> long double { return std::name(x); }
const Function kFunctions[] = {
    {Intrinsic::k_exp, REF(exp), -110, 100},    {Intrinsic::k_exp2, exp2_, -160, 140},
    {Intrinsic::k_expm1, REF(expm1), -40, 100}, {Intrinsic::k_log, REF(log), 0, 10},
    {Intrinsic::k_log2, REF(log2), 0, 10},      {Intrinsic::k_log10, REF(log10), 0, 10},
    {Intrinsic::k_log1p, REF(log1p), -1, 10},   {Intrinsic::k_tanh, REF(tanh), -10, 10},
    {Intrinsic::k_sigmoid, sigmoid, -100, 100}, {Intrinsic::k_erf, REF(erf), -5, 5},
    {Intrinsic::k_sinh, REF(sinh), -90, 90},    {Intrinsic::k_cosh, REF(cosh), -90, 90},
    {Intrinsic::k_asinh, REF(asinh), -50, 50},  {Intrinsic::k_acosh, REF(acosh), 1, 50},
    {Intrinsic::k_atanh, REF(atanh), -1, 1},    {Intrinsic::k_sin, REF(sin), -100, 100},
    {Intrinsic::k_cos, REF(cos), -100, 100},    {Intrinsic::k_tan, REF(tan), -100, 100},
    {Intrinsic::k_asin, REF(asin), -1, 1},      {Intrinsic::k_acos, REF(acos), -1, 1},
    {Intrinsic::k_atan, REF(atan), -50, 50},    {Intrinsic::k_rsqrt, rsqrt, 0, 50},
};

/// Distance from the exact value in units of the last place of the rounded exact value.
double ulps(double found, long double exact, bool single) {
  double rounded = single ? static_cast<double>(static_cast<float>(exact)) : static_cast<double>(exact);
  if (std::isnan(found) || std::isnan(rounded)) return std::isnan(found) == std::isnan(rounded) ? 0 : HUGE_VAL;
  if (found == rounded) return 0;
  if (std::isinf(found) || std::isinf(rounded)) {
    // One step over the largest finite number counts as one unit.
    double largest = single ? 3.4028234663852886e38 : 1.7976931348623157e308;
    return std::fabs(std::isinf(found) ? rounded : found) == largest ? 1 : HUGE_VAL;
  }
  int exponent = rounded == 0 ? -5000 : std::ilogb(rounded);
  exponent = std::max(exponent, single ? -126 : -1022);
  return static_cast<double>(std::fabs(static_cast<long double>(found) - exact) /
                             std::ldexp(1.0L, exponent - (single ? 23 : 52)));
}

std::vector<double> samples(const Function& f, bool single) {
  std::vector<double> out{0.0, -0.0, 1, -1, HUGE_VAL, -HUGE_VAL, std::nan(""), 0.5, -0.5, 2};
  int lowest = single ? -149 : -1074, highest = single ? 127 : 1023;
  for (int e = lowest; e <= highest; e += testing::stride(4))
    for (double m : {1.0, 1.25, 1.4142135, 1.71, 1.9999999})
      for (double sign : {1.0, -1.0}) {
        out.push_back(sign * std::ldexp(m, e));
      }
  uint64_t state = 0x9E3779B97F4A7C15ull;
  for (int i = 0; i < testing::sample(20000); ++i) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    out.push_back(f.low + (f.high - f.low) * static_cast<double>(state >> 11) / 9007199254740992.0);
  }
  if (single)
    for (double& x : out) x = static_cast<double>(static_cast<float>(x));
  return out;
}

void check(const Function& f, DType dtype, double bound) {
  bool single = dtype.bits == 32;
  Context context;
  Var x = context.var("x", dtype);
  FlatEvaluator evaluate(expand_math(call(f.intrinsic, {x})));
  double worst = 0, where = 0;
  for (double sample : samples(f, single)) {
    double error = ulps(evaluate({{x, sample}}), f.reference(static_cast<long double>(sample)), single);
    if (error > worst) worst = error, where = sample;
  }
  INFO(intrinsic_name(f.intrinsic) << " of " << to_string(dtype) << " is off by " << worst << " ULP at " << where);
  CHECK(worst <= bound);
}

}  // namespace

TEST_CASE("functions of float32 are within 2 ULP") {
  for (const Function& f : kFunctions) check(f, DType::f(32), 2);
}

TEST_CASE("an exponential of what is not above 0 is exp up to 40, to the bit") {
  for (DType dtype : {DType::f(32), DType::f(64)}) {
    const bool single = dtype.bits == 32;
    Context context;
    Var x = context.var("x", dtype);
    FlatEvaluator small(expand_math(call(Intrinsic::k_exp_nonpositive, {x})));
    FlatEvaluator any(expand_math(call(Intrinsic::k_exp, {x})));
    const Function range{Intrinsic::k_exp_nonpositive, REF(exp), single ? -110.0 : -750.0, 40};
    for (double sample : samples(range, single)) {
      if (sample > 40) continue;
      const double found = small({{x, sample}}), expected = any({{x, sample}});
      INFO("of " << to_string(dtype) << " at " << sample << ": " << found << " and " << expected);
      CHECK(ulps(found, range.reference(static_cast<long double>(sample)), single) <= (single ? 2 : 4));
      CHECK((std::isnan(found) ? std::isnan(expected) : found == expected));
    }
  }
}

TEST_CASE("functions of float32 that networks call most take few steps") {
  for (auto [intrinsic, most] : {std::pair(Intrinsic::k_sigmoid, 20), std::pair(Intrinsic::k_tanh, 23),
                                 std::pair(Intrinsic::k_erf, 36), std::pair(Intrinsic::k_expm1, 30),
                                 std::pair(Intrinsic::k_exp, 20), std::pair(Intrinsic::k_exp_nonpositive, 15)}) {
    Context context;
    int steps = 0;
    for_each_node(expand_math(call(intrinsic, {context.var("x", DType::f(32))})), [&](Expr e) {
      const auto* same = e.as<Call>();
      steps += !operands(e).empty() && (same == nullptr || same->intrinsic != Intrinsic::k_bitcast);
    });
    INFO(intrinsic_name(intrinsic) << " takes " << steps << " steps");
    CHECK(steps <= most);
  }
}

TEST_CASE("functions of float64 are within 4 ULP") {
  for (const Function& f : kFunctions) check(f, DType::f(64), 4);
}

TEST_CASE("exact products give the same bits with one rounding or two") {
  for (const Function& f : kFunctions)
    for (DType dtype : {DType::f(32), DType::f(64)}) {
      Context context;
      Var x = context.var("x", dtype);
      Expr function = call(f.intrinsic, {x});
      FlatEvaluator fused(expand_math(function)), apart(expand_math(function, false));
      auto same = [&](double at) {
        double one = fused({{x, at}}), other = apart({{x, at}});
        return std::isnan(one) ? std::isnan(other) : one == other && std::signbit(one) == std::signbit(other);
      };
      for (double sample : samples(f, dtype.bits == 32))
        if (!same(sample)) FAIL(intrinsic_name(f.intrinsic) << " of " << to_string(dtype) << " at " << sample);
    }
}

TEST_CASE("exp10 is as exact as pow") {
  check({Intrinsic::k_exp10, exp10_, -50, 40}, DType::f(32), 2);
  check({Intrinsic::k_exp10, exp10_, -330, 310}, DType::f(64), 6);
}

TEST_CASE("hypot, ldexp and nextafter agree with the C library over all exponents") {
  for (uint8_t bits : {32, 64}) {
    DType dtype = DType::f(bits);
    bool single = bits == 32;
    Context context;
    Var x = context.var("x", dtype), y = context.var("y", dtype);
    FlatEvaluator hypot(expand_math(call(Intrinsic::k_hypot, {x, y})));
    FlatEvaluator ldexp(expand_math(call(Intrinsic::k_ldexp, {x, y})));
    FlatEvaluator next(expand_math(call(Intrinsic::k_nextafter, {x, y})));
    std::vector<double> values{0.0, -0.0, HUGE_VAL, -HUGE_VAL, std::nan("")};
    int lowest = single ? -149 : -1074, highest = single ? 127 : 1023;
    for (int e = lowest; e <= highest; e += 7)
      for (double m : {1.0, -1.4142135, 1.9999999}) values.push_back(std::ldexp(m, e));
    for (double& value : values)
      if (single) value = static_cast<double>(static_cast<float>(value));
    double worst = 0;
    for (double a : values) {
      for (double b : values) {
        worst = std::max(worst, ulps(hypot({{x, a}, {y, b}}), std::hypot(static_cast<long double>(a), b), single));
        double after = single ? static_cast<double>(std::nextafter(static_cast<float>(a), static_cast<float>(b)))
                              : std::nextafter(a, b);
        double found = next({{x, a}, {y, b}});
        CHECK((std::isnan(after) ? std::isnan(found) : found == after));
      }
      for (int n : {-3000, -2098, -1080, -1023, -200, -150, -3, 0, 1, 64, 128, 500, 1023, 1030, 2000, 2098, 5000}) {
        double scaled = single ? static_cast<double>(std::ldexp(static_cast<float>(a), n)) : std::ldexp(a, n);
        double found = ldexp({{x, a}, {y, n}});
        INFO(a << " * 2^" << n);
        CHECK((std::isnan(scaled) ? std::isnan(found) : found == scaled));
      }
    }
    CHECK(worst <= 1);
  }
}

TEST_CASE("pow is within its bounds, special cases included") {
  Context context;
  for (uint8_t bits : {32, 64}) {
    DType dtype = DType::f(bits);
    Var x = context.var("x", dtype), y = context.var("y", dtype);
    FlatEvaluator evaluate(expand_math(call(Intrinsic::k_pow, {x, y})));
    double worst = 0, at_x = 0, at_y = 0;
    auto try_one = [&](double a, double b) {
      if (bits == 32) a = static_cast<double>(static_cast<float>(a)), b = static_cast<double>(static_cast<float>(b));
      double error = ulps(evaluate({{x, a}, {y, b}}),
                          std::pow(static_cast<long double>(a), static_cast<long double>(b)), bits == 32);
      if (error > worst) worst = error, at_x = a, at_y = b;
    };
    const double kSpecial[] = {0.0, -0.0,     1,         -1,           2,    -2,    0.5,   -0.5, 3,
                               -3,  HUGE_VAL, -HUGE_VAL, std::nan(""), 1e30, -1e30, 1e-30, 7.5,  0.9999999};
    for (double a : kSpecial)
      for (double b : kSpecial) try_one(a, b);
    uint64_t state = 42;
    auto next = [&] {
      state = state * 6364136223846793005ull + 1442695040888963407ull;
      return static_cast<double>(state >> 11) / 9007199254740992.0;
    };
    for (int i = 0; i < 20000; ++i) try_one(std::exp((next() - 0.5) * 20), (next() - 0.5) * 60);
    INFO("pow of " << to_string(dtype) << " is off by " << worst << " ULP at " << at_x << ", " << at_y);
    CHECK(worst <= (bits == 32 ? 2 : 6));
  }
}
