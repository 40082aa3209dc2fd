// table_test.cpp: functions of bytes as tables, whose 256 numbers golden files cannot spell.
#include <catch2/catch.hpp>

#include <algorithm>

#include "tests/unit/pipeline/harness.h"

using namespace relaxc;
using test::passes;
using test::Program;

namespace {

/// The operators that are left of a function of `q`, a tensor of int8.
std::vector<std::string> left_of(const std::string& body, const std::string& type) {
  Program program(
      "@R.function\ndef main(q: R.Tensor((\"n\", 8), \"int8\")):\n    n = T.int64()\n    with R.dataflow():\n" + body +
      "        out = R.quantize(y, R.const(0.0625, \"float32\"), R.const(3, \"" + type + "\"), out_dtype=\"" + type +
      "\")\n        R.output(out)\n    return out\n");
  program.run(passes({"infer", "recognize_quantization", "fold_constants"}));
  std::vector<std::string> names;
  for (relax::Function* function : program.module().functions())
    for (relax::Op* op : relax::ops_of(function->body(), true))
      if (op->kind == relax::OpKind::kOperator) names.emplace_back(op->def->name.text());
  return names;
}

const std::string kStart = "        x = R.dequantize(q, R.const(0.0625, \"float32\"), R.const(-3, \"int8\"))\n";
/// sigmoid(x), quantized.
const std::string kGate =
    "        s = R.sigmoid(x)\n"
    "        qs = R.quantize(s, R.const(0.00390625, \"float32\"), R.const(0, \"uint8\"), out_dtype=\"uint8\")\n"
    "        ds = R.dequantize(qs, R.const(0.00390625, \"float32\"), R.const(0, \"uint8\"))\n";

}  // namespace

TEST_CASE("an expensive function of one tensor of bytes is one table") {
  using Names = std::vector<std::string>;
  CHECK(left_of(kStart + "        y = R.exp(x)\n", "uint8") == Names{"astype", "take"});
  CHECK(left_of(kStart + kGate + "        y = R.multiply(x, ds)\n", "uint8") == Names{"astype", "take"});
  // What ends in wider integers is no function of 256 bytes.
  CHECK(left_of(kStart + kGate + "        y = R.multiply(x, ds)\n", "int16").back() != "take");
}

TEST_CASE("arithmetic alone does not become a table") {
  for (const std::string& name : left_of(kStart + "        y = R.multiply(x, x)\n", "uint8")) CHECK(name != "take");
}

TEST_CASE("a function of two tensors of bytes does not become a table, but each of its functions of one does") {
  std::string rolled =
      "        t = R.concat((R.strided_slice(q, axes=[1], begin=[4], end=[8]), "
      "R.strided_slice(q, axes=[1], begin=[0], end=[4])), axis=1)\n"
      "        z = R.dequantize(t, R.const(0.0625, \"float32\"), R.const(-3, \"int8\"))\n";
  std::vector<std::string> names = left_of(kStart + kGate + rolled + "        y = R.multiply(z, ds)\n", "uint8");
  CHECK(std::count(names.begin(), names.end(), "take") == 1);
  CHECK(std::count(names.begin(), names.end(), "sigmoid") == 0);
}
