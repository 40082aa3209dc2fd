// control_test.cpp: control flow that ONNX's own tests leave out.
#include <catch2/catch.hpp>

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
