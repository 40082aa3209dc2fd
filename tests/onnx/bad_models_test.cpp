// bad_models_test.cpp: files that are no models, and models that are wrong: each must give its message, and never
// crash.
#include <catch2/catch.hpp>
#include <functional>
#include <random>

#include "compiler/ops/op_table.h"
#include "frontends/onnx/converter.h"
#include "frontends/onnx/import.h"
#include "frontends/onnx/signature.h"
#include "tests/onnx/models.h"

using namespace relaxc;
using namespace relaxc::onnx_tests;
using onnx::TensorProto;

namespace {

/// The messages of an import that must fail, rendered.
std::string refused(const std::string& path) {
  static const relax::OpTable ops = ops::op_table();
  Diagnostics diag;
  Result<relax::Module> module = frontend::import_onnx(path, {}, ops, diag);
  CHECK_FALSE(module);
  CHECK(diag.has_errors());
  return render(diag);
}

std::string refused(const ModelWriter& model) {
  ModelFolder folder;
  return refused(folder.write("model.onnx", model.bytes()));
}

using Catch::Contains;

/// y = Relu(x) for x: float[2, 3].
ModelWriter relu_model() {
  ModelWriter model;
  model.input("x", {2, 3}).output("y", {2, 3});
  model.node("Relu", {"x"}, {"y"});
  return model;
}

}  // namespace

TEST_CASE("lists of one number for each channel or batch that have no dim are refused") {
  ModelWriter deformed(19);
  deformed.input("x", {1, 1, 3, 3}).input("w", {1, 1, 2, 2}).input("offset", {1, 8, 2, 2}).input("bias", {});
  deformed.output("y", {1, 1, 2, 2});
  deformed.node("DeformConv", {"x", "w", "offset", "bias"}, {"y"});
  CHECK_THAT(refused(deformed), Contains("the bias"));

  ModelWriter attention(24);
  attention.input("q", {1, 1, 2, 4}).input("k", {1, 1, 2, 4}).input("v", {1, 1, 2, 4});
  attention.input("lengths", {}, TensorProto::INT64).output("y", {1, 1, 2, 4});
  attention.node("Attention", {"q", "k", "v", "", "", "", "lengths"}, {"y"});
  CHECK_THAT(refused(attention), Contains("nonpad_kv_seqlen"));
}

TEST_CASE("a constant without a value is refused, and so is a sparse one") {
  ModelWriter model;
  model.output("y", {2});
  model.node("Constant", {}, {"y"});
  CHECK_THAT(refused(model), Contains("a Constant needs an attribute with its value"));

  ModelWriter sparse;
  sparse.output("y", {2});
  onnx::AttributeProto& value = *sparse.node("Constant", {}, {"y"}).add_attribute();
  value.set_name("sparse_value");
  value.set_type(onnx::AttributeProto::SPARSE_TENSOR);
  value.mutable_sparse_tensor();
  CHECK_THAT(refused(sparse), Contains("sparse constants are not supported"));
}

TEST_CASE("SplitToSequence is read where its output is not used") {
  ModelWriter model = relu_model();
  onnx::NodeProto& split = model.node("SplitToSequence", {"x"}, {""});
  attribute(split, "keepdims", onnx::AttributeProto::INT).set_i(0);
  ModelFolder folder;
  static const relax::OpTable ops = ops::op_table();
  Diagnostics diag;
  CHECK(frontend::import_onnx(folder.write("model.onnx", model.bytes()), {}, ops, diag));
}

TEST_CASE("a file that does not exist is named with the system's reason") {
  CHECK_THAT(refused("/nonexistent/model.onnx"), Contains("cannot open") && Contains("No such file"));
}

TEST_CASE("a folder is not a model") {
  ModelFolder folder;
  CHECK_THAT(refused(folder.path().string()), Contains("not a regular file"));
}

TEST_CASE("an empty file is refused") {
  ModelFolder folder;
  CHECK_THAT(refused(folder.write("model.onnx", "")), Contains("the file is empty"));
}

