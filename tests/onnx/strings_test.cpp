// strings_test.cpp: operators on strings that ONNX's own tests leave out, and strings that are not within their bytes.
#include <catch2/catch.hpp>
#include <cstring>

#include "compiler/ops/op_table.h"
#include "compiler/relax/interpret.h"
#include "frontends/onnx/import.h"
#include "tests/onnx/models.h"

using namespace relaxc;
using namespace relaxc::onnx_tests;
using onnx::TensorProto;
using relax::HostTensor;

namespace {

template <typename T>
HostTensor tensor(DType dtype, std::vector<int64_t> shape, const std::vector<T>& values) {
  HostTensor made{dtype, std::move(shape), std::vector<std::byte>(values.size() * sizeof(T))};
  if (!values.empty()) std::memcpy(made.bytes.data(), values.data(), made.bytes.size());
  return made;
}
HostTensor int64s(std::vector<int64_t> shape, const std::vector<int64_t>& values) {
  return tensor(DType::i(64), std::move(shape), values);
}

/// A vector of strings as spans and bytes.
std::vector<HostTensor> text(const std::vector<std::string>& strings) {
  std::vector<int64_t> spans;
  std::vector<char> bytes;
  for (const std::string& string : strings) {
    spans.push_back(static_cast<int64_t>(bytes.size()));
    spans.push_back(static_cast<int64_t>(string.size()));
    bytes.insert(bytes.end(), string.begin(), string.end());
  }
  auto length = static_cast<int64_t>(bytes.size());
  return {int64s({static_cast<int64_t>(strings.size()), 2}, spans), tensor(DType::u(8), {length}, bytes)};
}

std::vector<std::string> strings_of(const HostTensor& spans, const HostTensor& bytes) {
  std::vector<std::string> strings;
  const auto* list = reinterpret_cast<const int64_t*>(spans.bytes.data());
  for (int64_t i = 0; i < spans.elements() / 2; ++i)
    strings.emplace_back(reinterpret_cast<const char*>(bytes.bytes.data()) + list[2 * i],
                         static_cast<size_t>(list[2 * i + 1]));
  return strings;
}
template <typename T>
std::vector<T> numbers_of(const HostTensor& x) {
  std::vector<T> values(x.bytes.size() / sizeof(T));
  std::memcpy(values.data(), x.bytes.data(), x.bytes.size());
  return values;
}

std::variant<std::vector<HostTensor>, relax::RunFault> run(const ModelWriter& model,
                                                           const std::vector<HostTensor>& inputs) {
  relax::OpTable ops = ops::op_table();
  TemporaryFolder folder;
  Diagnostics diag;
  Result<relax::Module> module = frontend::import_onnx(folder.write("model.onnx", model.bytes()), {}, ops, diag);
  INFO(render(diag));
  REQUIRE(module);
  auto interpreter = tir::make_interpreter();
  return relax::interpret(*module, ops, *module->find_function("main"), inputs, *interpreter);
}
std::vector<HostTensor> results(const ModelWriter& model, const std::vector<HostTensor>& inputs) {
  auto result = run(model, inputs);
  REQUIRE(std::holds_alternative<std::vector<HostTensor>>(result));
  return std::get<std::vector<HostTensor>>(result);
}

void strings(onnx::NodeProto& node, const std::string& name, const std::vector<std::string>& values) {
  auto& attribute = *node.add_attribute();
  attribute.set_name(name);
  for (const std::string& value : values) attribute.add_strings(value);
}
void ints(onnx::NodeProto& node, const std::string& name, const std::vector<int64_t>& values) {
  auto& attribute = *node.add_attribute();
  attribute.set_name(name);
  for (int64_t value : values) attribute.add_ints(value);
}

ModelWriter ml_model(int64_t opset) {
  ModelWriter model;
  auto& import = *model.proto.add_opset_import();
  import.set_domain("ai.onnx.ml");
  import.set_version(opset);
  return model;
}

}  // namespace

TEST_CASE("spans that are not within their bytes end the run") {
  ModelWriter model;
  model.input("x", {"n"}, TensorProto::STRING).output("y", {"n"}, TensorProto::BOOL);
  model.node("RegexFullMatch", {"x"}, {"y"}).add_attribute()->set_name("pattern");
  std::vector<HostTensor> inputs = text({"ab", "", "c"});
  CHECK(numbers_of<uint8_t>(results(model, inputs)[0]) == std::vector<uint8_t>{0, 1, 0});
  for (auto [begin, length] : std::vector<std::pair<int64_t, int64_t>>{
           {4, 0}, {-1, 1}, {0, -1}, {2, 2}, {3, 1}, {INT64_MAX, 1}, {1, INT64_MAX}, {INT64_MIN, 0}}) {
    inputs[0] = int64s({1, 2}, {begin, length});
    auto result = run(model, inputs);
    REQUIRE(std::holds_alternative<relax::RunFault>(result));
    CHECK(std::get<relax::RunFault>(result).status.code == 32);
  }
}

