// control_test.cpp: control flow that ONNX's own tests leave out.
#include <catch2/catch.hpp>
#include <functional>

#include "tests/onnx/imported.h"

using namespace relaxc;
using namespace relaxc::onnx_tests;
using relax::HostTensor;

namespace {

/// y = x [a, n], squeezed behind its first dim if n is 1, as exporters write it.
ModelWriter squeeze_of_open_dim(const char* else_op) {
  ModelWriter model;
  model.input("x", {"a", "n"}).output("y", {"a"});
  model.tensor("one", {1}, onnx::TensorProto::INT64).add_int64_data(1);
  model.node("Shape", {"x"}, {"dims"});
  model.node("Gather", {"dims", "one"}, {"extent"});
  model.node("Equal", {"extent", "one"}, {"is_one"});
  onnx::NodeProto& choice = model.node("If", {"is_one"}, {"y"});
  auto branch = [&](const char* name, const char* op, std::vector<std::string> inputs) {
    ModelWriter inner;
    inner.node(op, std::move(inputs), {std::string("y_of_") + name});
    inner.graph().add_output()->set_name(std::string("y_of_") + name);
    subgraph(choice, name, inner);
  };
  branch("then_branch", "Squeeze", {"x", "one"});
  branch("else_branch", else_op, {"x"});
  return model;
}

}  // namespace

TEST_CASE("the squeeze of an open dim has the squeezed rank, and a run with another extent is refused") {
  ModelWriter model = squeeze_of_open_dim("Identity");
  auto squeezed = run(model, {filled({2, 1}, 0)});
  REQUIRE(std::holds_alternative<std::vector<HostTensor>>(squeezed));
  CHECK(std::get<std::vector<HostTensor>>(squeezed)[0].shape == std::vector<int64_t>{2});
  CHECK(std::holds_alternative<relax::RunFault>(run(model, {filled({2, 3}, 0)})));
}

TEST_CASE("branches of different rank are refused where no squeeze says which one is meant") {
  CHECK_THAT(refusal(squeeze_of_open_dim("Neg")), Catch::Contains("type and rank must agree"));
}

namespace {

/// An If whose branches give x as it is and with a dim of 1 in front, and what `rest` makes of its result "z".
ModelWriter branches_of_two_ranks(const std::function<void(ModelWriter&)>& rest) {
  ModelWriter model;
  model.input("x", {"n", "m"}).input("c", {}, onnx::TensorProto::BOOL);
  model.tensor("zero", {1}, onnx::TensorProto::INT64).add_int64_data(0);
  onnx::NodeProto& choice = model.node("If", {"c"}, {"z"});
  auto branch = [&](const char* name, const char* op, std::vector<std::string> inputs) {
    ModelWriter inner;
    inner.node(op, std::move(inputs), {"t"});
    inner.graph().add_output()->set_name("t");
    subgraph(choice, name, inner);
  };
  branch("then_branch", "Unsqueeze", {"x", "zero"});
  branch("else_branch", "Identity", {"x"});
  rest(model);
  return model;
}

}  // namespace

TEST_CASE("what depends on a result of two ranks is computed in the branch that gives it") {
  ModelWriter model = branches_of_two_ranks([](ModelWriter& m) {
    m.output("sum", {}).output("doubled", {"k"}).output("rank", {1}, onnx::TensorProto::INT64).output("y", {"n", "m"});
    integer(m.node("ReduceSum", {"z"}, {"sum"}), "keepdims", 0);
    m.node("Add", {"z", "z"}, {"zz"});
    m.tensor("flat", {1}, onnx::TensorProto::INT64).add_int64_data(-1);
    m.node("Reshape", {"zz", "flat"}, {"doubled"});
    m.node("Shape", {"z"}, {"dims"});
    m.node("Shape", {"dims"}, {"rank"});
    m.node("Neg", {"x"}, {"y"});  // no part of it
  });
  for (bool squeezed : {false, true}) {
    std::vector<HostTensor> made = results(model, {floats({2, 2}, {1, 2, 3, 4}), truth(!squeezed)});
    CHECK(numbers_of<float>(made[0]) == std::vector<float>{10});
    CHECK(numbers_of<float>(made[1]) == std::vector<float>{2, 4, 6, 8});
    CHECK(numbers_of<int64_t>(made[2]) == std::vector<int64_t>{squeezed ? 2 : 3});
    CHECK(numbers_of<float>(made[3]) == std::vector<float>{-1, -2, -3, -4});
  }
}

