// semantics_test.cpp: a pass that is wrong is caught by running the program, and named. The wrong passes are made here.
#include <catch2/catch.hpp>

#include <array>

#include "compiler/equivalence/random_inputs.h"
#include "compiler/equivalence/semantics_check.h"
#include "compiler/relax/builder.h"
#include "compiler/tir/clone.h"
#include "compiler/tir/visit.h"
#include "tests/unit/pipeline/harness.h"

using namespace relaxc;
using test::passes;
using test::Program;

namespace {

const char* const kProgram = R"(
@R.function
def main(x: R.Tensor(("n", 4), "float32"), y: R.Tensor(("n", 4), "float32")) -> R.Tensor(("n", 4), "float32"):
    with R.dataflow():
        a = R.subtract(x, y)
        b = R.multiply(a, R.const(0.5, "float32"))
        c = R.nn.relu(b)
        R.output(c)
    return c
)";

/// Exchanges the operands of the first subtraction.
Result<Changed> exchange_operands(relax::Module& module, PassContext&) {
  for (relax::Function* function : module.functions())
    for (relax::Op* op : relax::ops_of(function->body(), true))
      if (op->is("subtract")) {
        relax::Value *a = op->operand(0), *b = op->operand(1);
        op->set_operand(0, b), op->set_operand(1, a);
        return Changed::kYes;
      }
  return Changed::kNo;
}

/// Runs the first loop of symbolic length once: rows beyond the first are not written.
Result<Changed> forget_rows(relax::Module& module, PassContext&) {
  auto& context = module.context();
  Changed changed = Changed::kNo;
  tir::Rewriter rewriter;
  rewriter.on_stmt = [&](tir::Stmt s) {
    const auto* loop = s.as<tir::For>();
    if (loop == nullptr || loop->extent.constant() != nullptr || changed == Changed::kYes) return s;
    tir::For shorter = *loop;
    shorter.extent = context.index(1);
    changed = Changed::kYes;
    return tir::Stmt(context.arena().make<tir::For>(std::move(shorter)));
  };
  for (tir::PrimFunc* function : module.prim_funcs())
    if (changed == Changed::kNo) function->body = tir::rewrite(context, function->body, rewriter);
  return changed;
}

/// What the runner says of `list` when it compares after every pass; empty if it has nothing against it.
std::string objection(const std::vector<Pass>& list) {
  Program program(kProgram);
  program.run(passes({"infer"}));
  auto make = [](tir::FindFunction find, tir::CallExternal external) {
    return tir::make_interpreter(std::move(find), std::move(external));
  };
  equivalence::SemanticsCheck check(program.module(), program.ops(), make);
  CHECK(check.not_run().empty());
  PassOptions options;
  options.check = [&](relax::Module& now) { return check.difference(now, program.object()); };
  try {
    program.run(list, options);
  } catch (const InternalError& error) {
    return error.what();
  }
  return {};
}

/// The compile pipeline with `pass` behind the one named `after`.
std::vector<Pass> with(const Pass& pass, std::string_view after) {
  std::vector<Pass> list;
  for (const Pass& one : compile_pipeline()) {
    list.push_back(one);
    if (one.name == after) list.push_back(pass);
  }
  REQUIRE(list.size() == compile_pipeline().size() + 1);
  return list;
}

}  // namespace

TEST_CASE("a pass that exchanges operands is caught where it ran, and named") {
  std::string text = objection(with({.name = "exchange_operands", .run = exchange_operands}, "canonicalize"));
  CHECK_THAT(text, Catch::Contains("pass exchange_operands changed what the program computes"));
  CHECK_THAT(text, Catch::Contains("'main'"));
}

TEST_CASE("a pass that breaks a kernel is caught before and after functions are lowered") {
  for (const char* after : {"legalize", "fuse_ops", "plan_memory"}) {
    INFO(after);
    CHECK_THAT(objection(with({.name = "forget_rows", .run = forget_rows}, after)),
               Catch::Contains("pass forget_rows changed what the program computes"));
  }
}

TEST_CASE("random sizes are in the range of their dim and a multiple of its divisor") {
  for (const auto& [lower, upper, factor] :
       {std::array<int64_t, 3>{64, 512, 64}, {1, 8, 4}, {3, 3, 1}, {100, 130, 32}}) {
    Program program(kProgram);
    program.run(passes({"infer"}));
    relax::Function& function = *program.module().functions().front();
    const arith::Var n = function.symbols.at(0);
    function.facts.bound(n, {lower, upper}), function.facts.multiple(n, factor);
    for (uint32_t seed = 0; seed < 20; ++seed) {
      const int64_t size = equivalence::random_inputs(function, seed).front().shape[0];
      INFO(lower << ".." << upper << ":" << factor);
      CHECK((size >= lower && size <= upper && size % factor == 0));
    }
  }
}

TEST_CASE("the passes of the pipeline are not blamed") {
  CHECK(objection({compile_pipeline().begin(), compile_pipeline().end()}).empty());
}

TEST_CASE("every step that changes bits gives results a tolerance, and no other step does") {
  Program program(kProgram);
  program.run(passes({"infer"}));
  tir::PrimFunc kernel;
  kernel.name = "kernel";
  tir::PrimFunc* added = program.module().add_prim_func(std::move(kernel));
  auto is_reordered = [&](const char* trace) {
    added->schedule.steps = trace;
    return equivalence::reorders(program.module());
  };
  for (const char* trace :
       {"strip_mine_rows 8; online_softmax block 64; unfocus", "focus_nests [sum]; factor_out sum k", "use_fma y",
        "reassociate y; reduce_in_lanes y k 16 16 -", "pool_rows y 4 0", "tensorize_bf16_dot y k"})
    CHECK(is_reordered(trace));
  for (const char* trace :
       {"", "focus_nests [use_fma]; split reassociate 4 peeled", "parallel online_softmax; unfocus"})
    CHECK_FALSE(is_reordered(trace));
}
