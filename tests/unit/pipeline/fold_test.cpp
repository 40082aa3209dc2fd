// fold_test.cpp: what is folded does not depend on who computes it, the interpreter or compiled code.
#include <catch2/catch.hpp>

#include "compiler/codegen/llvm/jit.h"
#include "compiler/codegen/llvm/target.h"
#include "tests/unit/pipeline/harness.h"

using namespace relaxc;
using test::passes;
using test::Program;

namespace {

/// Bytes of all constants of a module in order, after folding with `evaluator`; and how many operators are left.
struct Folded {
  std::vector<std::vector<std::byte>> constants;
  size_t operators = 0;
};

Folded fold(const std::string& body, tir::Evaluator& evaluator) {
  Program program("@R.function\ndef main():\n    with R.dataflow():\n" + body + "    return y\n");
  program.run(passes({"infer", "expand_ops", "fold_constants"}), {}, &evaluator);
  Folded folded;
  for (relax::Function* function : program.module().functions())
    for (relax::Op* op : relax::ops_of(function->body(), true)) {
      if (op->kind == relax::OpKind::kConstant) folded.constants.push_back(op->constant->to_vector());
      folded.operators += op->kind == relax::OpKind::kOperator;
    }
  return folded;
}

std::string line(const std::string& name, const std::string& value) {
  return "        " + name + " = " + value + "\n";
}

}  // namespace

TEST_CASE("folds of transcendental functions, products, sums and casts have one set of bits") {
  Diagnostics diag;
  Result<Target> host = codegen_llvm::resolve_target("", "native", "", diag);
  REQUIRE(host);
  std::unique_ptr<tir::Evaluator> jit = codegen_llvm::make_jit(*host), interpreter = tir::make_interpreter();
  // A basis as a spectrogram has it, 257 x 128 numbers: beyond the budget of what is always stored.
  const std::string basis = line("t", "R.arange(R.shape([0, 128, 1]))") + line("f", "R.arange(R.shape([0, 257, 1]))") +
                            line("tf", "R.astype(R.expand_dims(t, axis=[0]), dtype=\"float32\")") +
                            line("ff", "R.astype(R.expand_dims(f, axis=[1]), dtype=\"float32\")") +
                            line("a", "R.multiply(R.multiply(ff, tf), R.const(0.0245436926, \"float32\"))");
  const char* const lasts[] = {"R.cos(a)",
                               "R.tanh(R.sin(a))",
                               "R.exp(R.negative(a))",
                               "R.erf(R.multiply(a, R.const(0.01, \"float32\")))",
                               "R.matmul(R.sin(a), R.permute_dims(R.cos(a), axes=[1, 0]))",
                               "R.nn.softmax(R.sin(a))",
                               "R.cumsum(R.sin(a), axis=0)",
                               "R.astype(R.sin(a), dtype=\"float16\")",
                               "R.astype(R.multiply(R.sin(a), R.const(100.0, \"float32\")), dtype=\"int8\")",
                               "R.log(R.sin(a))"};
  for (const char* last : lasts) {
    INFO(last);
    std::string body = basis + line("y", last) + "        R.output(y)\n";
    Folded a = fold(body, *interpreter), b = fold(body, *jit);
    CHECK(a.operators == 0);
    CHECK(b.operators == 0);
    CHECK(a.constants == b.constants);
  }
}
