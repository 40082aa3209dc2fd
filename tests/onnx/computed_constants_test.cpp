// computed_constants_test.cpp: sizes that a model computes of constants are numbers while importing, whatever operators
// compute them, and in every operator that takes sizes.
#include <catch2/catch.hpp>

#include "compiler/ops/op_table.h"
#include "tests/onnx/imported.h"

using namespace relaxc;
using namespace relaxc::onnx_tests;
using Numbers = std::vector<int64_t>;

namespace {

void constant(ModelWriter& model, const std::string& name, const std::vector<float>& values) {
  auto& made = model.tensor(name, {static_cast<int64_t>(values.size())});
  for (float value : values) made.add_float_data(value);
}

void constant(ModelWriter& model, const std::string& name, const Numbers& values) {
  auto& made = model.tensor(name, {static_cast<int64_t>(values.size())}, onnx::TensorProto::INT64);
  for (int64_t value : values) made.add_int64_data(value);
}

/// "size" = [2, 3], from floats "f".
void from_floats(ModelWriter& model) {
  integer(model.node("Cast", {"f"}, {"size"}), "to", onnx::TensorProto::INT64);
}

/// The ways to a size that exporters write.
const std::vector<std::pair<const char*, void (*)(ModelWriter&)>> kWays = {
    {"a rounded quotient",
     [](ModelWriter& m) {
       constant(m, "a", std::vector<float>{15, 24}), constant(m, "b", std::vector<float>{8, 8});
       m.node("Div", {"a", "b"}, {"q"}), m.node("Ceil", {"q"}, {"f"}), from_floats(m);
     }},
    {"a maximum of each row",
     [](ModelWriter& m) {
       auto& table = m.tensor("table", {2, 2});
       for (float value : {2.F, 1.F, -4.F, 3.F}) table.add_float_data(value);
       auto& node = m.node("ReduceMax", {"table"}, {"f"});
       ints(node, "axes", {1}), integer(node, "keepdims", 0), from_floats(m);
     }},
    {"a root",
     [](ModelWriter& m) {
       constant(m, "a", std::vector<float>{4, 9}), m.node("Sqrt", {"a"}, {"f"}), from_floats(m);
     }},
    {"a product of integers and floats",
     [](ModelWriter& m) {
       constant(m, "a", Numbers{4, 6}), constant(m, "half", std::vector<float>{0.5F});
       integer(m.node("Cast", {"a"}, {"af"}), "to", onnx::TensorProto::FLOAT);
       m.node("Mul", {"af", "half"}, {"p"}), m.node("Floor", {"p"}, {"f"}), from_floats(m);
     }},
    {"the largest ones of a list",
     [](ModelWriter& m) {
       constant(m, "list", std::vector<float>{1, 2, 3}), constant(m, "k", Numbers{2});
       integer(m.node("TopK", {"list", "k"}, {"f", ""}), "sorted", 1);
       integer(m.node("Cast", {"f"}, {"reversed"}), "to", onnx::TensorProto::INT64);
       constant(m, "order", Numbers{1, 0}), m.node("Gather", {"reversed", "order"}, {"size"});
     }},
};

/// What makes "y" of "size", and of "x", a float of shape [6, 1], and of one with the shape that follows.
struct Consumer {
  const char* op;
  std::vector<std::string> inputs;
  Numbers shape;
};
const std::vector<Consumer> kConsumers = {
    {"Reshape", {"x", "size"}, {2, 3}},
    {"Expand", {"one", "size"}, {2, 3}},
    {"ConstantOfShape", {"size"}, {2, 3}},
    {"Tile", {"x", "size"}, {12, 3}},
    {"Slice", {"x", "zeros", "size"}, {2, 1}},
    {"Resize", {"x", "", "", "size"}, {2, 3}},
    {"Pad", {"x", "pads"}, {8, 4}},
};

/// A model whose "y" is what `consumer` makes.
ModelWriter model_of(void (*way)(ModelWriter&), const Consumer& consumer) {
  ModelWriter model;
  model.input("x", {6, 1}).output("y", {"h", "w"});
  way(model);
  constant(model, "one", std::vector<float>{1}), constant(model, "zeros", Numbers{0, 0});
  integer(model.node("Concat", {"zeros", "size"}, {"pads"}), "axis", 0);
  model.node(consumer.op, consumer.inputs, {"y"});
  return model;
}

/// The operators of the imported model that users see, and the shape of its result; 0 for a dim that is not a number.
struct Imported {
  std::vector<std::string> ops;
  Numbers shape;
};
Imported imported(const ModelWriter& model) {
  relax::OpTable ops = ops::op_table();
  Diagnostics diag;
  ModelFolder folder;
  Result<relax::Module> module = frontend::import_onnx(folder.write("model.onnx", model.bytes()), {}, ops, diag);
  INFO(render(diag));
  REQUIRE(module);
  Imported out;
  relax::Region& body = module->find_function("main")->body();
  for (const relax::Block* block : body.blocks)
    for (const relax::Op* op : block->ops)
      if (op->kind == relax::OpKind::kOperator && !op->result()->uses().empty())
        out.ops.emplace_back(op->def->name.text());
  for (arith::Expr dim : body.yield->operand(0)->shape())
    out.shape.push_back(dim.constant() != nullptr ? *dim.constant() : 0);
  return out;
}

}  // namespace

TEST_CASE("sizes that are computed of constants are numbers") {
  for (const auto& [name, way] : kWays)
    for (const Consumer& consumer : kConsumers) {
      INFO(name << ", " << consumer.op);
      CHECK(imported(model_of(way, consumer)).shape == consumer.shape);
      CHECK(results(model_of(way, consumer), {filled({6, 1}, 2)})[0].shape == consumer.shape);
    }
}

TEST_CASE("a branch that numbers decide is the only one") {
  ModelWriter model, yes, no;
  model.input("x", {2}).output("y", {2});
  constant(model, "a", std::vector<float>{1.5F}), constant(model, "b", std::vector<float>{2});
  model.node("Less", {"a", "b"}, {"c"});
  for (ModelWriter* branch : {&yes, &no}) {
    branch->node(branch == &yes ? "Neg" : "Abs", {"x"}, {"z"});
    branch->output("z", {2});
  }
  auto& node = model.node("If", {"c"}, {"y"});
  subgraph(node, "then_branch", yes), subgraph(node, "else_branch", no);
  CHECK(imported(model).ops == std::vector<std::string>{"negative"});
}

TEST_CASE("an operator that refuses its constants is left to the run") {
  ModelWriter model;
  model.output("y", {1});
  constant(model, "list", std::vector<float>{1, 2}), constant(model, "at", Numbers{7});
  model.node("Gather", {"list", "at"}, {"y"});
  CHECK(imported(model).ops == std::vector<std::string>{"take"});
  CHECK(std::holds_alternative<relax::RunFault>(run(model)));
}

TEST_CASE("stored integers stay as they are until quantization is recognized") {
  ModelWriter model;
  model.output("y", {2});
  auto& stored = model.tensor("stored", {2}, onnx::TensorProto::INT8);
  stored.add_int32_data(3), stored.add_int32_data(-3);
  model.tensor("scale", {}).add_float_data(0.5F);
  model.node("DequantizeLinear", {"stored", "scale"}, {"y"});
  CHECK(imported(model).ops == std::vector<std::string>{"dequantize"});
  CHECK(numbers_of<float>(results(model)[0]) == std::vector<float>{1.5F, -1.5F});
}
