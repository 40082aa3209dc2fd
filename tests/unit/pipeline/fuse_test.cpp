// fuse_test.cpp: what is fused depends on constants, which golden files cannot spell.
#include <catch2/catch.hpp>

#include "tests/unit/pipeline/harness.h"

using namespace relaxc;
using test::passes;
using test::Program;

namespace {

/// How many kernels run in "x w1, softmax, w2" where the right operands are these.
int kernels(const std::string& w1, const std::string& w2) {
  Program program(
      "@R.function\n"
      "def main(x: R.Tensor((\"n\", 16), \"float32\"), a: R.Tensor((16, 8), \"float32\"), b: R.Tensor((8, 24), "
      "\"float32\")):\n"
      "    with R.dataflow():\n"
      "        p = R.matmul(x, " +
      w1 +
      ")\n"
      "        q = R.nn.softmax(p)\n"
      "        y = R.matmul(q, " +
      w2 +
      ")\n"
      "        R.output(y)\n"
      "    return y\n");
  program.run(passes({"infer", "fold_constants", "expand_ops", "canonicalize", "legalize", "fuse_ops"}));
  int calls = 0;
  for (relax::Function* function : program.module().functions())
    for (relax::Op* op : relax::ops_of(function->body(), true)) calls += op->kind == relax::OpKind::kCallTir;
  return calls;
}

}  // namespace

TEST_CASE("products by weights are not computed by blocks of rows") {
  CHECK(kernels("a", "b") == 1);
  CHECK(kernels("a", "R.ones((8, 24), \"float32\")") == 3);
  CHECK(kernels("R.ones((16, 8), \"float32\")", "b") == 3);
}
