// random_test.cpp: what no reference has numbers for: that random operators draw from the distribution that they name,
// the same at every run, and others for another seed or another node.
#include <catch2/catch.hpp>
#include <cmath>

#include "compiler/codegen/llvm/jit.h"
#include "compiler/codegen/llvm/target.h"
#include "tests/onnx/imported.h"

using namespace relaxc;
using namespace relaxc::onnx_tests;
using onnx::TensorProto;
using relax::HostTensor;

namespace {

constexpr int64_t kRows = 100, kColumns = 200, kCount = kRows * kColumns;

std::vector<std::vector<double>> drawn(const ModelWriter& model, const std::vector<HostTensor>& inputs = {}) {
  Diagnostics diag;
  auto jit = codegen_llvm::make_jit(*codegen_llvm::resolve_target("", "native", "", diag));
  std::vector<std::vector<double>> lists;
  for (const HostTensor& tensor : results(model, inputs, {}, jit.get())) {
    lists.emplace_back();
    for (size_t at = 0; at < tensor.bytes.size(); at += static_cast<size_t>(tensor.dtype.bytes()))
      lists.back().push_back(relax::decode_scalar(tensor.dtype, tensor.bytes.data() + at));
  }
  return lists;
}

struct Moments {
  double mean = 0, deviation = 0, low = INFINITY, high = -INFINITY, neighbours = 0;
};
/// `neighbours`: the correlation of each number with the next one.
Moments moments(const std::vector<double>& values) {
  Moments m;
  double n = static_cast<double>(values.size()), squares = 0, products = 0;
  for (double v : values) m.mean += v / n, m.low = std::min(m.low, v), m.high = std::max(m.high, v);
  for (size_t i = 0; i < values.size(); ++i) {
    squares += (values[i] - m.mean) * (values[i] - m.mean);
    if (i > 0) products += (values[i] - m.mean) * (values[i - 1] - m.mean);
  }
  m.deviation = std::sqrt(squares / n);
  m.neighbours = products / squares;
  return m;
}

}  // namespace

TEST_CASE("uniform numbers fill their range evenly, in every float type") {
  for (int32_t type : {TensorProto::FLOAT, TensorProto::DOUBLE, TensorProto::FLOAT16}) {
    ModelWriter model;
    model.output("y", {kRows, kColumns}, type);
    auto& node = model.node("RandomUniform", {}, {"y"});
    ints(node, "shape", {kRows, kColumns});
    integer(node, "dtype", type);
    number(node, "low", -1);
    number(node, "high", 3);
    std::vector<double> y = drawn(model)[0];
    REQUIRE(y.size() == kCount);
    Moments m = moments(y);
    CHECK(std::abs(m.mean - 1) < 0.04);
    CHECK(std::abs(m.deviation - 4 / std::sqrt(12.0)) < 0.03);
    CHECK((m.low >= -1 && m.low < -0.99 && m.high <= 3 && m.high > 2.99));
    CHECK(std::abs(m.neighbours) < 0.03);
    std::vector<int> cells(16);
    for (double v : y) ++cells[static_cast<size_t>(std::min(15.0, (v + 1) * 4))];
    for (int cell : cells) CHECK(std::abs(cell - kCount / 16) < 150);  // four deviations
  }
}

TEST_CASE("normal numbers have their mean, their deviation and their tails") {
  ModelWriter model;
  model.input("x", {kRows, kColumns}).output("y", {kRows, kColumns});
  auto& node = model.node("RandomNormalLike", {"x"}, {"y"});
  number(node, "mean", 5);
  number(node, "scale", 2);
  std::vector<double> y = drawn(model, {filled({kRows, kColumns}, 0)})[0];
  Moments m = moments(y);
  CHECK(std::abs(m.mean - 5) < 0.06);
  CHECK(std::abs(m.deviation - 2) < 0.05);
  CHECK(std::abs(m.neighbours) < 0.03);
  int within = 0, far = 0;
  for (double v : y) within += std::abs(v - 5)<2, far += std::abs(v - 5)> 6;
  CHECK(std::abs(within / static_cast<double>(kCount) - 0.6827) < 0.015);
  CHECK((far > 20 && far < 100));  // 54 are expected
}

