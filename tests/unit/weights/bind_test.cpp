// bind_test.cpp: which part of a program a tensor stands for, and what is said where it stands for none.
#include "frontends/weights/bind.h"

#include <catch2/catch.hpp>

#include "compiler/ops/op_table.h"
#include "compiler/relax/print.h"
#include "compiler/relax/verify.h"
#include "frontends/relax/parser.h"

using namespace relaxc;
using namespace relaxc::frontend;

namespace {

relax::ConstantRef zeros(DType dtype, std::vector<int64_t> shape) {
  int64_t size = dtype.bytes();
  for (int64_t dim : shape) size *= dim;
  return relax::ConstantData::inline_bytes(dtype, std::move(shape), std::vector<std::byte>(static_cast<size_t>(size)));
}

constexpr const char* kLinear = R"(@R.function
def main(x: R.Tensor(("n", "k"), "float32"), w: R.Tensor(("k", 2), "float32")):
    R.func_attr({"num_input": 1})
    return R.matmul(x, w)
)";

/// The module with the constants bound, or the messages.
std::string bound(const std::string& text, const NamedConstants& named) {
  relax::OpTable table = ops::op_table();
  Diagnostics diag;
  Result<relax::Module> module = parse_module("m.relax", text, table, diag);
  if (module && bind_parameters(*module, named, diag)) {
    CHECK(relax::first_fault(*module).empty());
    return relax::to_string(*module);
  }
  std::string messages;
  for (const Diagnostic& message : diag.all()) {
    messages += message.text + "\n";
    for (const Note& note : message.notes) messages += note.text + "\n";
  }
  return messages;
}

}  // namespace

using Catch::Contains;

TEST_CASE("a parameter becomes a constant, and a symbol of its dims a number") {
  std::string text = bound(kLinear, {{"w", zeros(DType::f(32), {3, 2})}});
  CHECK_THAT(text, Contains("def main(x: R.Tensor((\"n\", 3), dtype=\"float32\"))") &&
                       Contains("R.const([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]], \"float32\")") &&
                       !Contains("num_input"));
}

TEST_CASE("what does not fit its parameter is refused") {
  CHECK_THAT(bound(kLinear, {{"w", zeros(DType::f(64), {3, 2})}}), Contains("[3, 2] of float64"));
  CHECK_THAT(bound(kLinear, {{"w", zeros(DType::f(32), {3, 4})}}), Contains("[3, 4] of float32"));
  CHECK_THAT(bound(kLinear, {{"w", zeros(DType::f(32), {6})}}), Contains("'w' of 'main' is R.Tensor((k, 2)"));
}

TEST_CASE("names that are missing, too many, or those of inputs are refused") {
  relax::ConstantRef w = zeros(DType::f(32), {3, 2});
  CHECK_THAT(bound(kLinear, {}), Contains("no 'w', which is a parameter of 'main' after its 1 inputs"));
  CHECK_THAT(bound(kLinear, {{"w", w}, {"ww", zeros(DType::f(32), {2})}}),
             Contains("'ww', which is neither a parameter") && Contains("'w'?"));
  CHECK_THAT(bound(kLinear, {{"w", w}, {"x", w}}), Contains("'x'"));
  CHECK_THAT(bound(kLinear, {{"w", zeros(DType::f(32), {2, 2})}, {"x", zeros(DType::f(32), {1, 2})}}),
             Contains("'x', which is an input of 'main' (num_input = 1)"));
}

TEST_CASE("one symbol in two weights is one number") {
  std::string text = R"(@R.function
def main(x: R.Tensor((4,), "float32"), a: R.Tensor(("k",), "float32"), b: R.Tensor(("k * 2",), "float32")):
    return R.add(R.concat((a, a)), b)
)";
  CHECK_THAT(bound(text, {{"a", zeros(DType::f(32), {3})}, {"b", zeros(DType::f(32), {6})}}), Contains("R.add"));
  CHECK_THAT(bound(text, {{"a", zeros(DType::f(32), {3})}, {"b", zeros(DType::f(32), {5})}}),
             Contains("[5] of float32"));
}

TEST_CASE("a function that others call keeps its parameters") {
  std::string text = R"(@I.ir_module
class M:
    @R.function
    def f(x: R.Tensor((2,), "float32"), w: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        return R.add(x, w)
    @R.function
    def main(y: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        return M.f(y, y)
)";
  CHECK_THAT(bound(text, {{"w", zeros(DType::f(32), {2})}}), Contains("'f' is called here"));
}

TEST_CASE("constants by number have one of two names") {
  relax::ConstantRef a = zeros(DType::f(32), {1});
  Diagnostics diag;
  auto found = numbered_constants({{"3", a}, {"relax.expr.Constant[1]", a}, {"03", a}, {"w1", a}, {"-1", a}}, diag);
  REQUIRE(found);
  CHECK(found->size() == 2);
  CHECK(found->count(1) + found->count(3) == 2);
  CHECK_FALSE(numbered_constants({{"1", a}, {"relax.expr.Constant[1]", a}}, diag));
}
