// print_test.cpp: the text of expressions.
#include <catch2/catch.hpp>
#include <cmath>

#include "compiler/arith/simplify.h"

using namespace relaxc;
using namespace relaxc::arith;

TEST_CASE("parentheses are where the order needs them, and nowhere else") {
  Context context;
  Var a = context.var("a"), b = context.var("b"), c = context.var("c");
  CHECK(to_string(a + b + c) == "a + b + c");
  CHECK(to_string(a + (b + c)) == "a + (b + c)");
  CHECK(to_string(a - (b - c)) == "a - (b - c)");
  CHECK(to_string((a + b) * c) == "(a + b) * c");
  CHECK(to_string(a * b + c) == "a * b + c");
  CHECK(to_string(floordiv(a * 4 + b, 8) * floormod(c, 3)) == "(a * 4 + b) // 8 * (c % 3)");
  CHECK(to_string(a * -1) == "a * -1");
  CHECK(to_string(logical_and(lt(a, b), logical_not(eq(b, c)))) == "a < b and not b == c");
  CHECK(to_string(logical_not(logical_or(lt(a, b), le(b, c)))) == "not (a < b or b <= c)");
  CHECK(to_string(select(lt(a, b), min(a, c), max(a, b))) == "T.Select(a < b, T.min(a, c), T.max(a, b))");
  CHECK(to_string(context.binary(ExprKind::kMod, a, b)) == "T.truncmod(a, b)");
}

TEST_CASE("constants say their dtype and read back exactly") {
  Context context;
  auto f32 = [&](double value) { return to_string(context.imm_float(DType::f(32), value)); };
  CHECK(f32(0.5) == "T.float32(0.5)");
  CHECK(f32(0.1) == "T.float32(0.1)");
  CHECK(f32(-0.0) == "T.float32(-0.0)");
  CHECK(f32(1e-5) == "T.float32(1e-05)");
  CHECK(f32(HUGE_VAL) == "T.float32(\"inf\")");
  CHECK(f32(std::nan("")) == "T.float32(\"nan\")");
  CHECK(to_string(context.imm_float(DType::f(64), 0.1)) == "T.float64(0.1)");
  CHECK(to_string(context.imm_float(DType::bf16(), 0.1)) == "T.bfloat16(0.100097656)");
  CHECK(to_string(context.index(-3)) == "-3");
  CHECK(to_string(context.imm(DType::i(8), -3)) == "T.int8(-3)");
  CHECK(to_string(context.boolean(true)) == "T.bool(True)");
  CHECK(to_string(cast(DType::f(32), context.var("n"))) == "T.Cast(\"float32\", n)");
}

TEST_CASE("a chain of a hundred thousand additions prints") {
  Context context;
  Expr sum = context.var("x");
  Var y = context.var("y");
  for (int i = 0; i < 100000; ++i) sum = sum + y;
  CHECK(to_string(sum).size() == 400001);
}
