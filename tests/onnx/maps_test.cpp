// maps_test.cpp: ZipMap, DictVectorizer and CastMap, for which ONNX has no tests and whose values are not tensors.
#include <catch2/catch.hpp>

#include "tests/onnx/imported.h"

using namespace relaxc;
using namespace relaxc::onnx_tests;
using Catch::Contains;
using onnx::TensorProto;
using relax::HostTensor;

namespace {

using Floats = std::vector<float>;
using Numbers = std::vector<int64_t>;

ModelWriter ml_model() {
  ModelWriter model;
  auto& import = *model.proto.add_opset_import();
  import.set_domain("ai.onnx.ml");
  import.set_version(1);
  return model;
}

onnx::NodeProto& ml_node(ModelWriter& model, const char* op, const char* input) {
  auto& node = model.node(op, {input}, {"y"});
  node.set_domain("ai.onnx.ml");
  return node;
}

/// A map "m" from `keys` to floats as input.
void map_input(ModelWriter& model, int32_t keys) {
  auto& input = *model.graph().add_input();
  input.set_name("m");
  auto& type = *input.mutable_type()->mutable_map_type();
  type.set_key_type(keys);
  type.mutable_value_type()->mutable_tensor_type()->set_elem_type(TensorProto::FLOAT);
}

}  // namespace

TEST_CASE("ZipMap gives the labels once, and the probabilities as they are") {
  ModelWriter model = ml_model();
  model.input("x", {"n", 3});
  model.graph().add_output()->set_name("y");
  ints(ml_node(model, "ZipMap", "x"), "classlabels_int64s", {7, -1, 3});
  std::vector<HostTensor> y = results(model, {floats({2, 3}, {1, 2, 3, 4, 5, 6})});
  REQUIRE(y.size() == 2);
  CHECK(numbers_of<int64_t>(y[0]) == Numbers{7, -1, 3});
  CHECK(y[1].shape == Numbers{2, 3});
  CHECK(numbers_of<float>(y[1]) == Floats{1, 2, 3, 4, 5, 6});
}

TEST_CASE("ZipMap's labels may be strings, and one row is one map") {
  ModelWriter model = ml_model();
  model.input("x", {2});
  model.graph().add_output()->set_name("y");
  words(ml_node(model, "ZipMap", "x"), "classlabels_strings", {"no", "yes"});
  std::vector<HostTensor> y = results(model, {floats({2}, {0.25, 0.75})});
  REQUIRE(y.size() == 3);
  CHECK(strings_of(y[0], y[1]) == std::vector<std::string>{"no", "yes"});
  CHECK(y[2].shape == Numbers{1, 2});
}

TEST_CASE("ZipMap needs as many labels as columns") {
  ModelWriter model = ml_model();
  model.input("x", {"n", 3});
  model.graph().add_output()->set_name("y");
  ints(ml_node(model, "ZipMap", "x"), "classlabels_int64s", {7, -1});
  CHECK_THAT(refusal(model), Contains("the list of class labels promises"));
}

TEST_CASE("DictVectorizer puts values where the vocabulary has their keys") {
  ModelWriter model = ml_model();
  map_input(model, TensorProto::STRING);
  model.output("y", {1, 3});
  words(ml_node(model, "DictVectorizer", "m"), "string_vocabulary", {"pear", "apple", "fig"});
  std::vector<HostTensor> inputs = text({"fig", "nut", "pear"});
  inputs.push_back(floats({3}, {1, 2, 3}));
  HostTensor y = results(model, inputs)[0];
  CHECK(y.shape == Numbers{1, 3});
  CHECK(numbers_of<float>(y) == Floats{3, 0, 1});
}

TEST_CASE("DictVectorizer finds integers too, and a map without entries is a row of zeros") {
  ModelWriter model = ml_model();
  map_input(model, TensorProto::INT64);
  model.output("y", {1, 4});
  ints(ml_node(model, "DictVectorizer", "m"), "int64_vocabulary", {5, -2, int64_t{1} << 40, 0});
  CHECK(numbers_of<float>(results(model, {int64s({3}, {int64_t{1} << 40, 1, 5}), floats({3}, {1, 2, 3})})[0]) ==
        Floats{3, 0, 1, 0});
  CHECK(numbers_of<float>(results(model, {int64s({0}, {}), floats({0}, {})})[0]) == Floats{0, 0, 0, 0});
}

TEST_CASE("CastMap gives values in the order of their keys, or at them") {
  for (bool sparse : {false, true}) {
    ModelWriter model = ml_model();
    map_input(model, TensorProto::INT64);
    model.output("y", {}, sparse ? TensorProto::INT64 : TensorProto::FLOAT);
    auto& node = ml_node(model, "CastMap", "m");
    word(node, "map_form", sparse ? "SPARSE" : "DENSE");
    word(node, "cast_to", sparse ? "TO_INT64" : "TO_FLOAT");
    if (sparse) integer(node, "max_map", 4);
    HostTensor y = results(model, {int64s({3}, {3, 0, 9}), floats({3}, {1, 2, 5})})[0];
    CHECK(y.shape == (sparse ? Numbers{1, 4} : Numbers{1, 3}));
    if (sparse)
      CHECK(numbers_of<int64_t>(y) == Numbers{2, 0, 0, 1});
    else
      CHECK(numbers_of<float>(y) == Floats{2, 1, 5});
  }
}