TEST_CASE("a branch whose rank does not fit what depends on it is one that no run may take") {
  ModelWriter model = branches_of_two_ranks([](ModelWriter& m) {
    m.input("w", {"m", 3}).output("y", {"n", 3});
    m.node("Gemm", {"z", "w"}, {"y"});
  });
  CHECK_THAT(remarks(model), Catch::Contains("does not fit their ranks in the then branch"));
  std::vector<HostTensor> inputs{filled({2, 2}, 1), truth(false), filled({2, 3}, 1)};
  CHECK(results(model, inputs)[0].shape == std::vector<int64_t>{2, 3});
  inputs[1] = truth(true);
  CHECK(std::holds_alternative<relax::RunFault>(run(model, inputs)));
}

TEST_CASE("results of two ranks that depend on each other nest, and too many of them are refused") {
  for (int count : {2, 7}) {
    ModelWriter model = branches_of_two_ranks([&](ModelWriter& m) {
      m.output("sum", {});
      std::string last = "z";
      for (int i = 1; i < count; ++i) {
        onnx::NodeProto& choice = m.node("If", {"c"}, {"z" + std::to_string(i)});
        for (const char* name : {"then_branch", "else_branch"}) {
          ModelWriter inner;
          bool then = std::string(name) == "then_branch";
          inner.node(then ? "Unsqueeze" : "Identity",
                     then ? std::vector<std::string>{last, "zero"} : std::vector<std::string>{last}, {"t"});
          inner.graph().add_output()->set_name("t");
          subgraph(choice, name, inner);
        }
        last = choice.output(0);
      }
      integer(m.node("ReduceSum", {last}, {"sum"}), "keepdims", 0);
    });
    if (count == 7)
      CHECK_THAT(refusal(model), Catch::Contains("more than 6 branches of different rank"));
    else
      CHECK(numbers_of<float>(results(model, {floats({1, 2}, {1, 2}), truth(true)})[0]) == std::vector<float>{3});
  }
}

TEST_CASE("Scan of opset 8 ends each member of the batch at its length") {
  ModelWriter model(8), body;
  model.input("n", {2}, onnx::TensorProto::INT64).input("s", {2, 1}).input("x", {2, 3, 1});
  model.output("last", {2, 1}).output("sums", {2, 3, 1});
  body.input("sum", {1}).input("here", {1}).output("next", {1}).output("seen", {1});
  body.node("Add", {"sum", "here"}, {"next"});
  body.node("Identity", {"next"}, {"seen"});
  auto& scan = model.node("Scan", {"n", "s", "x"}, {"last", "sums"});
  subgraph(scan, "body", body);
  integer(scan, "num_scan_inputs", 1);
  auto inputs = [](int64_t length) {
    return std::vector<HostTensor>{int64s({2}, {length, 3}), floats({2, 1}, {10, 0}),
                                   floats({2, 3, 1}, {1, 2, 3, 4, 5, 6})};
  };
  std::vector<HostTensor> y = results(model, inputs(2));
  CHECK(numbers_of<float>(y[0]) == std::vector<float>{13, 15});
  CHECK(numbers_of<float>(y[1]) == std::vector<float>{11, 13, 0, 4, 9, 15});
  CHECK(numbers_of<float>(results(model, inputs(0))[0]) == std::vector<float>{10, 15});
  for (int64_t length : {-1, 4}) CHECK(std::holds_alternative<relax::RunFault>(run(model, inputs(length))));
}

TEST_CASE("one number with dims in one branch only has them in both") {
  ModelWriter model, with, without;
  model.input("c", {}, onnx::TensorProto::BOOL).input("x", {}).output("y", {1});
  model.tensor("one", {1}, onnx::TensorProto::INT64).add_int64_data(1);
  with.node("Reshape", {"x", "one"}, {"a"});
  with.graph().add_output()->set_name("a");
  without.node("Neg", {"x"}, {"b"});
  without.graph().add_output()->set_name("b");
  auto& choice = model.node("If", {"c"}, {"y"});
  subgraph(choice, "then_branch", with);
  subgraph(choice, "else_branch", without);
  for (bool condition : {false, true}) {
    HostTensor y = results(model, {truth(condition), floats({}, {3})})[0];
    CHECK(y.shape == std::vector<int64_t>{1});
    CHECK(numbers_of<float>(y)[0] == (condition ? 3 : -3));
  }
  CHECK_THAT(remarks(model), Catch::Contains("one number with 1 dims and without"));
}
