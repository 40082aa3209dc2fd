// strings_test.cpp: operators on strings that ONNX's own tests leave out, and strings that are not within their bytes.
#include <catch2/catch.hpp>
#include <cmath>

#include "tests/onnx/imported.h"

using namespace relaxc;
using namespace relaxc::onnx_tests;
using onnx::TensorProto;
using relax::HostTensor;

namespace {

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
  word(model.node("RegexFullMatch", {"x"}, {"y"}), "pattern", "");
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

TEST_CASE("spans may overlap and be in any order") {
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
  ModelWriter same, other;
  same.node("Identity", {"x"}, {"a"});
  same.graph().add_output()->set_name("a");
  words(other.node("Constant", {}, {"b"}), "value_strings", {"left", "right"});
  other.graph().add_output()->set_name("b");
  subgraph(node, "then_branch", same);
  subgraph(node, "else_branch", other);
  for (uint8_t condition : {0, 1}) {
    std::vector<HostTensor> inputs = text({"p", "qq"});
    inputs.push_back(truth(condition != 0));
    std::vector<HostTensor> y = results(model, inputs);
    auto expected = condition ? std::vector<std::string>{"p", "qq"} : std::vector<std::string>{"left", "right"};
    CHECK(strings_of(y[0], y[1]) == expected);
  }
}

TEST_CASE("StringSplit counts what maxsplit leaves, and whitespace of all kinds") {
  ModelWriter model;
  model.input("x", {"n"}, TensorProto::STRING);
  model.output("y", {"n", "m"}, TensorProto::STRING).output("k", {"n"}, TensorProto::INT64);
  integer(model.node("StringSplit", {"x"}, {"y", "k"}), "maxsplit", 1);
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
      words(node, mapper ? "cats_strings" : "classes_strings", {"pear", "apple", "fig", "apple"});
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
  words(node, "pool_strings", {"to", "be", "to", "be", "not", "to"});
  ints(node, "ngram_counts", {0, 2});
  ints(node, "ngram_indexes", {2, 0, 1, 3});
  for (auto [name, value] : std::vector<std::pair<const char*, int64_t>>{
           {"min_gram_length", 1}, {"max_gram_length", 2}, {"max_skip_count", 0}})
    integer(node, name, value);
  word(node, "mode", "TF");
  std::vector<HostTensor> y = results(model, text({"to", "be", "or", "not", "to", "be"}));
  CHECK(numbers_of<float>(y[0]) == std::vector<float>{2, 2, 2, 1});
}

TEST_CASE("operators that move elements move strings") {
  ModelWriter model(18);
  model.input("x", {2, "n"}, TensorProto::STRING).input("i", {"k"}, TensorProto::INT64);
  model.tensor("rows", {1}, TensorProto::INT64).add_int64_data(-1);
  model.tensor("one", {1}, TensorProto::INT64).add_int64_data(1);
  auto& more = model.tensor("more", {2, 1}, TensorProto::STRING);
  more.add_string_data("new");
  more.add_string_data("");
  std::vector<std::string> outputs;
  auto made = [&](const char* op, std::vector<std::string> inputs) -> onnx::NodeProto& {
    outputs.push_back("y" + std::to_string(outputs.size()));
    return model.node(op, std::move(inputs), {outputs.back()});
  };
  integer(made("Gather", {"x", "i"}), "axis", 1);
  made("Transpose", {"x"});
  integer(made("Concat", {"more", "x", "more"}), "axis", 1);
  made("Reshape", {"x", "rows"});
  made("Slice", {"x", "one", "one", "rows"});
  made("Unsqueeze", {"x", "one"});
  model.node("Equal", {"x", "more"}, {"same"});
  made("Where", {"same", "x", "more"});
  made("Expand", {"more", "shape"});
  model.node("Shape", {"x"}, {"shape"});
  for (const std::string& name : outputs) model.output(name, {}, TensorProto::STRING);
  std::vector<HostTensor> inputs = text({"new", "b", "c", "d", "e", ""}, {2, 3});
  inputs.push_back(int64s({2}, {2, -2}));
  std::vector<HostTensor> y = results(model, inputs);
  auto check = [&](size_t at, std::vector<int64_t> shape, const std::vector<std::string>& expected) {
    shape.push_back(2);
    CHECK(y[2 * at].shape == shape);
    CHECK(strings_of(y[2 * at], y[2 * at + 1]) == expected);
  };
  check(0, {2, 2}, {"c", "b", "", "e"});
  check(1, {3, 2}, {"new", "d", "b", "e", "c", ""});
  check(2, {2, 5}, {"new", "new", "b", "c", "new", "", "d", "e", "", ""});
  check(3, {6}, {"new", "b", "c", "d", "e", ""});
  check(4, {2, 0}, {});
  check(5, {2, 1, 3}, {"new", "b", "c", "d", "e", ""});
  check(6, {2, 3}, {"new", "new", "new", "", "", ""});
  check(7, {2, 3}, {"new", "new", "new", "", "", ""});
}

TEST_CASE("Unique finds the distinct strings, in order or as they come") {
  for (int64_t sorted : {0, 1}) {
    ModelWriter model;
    model.input("x", {"n"}, TensorProto::STRING).output("y", {"m"}, TensorProto::STRING);
    model.output("first", {"m"}, TensorProto::INT64).output("inverse", {"n"}, TensorProto::INT64);
    model.output("counts", {"m"}, TensorProto::INT64);
    integer(model.node("Unique", {"x"}, {"y", "first", "inverse", "counts"}), "sorted", sorted);
    std::vector<HostTensor> y = results(model, text({"pear", "", "fig", "pear", "pea", "", "pear"}));
    auto expected = sorted ? std::vector<std::string>{"", "fig", "pea", "pear"}
                           : std::vector<std::string>{"pear", "", "fig", "pea"};
    CHECK(strings_of(y[0], y[1]) == expected);
    CHECK(numbers_of<int64_t>(y[2]) == (sorted ? std::vector<int64_t>{1, 2, 4, 0} : std::vector<int64_t>{0, 1, 2, 4}));
    CHECK(numbers_of<int64_t>(y[3]) ==
          (sorted ? std::vector<int64_t>{3, 0, 1, 3, 2, 0, 3} : std::vector<int64_t>{0, 1, 2, 0, 3, 1, 0}));
    CHECK(numbers_of<int64_t>(y[4]) == (sorted ? std::vector<int64_t>{2, 1, 1, 3} : std::vector<int64_t>{3, 2, 1, 1}));
  }
}

TEST_CASE("a Loop carries strings that grow") {
  ModelWriter body, model;
  body.input("i", {}, TensorProto::INT64).input("go", {}, TensorProto::BOOL).input("s", {1}, TensorProto::STRING);
  body.node("Identity", {"go"}, {"again"});
  body.node("StringConcat", {"s", "x"}, {"longer"});
  body.output("again", {}, TensorProto::BOOL).output("longer", {1}, TensorProto::STRING);
  model.input("x", {1}, TensorProto::STRING).input("n", {}, TensorProto::INT64);
  model.output("y", {1}, TensorProto::STRING);
  subgraph(model.node("Loop", {"n", "", "x"}, {"y"}), "body", body);
  std::vector<HostTensor> inputs = text({"ab"});
  inputs.push_back(int64s({}, {3}));
  std::vector<HostTensor> y = results(model, inputs);
  CHECK(strings_of(y[0], y[1]) == std::vector<std::string>{"abababab"});
}

TEST_CASE("numbers are written with the shortest digits that identify them") {
  ModelWriter model;
  model.input("x", {"n"}).input("i", {"m"}, TensorProto::INT64).input("u", {1}, TensorProto::UINT64);
  for (const char* name : {"x", "i", "u"}) {
    integer(model.node("Cast", {name}, {name + std::string("s")}), "to", TensorProto::STRING);
    model.output(name + std::string("s"), {"k"}, TensorProto::STRING);
  }
  std::vector<HostTensor> inputs{
      floats({20}, {0.1F,         -0.0F,          0,         1,     100,         16777216, 3.14159274F,
                    1e-4F,        9.99999975e-5F, 1e15F,     1e16F, -1.5e20F,    1e-45F,   3.40282347e38F,
                    0.039187793F, INFINITY,       -INFINITY, NAN,   123456.789F, 0.3F}),
      int64s({5}, {0, -1, INT64_MAX, INT64_MIN, 1000}), tensor(DType::u(64), {1}, std::vector<uint64_t>{UINT64_MAX})};
  std::vector<HostTensor> y = results(model, inputs);
  CHECK(strings_of(y[0], y[1]) ==
        std::vector<std::string>{"0.1",        "-0.0",      "0.0",    "1.0",           "100.0",
                                 "16777216.0", "3.1415927", "0.0001", "0.0001",        "1000000000000000.0",
                                 "1e+16",      "-1.5e+20",  "1e-45",  "3.4028235e+38", "0.039187793",
                                 "INF",        "-INF",      "NaN",    "123456.79",     "0.3"});
  CHECK(strings_of(y[2], y[3]) ==
        std::vector<std::string>{"0", "-1", "9223372036854775807", "-9223372036854775808", "1000"});
  CHECK(strings_of(y[4], y[5]) == std::vector<std::string>{"18446744073709551615"});
}

TEST_CASE("strings are parsed as numbers, and one that is not a number ends the run") {
  auto cast_to = [](int32_t type) {
    ModelWriter model;
    model.input("x", {"n"}, TensorProto::STRING).output("y", {"n"}, type);
    integer(model.node("Cast", {"x"}, {"y"}), "to", type);
    return model;
  };
  std::vector<std::string> list{"3.14",
                                "1000",
                                "1e-5",
                                "1E8",
                                " -2.5\t",
                                ".5",
                                "5.",
                                "+7e+2",
                                "0.1",
                                "123456789012345678901234567890",
                                "1e-400",
                                "-1e400",
                                "2.2250738585072014e-308"};
  std::vector<double> expected{3.14,
                               1000,
                               1e-5,
                               1e8,
                               -2.5,
                               .5,
                               5,
                               700,
                               0.1,
                               123456789012345678901234567890.,
                               0,
                               -INFINITY,
                               2.2250738585072014e-308};
  std::vector<double> doubles = numbers_of<double>(results(cast_to(TensorProto::DOUBLE), text(list))[0]);
  REQUIRE(doubles.size() == expected.size());
  for (size_t i = 0; i < doubles.size(); ++i) {
    INFO(list[i]);
    if (std::isinf(expected[i]) || expected[i] == 0)
      CHECK(doubles[i] == expected[i]);
    else
      CHECK(std::abs(doubles[i] - expected[i]) <= std::abs(expected[i]) * 3e-16);
  }
  CHECK(numbers_of<float>(results(cast_to(TensorProto::FLOAT), text({"0.47892547", "+inf", "-INF", "Inf"}))[0]) ==
        std::vector<float>{0.47892547F, INFINITY, -INFINITY, INFINITY});
  CHECK(std::isnan(numbers_of<float>(results(cast_to(TensorProto::FLOAT), text({"NaN"}))[0])[0]));
  CHECK(numbers_of<int64_t>(
            results(cast_to(TensorProto::INT64), text({"-9223372036854775808", "12", "100.5", "1e3"}))[0]) ==
        std::vector<int64_t>{INT64_MIN, 12, 100, 1000});
  for (const char* word : {"", "hello", "1.2.3", "1e", "--1", "1 2", "."})
    CHECK(std::holds_alternative<relax::RunFault>(run(cast_to(TensorProto::FLOAT), text({"1", word}))));
}

TEST_CASE("a sequence of strings is built, changed, taken from and joined") {
  ModelWriter model;
  model.input("x", {"n"}, TensorProto::STRING);
  model.output("last", {"a"}, TensorProto::STRING).output("all", {"b"}, TensorProto::STRING);
  words(model.node("Constant", {}, {"c"}), "value_strings", {"k", "ll"});
  integer(model.node("Constant", {}, {"one"}), "value_int", 1);
  integer(model.node("Constant", {}, {"zero"}), "value_int", 0);
  integer(model.node("Constant", {}, {"end"}), "value_int", -1);
  model.node("SequenceConstruct", {"x", "c"}, {"s"});
  model.node("StringConcat", {"x", "x"}, {"twice"});
  model.node("SequenceInsert", {"s", "twice", "one"}, {"t"});
  model.node("SequenceErase", {"t", "zero"}, {"u"});
  model.node("SequenceAt", {"u", "end"}, {"last"});
  integer(model.node("ConcatFromSequence", {"u"}, {"all"}), "axis", -1);
  model.proto.mutable_opset_import(0)->set_version(20);
  std::vector<HostTensor> y = results(model, text({"a", "", "bc"}));
  CHECK(strings_of(y[0], y[1]) == std::vector<std::string>{"k", "ll"});
  CHECK(strings_of(y[2], y[3]) == std::vector<std::string>{"aa", "", "bcbc", "k", "ll"});
}

TEST_CASE("strings are split into a sequence of a length that the run gives, and stacked") {
  ModelWriter model;
  model.input("x", {"n"}, TensorProto::STRING).output("y", {"n", 1}, TensorProto::STRING);
  integer(model.node("SplitToSequence", {"x"}, {"s"}), "keepdims", 1);
  auto& stack = model.node("ConcatFromSequence", {"s"}, {"y"});
  integer(stack, "axis", 0), integer(stack, "new_axis", 1);
  std::vector<HostTensor> y = results(model, text({"p", "", "qrs"}));
  CHECK(y[0].shape == std::vector<int64_t>{3, 1, 2});
  CHECK(strings_of(y[0], y[1]) == std::vector<std::string>{"p", "", "qrs"});
}

TEST_CASE("a loop carries a sequence of strings, and collects strings and numbers") {
  ModelWriter model(20);
  model.input("x", {2}, TensorProto::STRING).input("trips", {}, TensorProto::INT64);
  model.output("last", {2}, TensorProto::STRING).output("all", {"t", 2}, TensorProto::STRING);
  model.output("count", {"t"}, TensorProto::INT64);
  ModelWriter body(20);
  body.graph().add_input()->set_name("i");
  body.graph().add_input()->set_name("again");
  body.graph().add_input()->set_name("carried");
  body.node("Identity", {"again"}, {"goes_on"});
  body.node("StringConcat", {"carried", "x"}, {"longer"});
  body.node("Identity", {"longer"}, {"seen"});
  body.node("Identity", {"i"}, {"number"});
  body.graph().add_output()->set_name("goes_on");
  body.graph().add_output()->set_name("longer");
  body.output("seen", {2}, TensorProto::STRING);
  body.graph().add_output()->set_name("number");
  subgraph(model.node("Loop", {"trips", "", "x"}, {"last", "all", "count"}), "body", body);
  std::vector<HostTensor> inputs = text({"a", "bc"});
  inputs.push_back(int64s({}, {2}));
  std::vector<HostTensor> y = results(model, inputs);
  CHECK(strings_of(y[0], y[1]) == std::vector<std::string>{"aaa", "bcbcbc"});
  CHECK(y[2].shape == std::vector<int64_t>{2, 2, 2});
  CHECK(strings_of(y[2], y[3]) == std::vector<std::string>{"aa", "bcbc", "aaa", "bcbcbc"});
  CHECK(numbers_of<int64_t>(y[4]) == std::vector<int64_t>{0, 1});
}

TEST_CASE("strings are padded with a string, the empty one if none is given") {
  for (bool given : {false, true}) {
    ModelWriter model(21);
    model.input("x", {"n"}, TensorProto::STRING).output("y", {"m"}, TensorProto::STRING);
    auto& pads = model.tensor("pads", {2}, TensorProto::INT64);
    pads.add_int64_data(1), pads.add_int64_data(2);
    if (given) model.tensor("value", {}, TensorProto::STRING).add_string_data("--");
    model.node("Pad", {"x", "pads", given ? "value" : ""}, {"y"});
    std::vector<HostTensor> y = results(model, text({"a", "bc"}));
    std::string fill = given ? "--" : "";
    CHECK(strings_of(y[0], y[1]) == std::vector<std::string>{fill, "a", "bc", fill, fill});
  }
}

TEST_CASE("a sequence of strings enters and leaves a model as spans, their shapes, and bytes") {
  ModelWriter model;
  for (auto* value : {model.graph().add_input(), model.graph().add_output()}) {
    value->set_name(value == &model.graph().input(0) ? "s" : "t");
    auto& element = *value->mutable_type()->mutable_sequence_type()->mutable_elem_type()->mutable_tensor_type();
    element.set_elem_type(TensorProto::STRING);
    element.mutable_shape()->add_dim()->set_dim_param("n");
  }
  model.output("first", {"m"}, TensorProto::STRING);
  integer(model.node("Constant", {}, {"zero"}), "value_int", 0);
  model.node("SequenceAt", {"s", "zero"}, {"first"});
  model.node("SequenceErase", {"s", "zero"}, {"t"});
  std::vector<HostTensor> inputs = text({"a", "bc", ""});
  inputs.insert(inputs.begin() + 1, int64s({2, 2}, {2, 2, 1, 2}));
  inputs[0].shape = {6};
  std::vector<HostTensor> y = results(model, inputs);
  REQUIRE(y.size() == 5);
  CHECK(numbers_of<int64_t>(y[1]) == std::vector<int64_t>{1, 2});
  y[0].shape = {1, 2};
  CHECK(strings_of(y[0], y[2]) == std::vector<std::string>{""});
  CHECK(strings_of(y[3], y[4]) == std::vector<std::string>{"a", "bc"});
}