TEST_CASE("a seed decides the numbers, and without one the name of the output does") {
  auto model = [](float first, float second) {
    ModelWriter model;
    model.output("a", {kRows}).output("b", {kRows}).output("c", {kRows}).output("d", {kRows});
    for (const char* name : {"a", "b", "c", "d"}) {
      auto& node = model.node("RandomUniform", {}, {name});
      ints(node, "shape", {kRows});
      if (name[0] == 'a') number(node, "seed", first);
      if (name[0] == 'b') number(node, "seed", second);
    }
    return model;
  };
  auto same = drawn(model(7, 7)), again = drawn(model(7, 7)), other = drawn(model(7, 8));
  CHECK(same == again);
  CHECK(same[0] == same[1]);
  CHECK(other[0] == same[0]);
  CHECK(other[1] != same[1]);
  CHECK(same[2] != same[3]);
}

TEST_CASE("Bernoulli draws 1 as often as its input says") {
  ModelWriter model;
  model.input("x", {kRows, kColumns}).output("y", {kRows, kColumns});
  model.node("Bernoulli", {"x"}, {"y"});
  CHECK(std::abs(moments(drawn(model, {filled({kRows, kColumns}, 0.3F)})[0]).mean - 0.3) < 0.015);
  CHECK(moments(drawn(model, {filled({kRows, kColumns}, 0)})[0]).high == 0);
  CHECK(moments(drawn(model, {filled({kRows, kColumns}, 1)})[0]).low == 1);
}

TEST_CASE("Multinomial draws classes by the exponentials of its input") {
  ModelWriter model;
  model.input("x", {2, 3}).output("y", {2, kCount}, TensorProto::INT32);
  integer(model.node("Multinomial", {"x"}, {"y"}), "sample_size", kCount);
  HostTensor logits = filled({2, 3}, 0);
  float values[] = {0, std::log(2.0F), std::log(5.0F), 0, -INFINITY, 0};
  std::memcpy(logits.bytes.data(), values, sizeof values);
  std::vector<double> y = drawn(model, {logits})[0];
  std::vector<double> share(6);
  for (size_t i = 0; i < y.size(); ++i) share[(i < kCount ? 0 : 3) + static_cast<size_t>(y[i])] += 1.0 / kCount;
  std::vector<double> expected{0.125, 0.25, 0.625, 0.5, 0, 0.5};
  for (size_t i = 0; i < 6; ++i) CHECK(std::abs(share[i] - expected[i]) < 0.015);
}

TEST_CASE("Dropout in training keeps the mean, and outside of it everything") {
  for (float training : {0.0F, 1.0F}) {
    ModelWriter model;
    model.input("x", {kRows, kColumns}).input("t", {}, TensorProto::BOOL);
    model.output("y", {kRows, kColumns}).output("mask", {kRows, kColumns}, TensorProto::BOOL);
    auto& ratio = model.tensor("ratio", {});
    ratio.add_float_data(0.25F);
    model.node("Dropout", {"x", "ratio", "t"}, {"y", "mask"});
    HostTensor asked{DType::boolean(), {}, {static_cast<std::byte>(training != 0)}};
    auto lists = drawn(model, {filled({kRows, kColumns}, 3), asked});
    Moments y = moments(lists[0]), mask = moments(lists[1]);
    CHECK(std::abs(y.mean - 3) < 0.05);
    CHECK(y.high == Approx(training != 0 ? 4 : 3));
    CHECK(std::abs(mask.mean - (training != 0 ? 0.75 : 1)) < 0.015);
  }
}
