#include <catch2/catch.hpp>
#include <cmath>

#include "compiler/ops/common/family.h"
#include "runtime-lite/include/relax_rt.h"
#include "tests/unit/ops/harness.h"

using namespace relaxc;
using namespace relaxc::test;

TEST_CASE("every operator has a name, a sentence and one meaning") {
  relax::OpTable table = ops::op_table();
  CHECK(table.all().size() > 100);
  for (const relax::OpDef* def : table.all()) {
    INFO(def->name.text());
    CHECK_FALSE(def->doc.empty());
    CHECK(def->infer != nullptr);
    CHECK((def->define != nullptr) != (def->expand != nullptr));
  }
}

TEST_CASE("activations follow their formulas") {
  HostTensor x = floats({5}, {-2, -0.5, 0, 0.5, 2});
  auto expect = [&](relax::OpName op, double (*f)(double), Attrs attrs = {}) {
    INFO(op.text());
    std::vector<double> y;
    for (double v : elements(x)) y.push_back(f(v));
    check(run_op(op, {x}, std::move(attrs)), {5}, y, 2e-7);
  };
  expect("exp", [](double v) { return std::exp(v); });
  expect("tanh", [](double v) { return std::tanh(v); });
  expect("erf", [](double v) { return std::erf(v); });
  expect("sigmoid", [](double v) { return 1 / (1 + std::exp(-v)); });
  expect("nn.relu", [](double v) { return std::max(v, 0.0); });
  expect("nn.gelu", [](double v) { return 0.5 * v * (1 + std::erf(v / std::sqrt(2.0))); });
  expect("nn.gelu",
         [](double v) { return 0.5 * v * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v))); },
         {{"approximate", std::string("tanh")}});
  expect("nn.elu", [](double v) { return v < 0 ? 0.7 * std::expm1(v) : v; }, {{"alpha", 0.7}});
  expect("nn.selu", [](double v) { return 1.0507009873554805 * (v > 0 ? v : 1.6732632423543772 * std::expm1(v)); });
  expect("nn.leaky_relu", [](double v) { return v < 0 ? 0.1 * v : v; }, {{"alpha", 0.1}});
  expect("nn.softplus", [](double v) { return std::log1p(std::exp(v)); });
  expect("nn.silu", [](double v) { return v / (1 + std::exp(-v)); });
  expect("nn.mish", [](double v) { return v * std::tanh(std::log1p(std::exp(v))); });
  expect("nn.hard_sigmoid", [](double v) { return std::max(0.0, std::min(1.0, 0.2 * v + 0.5)); });
  expect("nn.hard_swish", [](double v) { return v * std::max(0.0, std::min(1.0, v / 6 + 0.5)); });
  expect("nn.softsign", [](double v) { return v / (1 + std::abs(v)); });
  expect("square", [](double v) { return v * v; });
}

TEST_CASE("rounding, signs and special values") {
  HostTensor x = floats({6}, {-1.5, -0.0, 0.5, 2.5, kNan, kInf});
  check(run_op("round", {x}), {6}, {-2, 0, 0, 2, kNan, kInf});
  check(run_op("floor", {x}), {6}, {-2, 0, 0, 2, kNan, kInf});
  check(run_op("ceil", {x}), {6}, {-1, 0, 1, 3, kNan, kInf});
  check(run_op("sign", {x}), {6}, {-1, 0, 1, 1, kNan, 1});
  check(run_op("isnan", {x}), {6}, {0, 0, 0, 0, 1, 0});
  check(run_op("isinf", {x}), {6}, {0, 0, 0, 0, 0, 1});
  check(run_op("isinf", {x}, {{"positive", false}}), {6}, {0, 0, 0, 0, 0, 0});
  check(run_op("nn.relu", {x}), {6}, {0, 0, 0.5, 2.5, kNan, kInf});
  check(run_op("abs", {tensor(DType::i(8), {3}, {-128, -3, 5})}), {3}, {-128, 3, 5});
  CHECK(run_op("astype", {x}, {{"dtype", DType::i(32)}}).dtype == DType::i(32));
  check(run_op("astype", {floats({4}, {-1.7, 2.9, kNan, 1e20})}, {{"dtype", DType::i(32)}}), {4},
        {-1, 2, 0, 2147483647.0});
  CHECK(error_of("exp", {longs({1}, {1})}) == "'exp' takes a float tensor, found int64");
}

TEST_CASE("narrow floats are computed wide and rounded once") {
  // float16(0.5 * 1.5 * (1 + erf(1.5 / sqrt 2))) = float16(1.399789) = 1433 * 2^-10
  check(run_op("nn.gelu", {tensor(DType::f(16), {1}, {1.5})}), {1}, {1433.0 / 1024}, 0);
  check(run_op("add", {tensor(DType::bf16(), {1}, {256}), tensor(DType::bf16(), {1}, {1})}), {1}, {256}, 0);
}

