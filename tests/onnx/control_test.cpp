// control_test.cpp: control flow that ONNX's own tests leave out.
#include <catch2/catch.hpp>
#include <cstring>

#include "compiler/ops/op_table.h"
#include "compiler/relax/interpret.h"
#include "frontends/onnx/import.h"
#include "tests/onnx/models.h"

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
    onnx::AttributeProto& attribute = *choice.add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx::AttributeProto::GRAPH);
    ModelWriter inner;
    inner.node(op, std::move(inputs), {std::string("y_of_") + name});
    inner.graph().add_output()->set_name(std::string("y_of_") + name);
    *attribute.mutable_g() = inner.graph();
  };
  branch("then_branch", "Squeeze", {"x", "one"});
  branch("else_branch", else_op, {"x"});
  return model;
}

std::variant<std::vector<HostTensor>, relax::RunFault> run(const ModelWriter& model, int64_t n) {
  relax::OpTable ops = ops::op_table();
  TemporaryFolder folder;
  Diagnostics diag;
  Result<relax::Module> module = frontend::import_onnx(folder.write("model.onnx", model.bytes()), {}, ops, diag);
  INFO(render(diag));
  REQUIRE(module);
  std::vector<HostTensor> inputs{{DType::f(32), {2, n}, std::vector<std::byte>(static_cast<size_t>(8 * n))}};
  auto interpreter = tir::make_interpreter();
  return relax::interpret(*module, ops, *module->find_function("main"), inputs, *interpreter);
}

}  // namespace

TEST_CASE("the squeeze of an open dim has the squeezed rank, and a run with another extent is refused") {
  ModelWriter model = squeeze_of_open_dim("Identity");
  auto squeezed = run(model, 1);
  REQUIRE(std::holds_alternative<std::vector<HostTensor>>(squeezed));
  CHECK(std::get<std::vector<HostTensor>>(squeezed)[0].shape == std::vector<int64_t>{2});
  CHECK(std::holds_alternative<relax::RunFault>(run(model, 3)));
}

TEST_CASE("branches of different rank are refused where no squeeze says which one is meant") {
  relax::OpTable ops = ops::op_table();
  TemporaryFolder folder;
  Diagnostics diag;
  CHECK_FALSE(frontend::import_onnx(folder.write("model.onnx", squeeze_of_open_dim("Neg").bytes()), {}, ops, diag));
  CHECK_THAT(render(diag), Catch::Contains("type and rank must agree"));
}