TEST_CASE("spans may overlap and lie in any order") {
  ModelWriter model;
  model.input("x", {"n"}, TensorProto::STRING).output("y", {"n"}, TensorProto::STRING);
  model.node("StringConcat", {"x", "x"}, {"y"});
  std::vector<HostTensor> inputs = text({"abc"});
  inputs[0] = int64s({3, 2}, {1, 2, 0, 3, 3, 0});
  std::vector<HostTensor> y = results(model, inputs);
  CHECK(strings_of(y[0], y[1]) == std::vector<std::string>{"bcbc", "abcabc", ""});
}

TEST_CASE("constants, inputs and both branches of an If are strings") {
  ModelWriter model;
  model.input("x", {2}, TensorProto::STRING).input("c", {}, TensorProto::BOOL).output("y", {2}, TensorProto::STRING);
  auto& node = model.node("If", {"c"}, {"y"});
  for (const char* name : {"then_branch", "else_branch"}) {
    auto& attribute = *node.add_attribute();
    attribute.set_name(name);
    auto& branch = *attribute.mutable_g();
    auto& inner = *branch.add_node();
    inner.add_output("z");
    branch.add_output()->set_name("z");
    inner.set_op_type(name[0] == 't' ? "Identity" : "Constant");
    if (name[0] == 't') inner.add_input("x");
    if (name[0] == 'e') strings(inner, "value_strings", {"left", "right"});
  }
  for (uint8_t condition : {0, 1}) {
    std::vector<HostTensor> inputs = text({"p", "qq"});
    inputs.push_back(tensor(DType::boolean(), {}, std::vector<uint8_t>{condition}));
    std::vector<HostTensor> y = results(model, inputs);
    auto expected = condition ? std::vector<std::string>{"p", "qq"} : std::vector<std::string>{"left", "right"};
    CHECK(strings_of(y[0], y[1]) == expected);
  }
}

TEST_CASE("StringSplit counts what maxsplit leaves, and whitespace of all kinds") {
  ModelWriter model;
  model.input("x", {"n"}, TensorProto::STRING);
  model.output("y", {"n", "m"}, TensorProto::STRING).output("k", {"n"}, TensorProto::INT64);
  auto& most = *model.node("StringSplit", {"x"}, {"y", "k"}).add_attribute();
  most.set_name("maxsplit");
  most.set_i(1);
  std::vector<HostTensor> y = results(model, text({" a\tb  c ", "", " \n\v\f\r ", "d"}));
  CHECK(strings_of(y[0], y[1]) == std::vector<std::string>{"a", "b  c ", "", "", "", "", "d", ""});
  CHECK(numbers_of<int64_t>(y[2]) == std::vector<int64_t>{2, 0, 0, 1});
}

TEST_CASE("CategoryMapper and LabelEncoder go from strings to numbers and back") {
  ModelWriter model = ml_model(1);
  model.input("x", {"n"}, TensorProto::STRING).input("i", {"m"}, TensorProto::INT64);
  model.output("a", {"n"}, TensorProto::INT64).output("b", {"m"}, TensorProto::STRING);
  model.output("c", {"n"}, TensorProto::INT64).output("d", {"m"}, TensorProto::STRING);
  for (const char* op : {"CategoryMapper", "LabelEncoder"})
    for (bool back : {false, true}) {
      bool mapper = op[0] == 'C';
      auto& node = model.node(op, {back ? "i" : "x"}, {mapper ? back ? "b" : "a" : back ? "d" : "c"});
      node.set_domain("ai.onnx.ml");
      strings(node, mapper ? "cats_strings" : "classes_strings", {"pear", "apple", "fig", "apple"});
      if (mapper) ints(node, "cats_int64s", {7, -3, 1000, 8});
    }
  std::vector<HostTensor> inputs = text({"fig", "nut", "apple", "", "pear", "apples"});
  inputs.push_back(int64s({4}, {1000, 1, -3, 9}));
  std::vector<HostTensor> y = results(model, inputs);
  CHECK(numbers_of<int64_t>(y[0]) == std::vector<int64_t>{1000, -1, -3, -1, 7, -1});
  CHECK(strings_of(y[1], y[2]) == std::vector<std::string>{"fig", "_Unused", "apple", "_Unused"});
  CHECK(numbers_of<int64_t>(y[3]) == std::vector<int64_t>{2, -1, 1, -1, 0, -1});
  CHECK(strings_of(y[4], y[5]) == std::vector<std::string>{"_Unused", "apple", "_Unused", "_Unused"});
}

TEST_CASE("TfIdfVectorizer counts words") {
  ModelWriter model;
  model.input("x", {"n"}, TensorProto::STRING).output("y", {4});
  auto& node = model.node("TfIdfVectorizer", {"x"}, {"y"});
  strings(node, "pool_strings", {"to", "be", "to", "be", "not", "to"});
  ints(node, "ngram_counts", {0, 2});
  ints(node, "ngram_indexes", {2, 0, 1, 3});
  for (auto [name, value] : std::vector<std::pair<const char*, int64_t>>{
           {"min_gram_length", 1}, {"max_gram_length", 2}, {"max_skip_count", 0}}) {
    auto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_i(value);
  }
  auto& mode = *node.add_attribute();
  mode.set_name("mode");
  mode.set_s("TF");
  std::vector<HostTensor> y = results(model, text({"to", "be", "or", "not", "to", "be"}));
  CHECK(numbers_of<float>(y[0]) == std::vector<float>{2, 2, 2, 1});
}