TEST_CASE("binary operators broadcast") {
  HostTensor a = floats({2, 1, 3}, {1, 2, 3, 4, 5, 6}), b = floats({2, 1}, {10, 20});
  check(run_op("add", {a, b}), {2, 2, 3}, {11, 12, 13, 21, 22, 23, 14, 15, 16, 24, 25, 26});
  check(run_op("subtract", {floats({}, {1}), floats({2}, {1, 3})}), {2}, {0, -2});
  check(run_op("less", {a, floats({1}, {3})}), {2, 1, 3}, {1, 1, 0, 0, 0, 0});
  check(run_op("multiply", {floats({0, 3}, {}), floats({3}, {1, 2, 3})}), {0, 3}, {});
  check(run_op("where", {tensor(DType::boolean(), {2, 1}, {1, 0}), floats({3}, {1, 2, 3}), floats({}, {9})}), {2, 3},
        {1, 2, 3, 9, 9, 9});
  CHECK(error_of("add", {floats({2}, {1, 2}), floats({3}, {1, 2, 3})}) == "'add' cannot broadcast 2 with 3 on axis 0");
  CHECK(error_of("add", {floats({1}, {1}), longs({1}, {1})}) ==
        "the operands of 'add' have dtypes float32 and int64; cast one with astype");
}

TEST_CASE("symbols that meet in a broadcast broadcast at run time") {
  auto run = [](std::vector<double> a, std::vector<double> b) {
    Program p;
    int64_t n = static_cast<int64_t>(a.size()), m = static_cast<int64_t>(b.size());
    Value* x = p.input(floats({n}, a), {p.symbol("n")});
    Value* y = p.input(floats({m}, b), {p.symbol("m")});
    Value* sum = p.call("add", {x, y});
    CHECK(sum->op->requirements.size() == 1);
    bool fits = n == m || n == 1 || m == 1;
    return fits ? elements(p.run({sum}).at(0)) : std::vector<double>{static_cast<double>(p.code({sum}))};
  };
  CHECK(run({1, 2}, {10, 20}) == std::vector<double>{11, 22});
  CHECK(run({1}, {10, 20}) == std::vector<double>{11, 21});
  CHECK(run({1, 2}, {10}) == std::vector<double>{11, 12});
  CHECK(run({1}, {10}) == std::vector<double>{11});
  CHECK(run({}, {10}) == std::vector<double>{});
  CHECK(run({1, 2}, {1, 2, 3}) == std::vector<double>{RLX_BROADCAST});
}

TEST_CASE("integer division never traps") {
  DType i32 = DType::i(32);
  HostTensor a = tensor(i32, {6}, {7, -7, 7, -7, 5, -2147483648.0}), b = tensor(i32, {6}, {2, 2, -2, -2, 0, -1});
  check(run_op("divide", {a, b}), {6}, {3, -3, -3, 3, 0, -2147483648.0});
  check(run_op("floor_divide", {a, b}), {6}, {3, -4, -4, 3, 0, -2147483648.0});
  check(run_op("mod", {a, b}), {6}, {1, -1, 1, -1, 0, 0});
  check(run_op("floor_mod", {a, b}), {6}, {1, 1, -1, -1, 0, 0});
  HostTensor x = floats({4}, {7, -7, 7, -7}), y = floats({4}, {2.5, 2.5, -2.5, -2.5});
  check(run_op("mod", {x, y}), {4}, {2, -2, 2, -2});
  check(run_op("floor_mod", {x, y}), {4}, {2, 0.5, -0.5, -2});
  check(run_op("divide", {floats({2}, {1, 0}), floats({2}, {0, 0})}), {2}, {kInf, kNan});
}

TEST_CASE("powers of integers and floats") {
  check(run_op("power", {longs({5}, {2, -3, 7, 1, -1}), longs({5}, {10, 3, 0, -5, -3})}), {5}, {1024, -27, 1, 1, -1});
  check(run_op("power", {floats({3}, {2, 4, 9}), floats({}, {0.5})}), {3}, {std::sqrt(2.0), 2, 3});
  check(run_op("power", {tensor(DType::i(32), {2}, {2, 3}), floats({2}, {3, 2})}), {2}, {8, 9});
}

TEST_CASE("logic, bits and shifts") {
  DType b = DType::boolean(), u8 = DType::u(8);
  HostTensor p = tensor(b, {4}, {0, 0, 1, 1}), q = tensor(b, {4}, {0, 1, 0, 1});
  check(run_op("logical_and", {p, q}), {4}, {0, 0, 0, 1});
  check(run_op("logical_or", {p, q}), {4}, {0, 1, 1, 1});
  check(run_op("logical_xor", {p, q}), {4}, {0, 1, 1, 0});
  check(run_op("equal", {p, q}), {4}, {1, 0, 0, 1});
  check(run_op("bitwise_and", {tensor(u8, {1}, {12}), tensor(u8, {1}, {10})}), {1}, {8});
  check(run_op("bitwise_not", {tensor(u8, {1}, {12})}), {1}, {243});
  check(run_op("left_shift", {tensor(u8, {2}, {3, 3}), tensor(u8, {2}, {2, 9})}), {2}, {12, 0});
  check(run_op("right_shift", {tensor(DType::i(8), {2}, {-8, -8}), tensor(DType::i(8), {2}, {1, 100})}), {2}, {-4, -1});
}
