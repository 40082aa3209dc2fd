// module_difference_test.cpp: the comparison of meanings finds what differs; one that finds nothing would be no test.
#include <catch2/catch.hpp>

#include "compiler/ops/op_table.h"
#include "compiler/pipeline/pipelines.h"
#include "compiler/pipeline/runner.h"
#include "compiler/tir/visit.h"
#include "frontends/relax/parser.h"
#include "tests/golden/module_difference.h"

namespace relaxc::test {

namespace {

const std::string kSignature =
    "@R.function\ndef main(x: R.Tensor((\"n\", 3), \"float32\"), y: R.Tensor((\"n\", 3), \"float32\")):\n";

relax::Module parse(const relax::OpTable& ops, const std::string& body) {
  Diagnostics diag;
  auto module = frontend::parse_module("meaning.relax", kSignature + body, ops, diag);
  INFO(render(diag));
  REQUIRE(module);
  return std::move(*module);
}

std::string differs(const std::string& a, const std::string& b) {
  relax::OpTable ops = ops::op_table();
  relax::Module first = parse(ops, a), second = parse(ops, b);
  return difference_of_modules(first, second, ops);
}

TEST_CASE("modules that differ in one constant, one operator or one operand mean different things") {
  const std::string program = "    a = R.multiply(x, R.const(0.5, \"float32\"))\n    b = R.add(a, y)\n    return b\n";
  CHECK(differs(program, program).empty());
  CHECK_THAT(differs(program, "    a = R.multiply(x, R.const(0.5000001, \"float32\"))\n    return R.add(a, y)\n"),
             Catch::Contains("element"));
  CHECK_THAT(differs(program, "    a = R.multiply(x, R.const(0.5, \"float32\"))\n    return R.subtract(a, y)\n"),
             Catch::Contains("element"));
  CHECK_THAT(differs(program, "    return R.add(x, y)\n"), Catch::Contains("element"));
  CHECK_THAT(differs(program, "    a = R.multiply(y, R.const(0.5, \"float32\"))\n    return R.add(a, y)\n"),
             Catch::Contains("element"));
}

TEST_CASE("other shapes, dtypes, numbers of outputs and guards are differences") {
  CHECK_THAT(differs("    return R.sum(x, axis=[0])\n", "    return R.sum(x, axis=[0], keepdims=True)\n"),
             Catch::Contains("shape"));
  CHECK_THAT(differs("    return x\n", "    return R.astype(x, \"float64\")\n"), Catch::Contains("float64"));
  CHECK_THAT(differs("    return x\n", "    return (x, x)\n"), Catch::Contains("outputs"));
  CHECK_THAT(differs("    return x\n", "    z = R.match_cast(x, R.Tensor((1, 3), \"float32\"))\n    return x\n"),
             Catch::Contains("ends early"));
}

TEST_CASE("calls for their effect are compared in their order, with what they are given") {
  const std::string first = "    R.call_packed(\"f\", x)\n", second = "    R.call_packed(\"g\", y)\n",
                    other = "    R.call_packed(\"f\", y)\n", end = "    return R.add(x, y)\n";
  CHECK(differs(first + second + end, first + second + end).empty());
  CHECK_THAT(differs(first + second + end, second + first + end), Catch::Contains("effect"));
  CHECK_THAT(differs(first + second + end, first + end), Catch::Contains("effect"));
  CHECK_THAT(differs(first + second + end, other + second + end), Catch::Contains("effect"));
}

TEST_CASE("a public function that is gone, or a host function that stores something else, is a difference") {
  relax::OpTable ops = ops::op_table();
  const std::string program = "    a = R.multiply(x, R.const(0.5, \"float32\"))\n    return R.exp(a)\n";
  relax::Module before = parse(ops, program), after = parse(ops, program);
  Diagnostics diag;
  Target target;
  auto evaluator = tir::make_interpreter();
  interface::Object object;
  PassContext context{ops, target, diag, *evaluator, 0, &object};
  REQUIRE(run_passes(compile_pipeline(), after, context, {}));
  CHECK(difference_of_modules(before, after, ops, object).empty());
  CHECK_THAT(difference_of_modules(before, after, ops), Catch::Contains("is gone"));
  for (tir::PrimFunc* function : after.prim_funcs()) {
    tir::Rewriter wrong;
    wrong.on_expr = [&](arith::Expr e) {
      return e.as<arith::Mul>() && e.dtype().is_float()
                 ? e.context().binary(arith::ExprKind::kAdd, e.as<arith::Mul>()->a, e.as<arith::Mul>()->b)
                 : e;
    };
    function->body = tir::rewrite(after.context(), function->body, wrong);
  }
  CHECK_THAT(difference_of_modules(before, after, ops, object), Catch::Contains("element"));
}

}  // namespace
}  // namespace relaxc::test