TEST_CASE("a text file called .onnx is recognized as text") {
  ModelFolder folder;
  CHECK_THAT(refused(folder.write("model.onnx", "hello, this is no model\n")),
             Contains("not an ONNX model") && Contains("it is a text file"));
  CHECK_THAT(refused(folder.write("lfs.onnx", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n")),
             Contains("Git LFS pointer"));
}

TEST_CASE("random bytes are refused") {
  ModelFolder folder;
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::string bytes(1 + random() % 300, 0);
    for (char& c : bytes) c = static_cast<char>(random());
    refused(folder.write("model.onnx", bytes));
  }
}

TEST_CASE("a model cut off anywhere is refused or misses something") {
  ModelFolder folder;
  ModelWriter model = relu_model();
  model.tensor("w", {2}).set_raw_data(std::string(8, 0));
  std::string whole = model.bytes();
  for (size_t length = 1; length < whole.size(); ++length) {
    INFO("the first " << length << " bytes");
    static const relax::OpTable ops = ops::op_table();
    Diagnostics diag;
    Result<relax::Module> module =
        frontend::import_onnx(folder.write("model.onnx", whole.substr(0, length)), {}, ops, diag);
    CHECK(bool(module) != diag.has_errors());
  }
  CHECK_THAT(refused(folder.write("model.onnx", whole.substr(0, whole.size() / 2))), Contains("truncated"));
}

TEST_CASE("single changed bytes never crash the import") {
  ModelFolder folder;
  ModelWriter model = relu_model();
  model.tensor("w", {2}).set_raw_data(std::string(8, 0));
  std::string whole = model.bytes();
  static const relax::OpTable ops = ops::op_table();
  std::mt19937 random(11);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes = whole;
    bytes[random() % bytes.size()] = static_cast<char>(random());
    Diagnostics diag;
    Result<relax::Module> module = frontend::import_onnx(folder.write("model.onnx", bytes), {}, ops, diag);
    CHECK((bool(module) || diag.has_errors()));
  }
}

TEST_CASE("an unknown operator and an unknown domain are named") {
  ModelWriter model;
  model.input("x", {2}).output("y", {2});
  model.node("Frobnicate", {"x"}, {"y"});
  CHECK_THAT(refused(model), Contains("node 'Frobnicate_1' (Frobnicate, opset 17)") && Contains("no converter"));
  model.graph().mutable_node(0)->set_domain("org.example");
  CHECK_THAT(refused(model), Contains("(org.example.Frobnicate") && Contains("imports no opset of domain"));
}

TEST_CASE("an opset of the future is refused") {
  ModelWriter model(99);
  model.input("x", {2}).output("y", {2});
  model.node("Relu", {"x"}, {"y"});
  CHECK_THAT(refused(model), Contains("opset 99") && Contains("1 to 28"));
}

TEST_CASE("operands of two types are refused at the node, with their types") {
  ModelWriter model;
  model.input("x", {2}).input("i", {2}, TensorProto::INT64).output("y", {2});
  model.node("Add", {"x", "i"}, {"y"});
  CHECK_THAT(refused(model),
             Contains("node 'Add_1'") && Contains("float32") && Contains("int64") && Contains("inputs: x: "));
}

TEST_CASE("an output of another type than declared is refused") {
  ModelWriter model;
  model.input("x", {2}).output("y", {2}, TensorProto::INT64);
  model.node("Relu", {"x"}, {"y"});
  CHECK_THAT(refused(model), Contains("output 'y' is declared as int64, but the nodes give float32"));
}

TEST_CASE("an element type that does not exist is refused") {
  ModelWriter model;
  model.input("x", {2}, 77).output("y", {2});
  model.node("Relu", {"x"}, {"y"});
  CHECK_THAT(refused(model), Contains("no element type with number 77"));
}

TEST_CASE("shapes that contradict each other are refused at the node") {
  ModelWriter model;
  model.input("a", {2, 3}).input("b", {4, 5}).output("y", {2, 5});
  model.node("MatMul", {"a", "b"}, {"y"});
  CHECK_THAT(refused(model), Contains("node 'MatMul_1'") && Contains("3") && Contains("4"));
}

TEST_CASE("a cycle is named by its nodes") {
  ModelWriter model;
  model.input("x", {2}).output("y", {2});
  model.node("Add", {"x", "b"}, {"a"});
  model.node("Relu", {"a"}, {"b"});
  model.node("Relu", {"a"}, {"y"});
  CHECK_THAT(refused(model), Contains("cycle") && Contains("'Add_1'") && Contains("'Relu_2'"));
}

TEST_CASE("nodes in the wrong order are sorted, with a warning") {
  ModelWriter model;
  model.input("x", {2}).output("y", {2});
  model.node("Relu", {"a"}, {"y"});
  model.node("Neg", {"x"}, {"a"});
  ModelFolder folder;
  relax::OpTable ops = ops::op_table();
  Diagnostics diag;
  CHECK(frontend::import_onnx(folder.write("model.onnx", model.bytes()), {}, ops, diag));
  CHECK_THAT(render(diag), Contains("warning") && Contains("topological order") && Contains("'Relu_1'"));
}

TEST_CASE("an input that nothing makes is named") {
  ModelWriter model;
  model.input("x", {2}).output("y", {2});
  model.node("Add", {"x", "ghost"}, {"y"});
  CHECK_THAT(refused(model), Contains("'ghost' is not made by a node"));
  model = relu_model();
  model.output("z", {2});
  CHECK_THAT(refused(model), Contains("output 'z' of the graph is not made by any node"));
}

TEST_CASE("too few and too many inputs of a node are refused") {
  ModelWriter model;
  model.input("x", {2}).output("y", {2});
  model.node("Add", {"x"}, {"y"});
  CHECK_THAT(refused(model), Contains("node 'Add_1'") && Contains("missing"));
}

TEST_CASE("a name given twice is refused") {
  ModelWriter model = relu_model();
  model.node("Neg", {"x"}, {"y"});
  CHECK_THAT(refused(model), Contains("'y' is the name of another value"));
  model = relu_model();
  model.input("x", {2});
  CHECK_THAT(refused(model), Contains("the name 'x' is given to two values"));
}

TEST_CASE("negative dims are refused") {
  ModelWriter model;
  model.input("x", {2, -5}).output("y", {2});
  model.node("Relu", {"x"}, {"y"});
  CHECK_THAT(refused(model), Contains("dim 1 of 'x' is negative: -5"));
  model = relu_model();
  model.tensor("w", {-3});
  CHECK_THAT(refused(model), Contains("'w' has a negative dim, -3"));
}

TEST_CASE("sizes that overflow are refused") {
  ModelWriter model;
  model.input("x", {int64_t{1} << 40, int64_t{1} << 40}).output("y", {2});
  model.node("Relu", {"x"}, {"y"});
  CHECK_THAT(refused(model), Contains("size of input 'x' overflows"));
  model = relu_model();
  model.tensor("w", {int64_t{1} << 62, 16});
  CHECK_THAT(refused(model), Contains("size of tensor 'w' overflows"));
}

TEST_CASE("a tensor whose bytes do not fit its shape is refused") {
  ModelWriter model = relu_model();
  model.tensor("w", {4}).set_raw_data(std::string(12, 0));
  CHECK_THAT(refused(model), Contains("'w' has 12 bytes of raw data, but its shape and type need 16"));
  model = relu_model();
  model.tensor("v", {4}).add_float_data(1);
  CHECK_THAT(refused(model), Contains("'v' has 1 values, but its shape needs 4"));
}

TEST_CASE("external data must exist, be long enough and be in the model's folder") {
  ModelFolder outside, folder;
  outside.write("secret.bin", std::string(16, 0));
  folder.write("short.bin", std::string(8, 0));
  auto with = [&](const std::string& location, const std::string& offset = "", const std::string& length = "") {
    ModelWriter model = relu_model();
    set_external(model.tensor("w", {4}), location, offset, length);
    return refused(folder.write("model.onnx", model.bytes()));
  };
  CHECK_THAT(with("missing.bin"), Contains("cannot read external data 'missing.bin'"));
  CHECK_THAT(with("short.bin"), Contains("which has only 8"));
  CHECK_THAT(with("short.bin", "99999999999999999999"), Contains("not a byte count"));
  CHECK_THAT(with("short.bin", "18446744073709551615"), Contains("which has only 8"));
  CHECK_THAT(with("short.bin", "0", "8"), Contains("8 bytes of external data"));
  CHECK_THAT(with(""), Contains("names no file"));
  CHECK_THAT(with((outside.path() / "secret.bin").string()), Contains("outside of the model's folder"));
  CHECK_THAT(with("../" + outside.path().filename().string() + "/secret.bin"),
             Contains("outside of the model's folder"));
  std::filesystem::create_symlink(outside.path() / "secret.bin", folder.path() / "link.bin");
  CHECK_THAT(with("link.bin"), Contains("it is a symbolic link"));
}

TEST_CASE("external data that is right is a reference, and a file that was read") {
  ModelFolder folder;
  std::string data = folder.write("weights.bin", std::string(24, 1));
  ModelWriter model;
  model.input("x", {2, 4}).output("y", {2, 4});
  set_external(model.tensor("w", {4}), "weights.bin", "8", "16");
  model.node("Add", {"x", "w"}, {"y"});
  relax::OpTable ops = ops::op_table();
  Diagnostics diag;
  std::vector<relax::FileRef> files;
  std::string path = folder.write("model.onnx", model.bytes());
  CHECK(frontend::import_onnx(path, {}, ops, diag, &files));
  REQUIRE(files.size() == 2);
  CHECK(files[0]->path() == path);
  CHECK(files[1]->path() == data);
}

TEST_CASE("all reasons are reported, and none that only follows from another") {
  ModelWriter model;
  model.input("x", {2, 3}).input("b", {4, 5}).output("y", {2}).output("z", {2});
  model.node("Frobnicate", {"x"}, {"a"});
  model.node("Relu", {"a"}, {"y"});
  model.node("MatMul", {"x", "b"}, {"z"});
  std::string text = refused(model);
  CHECK_THAT(text, Contains("Frobnicate_1") && Contains("MatMul_3"));
  CHECK_THAT(text, !Contains("Relu_2"));
}

TEST_CASE("every operator that is converted has a signature, unless no standard has it") {
  frontend::SignatureTable signatures;
  frontend::ConverterTable converters = frontend::converter_table();
  for (const frontend::Converter* row : converters.all()) {
    INFO(row->domain << " " << row->name);
    bool known = signatures.find(row->domain, row->name, 28).has_value();
    CHECK((known || row->note == "refused" || row->name == "Erfc"));
  }
}

TEST_CASE("a node is checked against its operator's signature") {
  auto relu = [](const std::function<void(onnx::NodeProto&)>& spoil) {
    ModelWriter model = relu_model();
    spoil(*model.graph().mutable_node(0));
    return refused(model);
  };
  auto leaky = [&](const std::function<void(onnx::NodeProto&)>& spoil) {
    return relu([&](onnx::NodeProto& node) {
      node.set_op_type("LeakyRelu");
      spoil(node);
    });
  };
  CHECK_THAT(relu([](auto& node) { node.add_input("x"); }),
             Contains("the operator has 1 input (X), but the node has 2"));
  CHECK_THAT(relu([](auto& node) { node.add_output("z"); }), Contains("1 output (Y), but the node has 2"));
  CHECK_THAT(relu([](auto& node) { node.clear_input(); }), Contains("input 0 ('X') is missing"));
  CHECK_THAT(relu([](auto& node) { node.clear_output(); }), Contains("output 0 ('Y') is missing"));
  CHECK_THAT(relu([](auto& node) { number(node, "alpha", 1); }),
             Contains("attribute 'alpha' is not one of the operator's: it has none"));
  CHECK_THAT(leaky([](auto& node) { number(node, "alhpa", 1); }), Contains("did you mean 'alpha'?"));
  CHECK_THAT(leaky([](auto& node) { integer(node, "alpha", 1); }), Contains("must be of type float, found int"));
  CHECK_THAT(leaky([](auto& node) { attribute(node, "alpha", onnx::AttributeProto::FLOAT).set_i(1); }),
             Contains("is of type float, but does not hold one"));
  CHECK_THAT(leaky([](auto& node) { number(node, "alpha", 1), number(node, "alpha", 1); }), Contains("given twice"));
  CHECK_THAT(
      leaky([](auto& node) { attribute(node, "alpha", onnx::AttributeProto::FLOAT).set_ref_attr_name("outer"); }),
      Contains("refers to attribute 'outer' of a function, but the node is not in a function"));
}

TEST_CASE("attributes that are notes of a tool, and types that old files leave out, are passed over") {
  ModelFolder folder;
  ModelWriter model = relu_model();
  onnx::NodeProto& node = *model.graph().mutable_node(0);
  node.set_op_type("LeakyRelu");
  word(node, "__backend", "any");
  onnx::AttributeProto& alpha = *node.add_attribute();
  alpha.set_name("alpha");
  alpha.set_f(0.5);
  relax::OpTable ops = ops::op_table();
  Diagnostics diag;
  CHECK(frontend::import_onnx(folder.write("model.onnx", model.bytes()), {}, ops, diag));
  CHECK(diag.all().empty());
}

TEST_CASE("a function that calls itself is refused") {
  ModelWriter model;
  model.input("x", {2}).output("y", {2});
  auto* import = model.proto.add_opset_import();
  import->set_domain("local");
  import->set_version(1);
  model.node("Again", {"x"}, {"y"}).set_domain("local");
  auto& function = *model.proto.add_functions();
  function.set_name("Again");
  function.set_domain("local");
  function.add_input("a");
  function.add_output("b");
  *function.add_opset_import() = *import;
  auto& inner = *function.add_node();
  inner.set_op_type("Again");
  inner.set_domain("local");
  inner.add_input("a");
  inner.add_output("b");
  CHECK_THAT(refused(model), Contains("calls itself"));
}

TEST_CASE("graphs that are not trees are refused") {
  using Ints = std::vector<int64_t>;
  auto tree = [](const Ints& yes, const Ints& no, int64_t target, int64_t feature) {
    ModelWriter model;
    model.input("x", {2, 3}).output("y", {2, 1});
    auto* import = model.proto.add_opset_import();
    import->set_domain("ai.onnx.ml");
    import->set_version(3);
    onnx::NodeProto& node = model.node("TreeEnsembleRegressor", {"x"}, {"y"});
    node.set_domain("ai.onnx.ml");
    auto list = [&](const char* name, onnx::AttributeProto::AttributeType type) -> onnx::AttributeProto& {
      onnx::AttributeProto& made = *node.add_attribute();
      made.set_name(name);
      made.set_type(type);
      return made;
    };
    auto ints = [&](const char* name, const Ints& values) {
      onnx::AttributeProto& made = list(name, onnx::AttributeProto::INTS);
      for (int64_t value : values) made.add_ints(value);
    };
    ints("nodes_treeids", {0, 0, 0});
    ints("nodes_nodeids", {0, 1, 2});
    ints("nodes_featureids", {feature, 0, 0});
    ints("nodes_truenodeids", yes);
    ints("nodes_falsenodeids", no);
    onnx::AttributeProto& modes = list("nodes_modes", onnx::AttributeProto::STRINGS);
    for (const char* mode : {"BRANCH_LEQ", "BRANCH_LEQ", "LEAF"}) modes.add_strings(mode);
    onnx::AttributeProto& values = list("nodes_values", onnx::AttributeProto::FLOATS);
    for (int i = 0; i < 3; ++i) values.add_floats(0);
    ints("target_treeids", {0});
    ints("target_nodeids", {2});
    ints("target_ids", {target});
    list("target_weights", onnx::AttributeProto::FLOATS).add_floats(1);
    return refused(model);
  };
  CHECK_THAT(tree({1, 1, 0}, {2, 2, 0}, 0, 0), Contains("node 1 of the trees is below itself"));
  CHECK_THAT(tree({2, 1, 0}, {2, 1, 0}, 0, 0), Contains("node 1 of the trees is below itself"));
  CHECK_THAT(tree({1, 7, 0}, {2, 2, 0}, 0, 0), Contains("tree 0 has no node 7, which follows node 1"));
  CHECK_THAT(tree({1, 2, 0}, {2, 2, 0}, 4, 0), Contains("a weight for target 4 of 1"));
  CHECK_THAT(tree({1, 2, 0}, {2, 2, 0}, 0, 3), Contains("asks for feature 3 of 3"));
  CHECK_THAT(tree({1, 2}, {2, 2, 0}, 0, 0), Contains("different lengths"));
}

TEST_CASE("a dim that is fixed must exist") {
  ModelFolder folder;
  ModelWriter model;
  model.input("x", {"batch", 3}).output("y", {"batch", 3});
  model.node("Relu", {"x"}, {"y"});
  std::string path = folder.write("model.onnx", model.bytes());
  relax::OpTable ops = ops::op_table();
  Diagnostics diag;
  frontend::ImportOptions options;
  options.dims = {{.name = "bath", .lower = 1, .upper = 1}};
  CHECK_FALSE(frontend::import_onnx(path, options, ops, diag));
  CHECK_THAT(render(diag), Contains("no dim is called 'bath'") && Contains("batch"));
}
