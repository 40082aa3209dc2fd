// wild_test.cpp: what models in the wild hold and the standard's own tests leave out: names that are empty, given twice
// or used for two things, graphs out of order, what nobody declares.
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

Floats first(const ModelWriter& model, const std::vector<HostTensor>& inputs,
             const frontend::ImportOptions& options = {}) {
  return numbers_of<float>(results(model, inputs, options)[0]);
}

/// y = x + w for x: float[2] and an initializer w of 10 and 20, which `as_input` makes an input with a default.
ModelWriter sum_with_default(bool as_input) {
  ModelWriter model;
  model.input("x", {2}).output("y", {2});
  if (as_input) model.input("w", {2});
  auto& w = model.tensor("w", {2});
  w.add_float_data(10);
  w.add_float_data(20);
  model.node("Add", {"x", "w"}, {"y"});
  return model;
}

}  // namespace

TEST_CASE("optional inputs are left out by an empty name, or by ending before them") {
  ModelWriter model;
  model.input("x", {4}).input("most", {}).output("y", {4}).output("z", {4});
  model.node("Clip", {"x", "", "most"}, {"y"});
  model.node("Clip", {"x", "most"}, {"z"});
  std::vector<HostTensor> y = results(model, {floats({4}, {-5, 0, 1, 9}), floats({}, {1})});
  CHECK(numbers_of<float>(y[0]) == Floats{-5, 0, 1, 1});
  CHECK(numbers_of<float>(y[1]) == Floats{1, 1, 1, 9});
}

TEST_CASE("optional outputs are left out by an empty name") {
  ModelWriter model;
  model.input("x", {3}).output("i", {1}, TensorProto::INT64);
  model.tensor("k", {1}, TensorProto::INT64).add_int64_data(1);
  model.node("TopK", {"x", "k"}, {"", "i"});
  CHECK(numbers_of<int64_t>(results(model, {floats({3}, {1, 7, 3})})[0]) == Numbers{1});
}

TEST_CASE("a required input that is missing is named by its position") {
  ModelWriter model;
  model.input("x", {3}).output("y", {3});
  model.node("Add", {"x", ""}, {"y"});
  CHECK_THAT(refusal(model), Contains("input 1 ('B') is missing"));
}

TEST_CASE("an input with a default becomes a constant, or stays an input if so asked") {
  CHECK(first(sum_with_default(false), {floats({2}, {1, 2})}) == Floats{11, 22});
  CHECK(first(sum_with_default(true), {floats({2}, {1, 2})}) == Floats{11, 22});
  // Before IR version 4 every initializer had to be an input, which then means nothing.
  CHECK_THAT(remarks(sum_with_default(true)),
             Contains("inputs that have a default become constants: 'w'; --keep-init"));
  ModelWriter old = sum_with_default(true);
  old.proto.set_ir_version(3);
  CHECK(remarks(old).empty());
  frontend::ImportOptions open;
  open.keep_initializers_as_inputs = true;
  CHECK(first(sum_with_default(true), {floats({2}, {1, 2}), floats({2}, {5, 5})}, open) == Floats{6, 7});
}

TEST_CASE("both branches may use one name, and one that has a meaning around them") {
  ModelWriter model, yes, no;
  model.input("c", {}, TensorProto::BOOL).input("x", {2}).output("y", {2});
  for (ModelWriter* branch : {&yes, &no}) {
    branch->node(branch == &yes ? "Neg" : "Abs", {"x"}, {"inner"});
    branch->node("Identity", {"inner"}, {"out"});
    branch->graph().add_output()->set_name("out");
  }
  auto& choice = model.node("If", {"c"}, {"inner"});
  subgraph(choice, "then_branch", yes);
  subgraph(choice, "else_branch", no);
  model.node("Identity", {"inner"}, {"y"});
  CHECK(first(model, {truth(true), floats({2}, {-1, 2})}) == Floats{1, -2});
  CHECK(first(model, {truth(false), floats({2}, {-1, 2})}) == Floats{1, 2});
}

TEST_CASE("two nodes of one graph must not make one name") {
  ModelWriter model;
  model.input("x", {2}).output("y", {2});
  model.node("Neg", {"x"}, {"y"});
  model.node("Abs", {"x"}, {"y"});
  CHECK_THAT(refusal(model), Contains("Abs_2") && Contains("'y' is the name of another value already"));
}

TEST_CASE("nodes out of order are sorted, and the first of them is named") {
  ModelWriter model;
  model.input("x", {2}).output("y", {2});
  model.node("Abs", {"mid"}, {"y"});
  model.node("Neg", {"x"}, {"mid"});
  CHECK(first(model, {floats({2}, {-1, 2})}) == Floats{1, 2});
  CHECK_THAT(remarks(model), Contains("not in topological order: 'Abs_1' comes too early"));
}

TEST_CASE("nodes on a cycle are refused by name") {
  ModelWriter model;
  model.input("x", {2}).output("y", {2});
  model.node("Add", {"x", "b"}, {"a"});
  model.node("Neg", {"a"}, {"b"});
  model.node("Abs", {"x"}, {"y"});
  CHECK_THAT(refusal(model), Contains("cycle") && Contains("'Add_1', 'Neg_2'"));
}

TEST_CASE("unused inputs and initializers are accepted") {
  ModelWriter model;
  model.input("x", {2}).input("idle", {"n", 3}).output("y", {2});
  model.tensor("unused", {1}).add_float_data(1);
  model.node("Neg", {"x"}, {"y"});
  CHECK(first(model, {floats({2}, {1, 2}), filled({4, 3}, 0)}) == Floats{-1, -2});
}

TEST_CASE("an output may be an input, an initializer, or the same value as another") {
  ModelWriter model;
  model.input("x", {2}).output("x", {2}).output("w", {1}).output("y", {2}).output("z", {2}).output("z", {2});
  model.tensor("w", {1}).add_float_data(7);
  model.node("Identity", {"x"}, {"y"});
  model.node("Neg", {"x"}, {"z"});
  std::vector<HostTensor> y = results(model, {floats({2}, {1, 2})});
  REQUIRE(y.size() == 5);
  CHECK(numbers_of<float>(y[0]) == Floats{1, 2});
  CHECK(numbers_of<float>(y[1]) == Floats{7});
  CHECK(numbers_of<float>(y[2]) == Floats{1, 2});
  CHECK(numbers_of<float>(y[3]) == Floats{-1, -2});
  CHECK(numbers_of<float>(y[4]) == Floats{-1, -2});
}

TEST_CASE("indices, limits and numbers beyond 2^31 keep their value") {
  constexpr int64_t kFar = int64_t{1} << 40;
  ModelWriter model(13);
  model.input("x", {4}).input("i", {2}, TensorProto::INT64).output("y", {3}).output("z", {2}, TensorProto::INT64);
  for (auto [name, value] : std::vector<std::pair<const char*, int64_t>>{
           {"begin", 1}, {"end", INT64_MAX}, {"zero", 0}, {"one", 1}, {"far", kFar}})
    model.tensor(name, {1}, TensorProto::INT64).add_int64_data(value);
  model.node("Slice", {"x", "begin", "end", "zero", "one"}, {"y"});
  model.node("Add", {"i", "far"}, {"z"});
  model.node("Gather", {"x", "i"}, {"w"});
  model.output("w", {2});
  std::vector<HostTensor> y = results(model, {floats({4}, {1, 2, 3, 4}), int64s({2}, {3, -4})});
  CHECK(numbers_of<float>(y[0]) == Floats{2, 3, 4});
  CHECK(numbers_of<int64_t>(y[1]) == Numbers{kFar + 3, kFar - 4});
  CHECK(numbers_of<float>(y[2]) == Floats{4, 1});
  // An index that is 1 modulo 2^32 is none.
  CHECK(std::holds_alternative<relax::RunFault>(
      run(model, {floats({4}, {1, 2, 3, 4}), int64s({2}, {(int64_t{1} << 32) + 1, 0})})));
}

TEST_CASE("an empty sequence has no elements, and none of it can be joined") {
  ModelWriter model;
  model.input("x", {2}).output("n", {}, TensorProto::INT64).output("m", {}, TensorProto::INT64).output("y", {2});
  model.node("SequenceEmpty", {}, {"none"});
  model.node("SequenceLength", {"none"}, {"n"});
  model.node("SequenceInsert", {"none", "x"}, {"some"});
  model.node("SequenceLength", {"some"}, {"m"});
  integer(model.node("ConcatFromSequence", {"some"}, {"y"}), "axis", 0);
  std::vector<HostTensor> y = results(model, {floats({2}, {1, 2})});
  CHECK(numbers_of<int64_t>(y[0]) == Numbers{0});
  CHECK(numbers_of<int64_t>(y[1]) == Numbers{1});
  CHECK(numbers_of<float>(y[2]) == Floats{1, 2});
  integer(model.node("ConcatFromSequence", {"none"}, {"nothing"}), "axis", 0);
  CHECK_THAT(refusal(model), Contains("without elements"));
}

TEST_CASE("elements of a sequence are joined only if their shapes agree") {
  // Which element is erased is known only when the model runs.
  for (int64_t axis : {0, 1}) {
    ModelWriter model(13);
    model.input("x", {2, 13}).input("i", {}, TensorProto::INT64).output("y", {"rows", "columns"});
    onnx::TensorProto& sizes = model.tensor("sizes", {4}, TensorProto::INT64);
    for (int64_t size : {3, 3, 3, 4}) sizes.add_int64_data(size);
    integer(model.node("SplitToSequence", {"x", "sizes"}, {"parts"}), "axis", 1);
    model.node("SequenceErase", {"parts", "i"}, {"some"});
    integer(model.node("ConcatFromSequence", {"some"}, {"y"}), "axis", axis);
    std::vector<float> x(26);
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
    std::vector<HostTensor> y = results(model, {floats({2, 13}, x), int64s({}, {3})});
    CHECK(y[0].shape == (axis == 0 ? std::vector<int64_t>{6, 3} : std::vector<int64_t>{2, 9}));
    CHECK(numbers_of<float>(y[0])[5] == (axis == 0 ? 15 : 5));
    CHECK(std::holds_alternative<relax::RunFault>(run(model, {floats({2, 13}, x), int64s({}, {0})})));
  }
  // As many numbers as three elements of the first one's shape have.
  ModelWriter model(13);
  model.input("x", {2, 10}).input("i", {}, TensorProto::INT64).output("y", {"rows", "columns"});
  onnx::TensorProto& sizes = model.tensor("sizes", {4}, TensorProto::INT64);
  for (int64_t size : {3, 5, 1, 1}) sizes.add_int64_data(size);
  integer(model.node("SplitToSequence", {"x", "sizes"}, {"parts"}), "axis", 1);
  model.node("SequenceErase", {"parts", "i"}, {"some"});
  integer(model.node("ConcatFromSequence", {"some"}, {"y"}), "axis", 1);
  CHECK(
      std::holds_alternative<relax::RunFault>(run(model, {floats({2, 10}, std::vector<float>(20)), int64s({}, {3})})));
}

TEST_CASE("an input without a rank is refused, one without sizes is not") {
  ModelWriter model;
  model.input("x", {2}).output("y", {2});
  model.node("Neg", {"x"}, {"y"});
  model.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->clear_shape();
  CHECK_THAT(refusal(model), Contains("input 'x' has no rank; export the model with a shape for it"));
  model.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim();
  CHECK(first(model, {floats({3}, {1, 2, 3})}) == Floats{-1, -2, -3});
}

TEST_CASE("outputs and inner values need no declared type") {
  ModelWriter model;
  model.input("x", {"n", 2});
  model.graph().add_output()->set_name("y");
  model.node("Transpose", {"x"}, {"t"});
  model.node("Neg", {"t"}, {"y"});
  model.graph().add_value_info()->set_name("t");
  CHECK(first(model, {floats({1, 2}, {1, 2})}) == Floats{-1, -2});
}

TEST_CASE("an opset that is not imported is reported, and of two imports the newer counts") {
  ModelWriter model;
  model.input("x", {2}).output("y", {2});
  model.node("Neg", {"x"}, {"y"});
  model.proto.clear_opset_import();
  CHECK_THAT(refusal(model), Contains("the model imports no opset of domain 'ai.onnx'"));
  model.proto.add_opset_import()->set_version(9);
  auto& again = *model.proto.add_opset_import();
  again.set_domain("ai.onnx");
  again.set_version(17);
  CHECK(first(model, {floats({2}, {1, 2})}) == Floats{-1, -2});
  model.proto.mutable_opset_import(0)->set_version(1000);
  CHECK_THAT(refusal(model), Contains("opset 1000 of ai.onnx is not supported"));
}

TEST_CASE("IR versions 3 to 13 are read, an older one needs no import, a newer one is remarked on") {
  for (int64_t version = 3; version <= 13; ++version) {
    ModelWriter model = sum_with_default(true);
    model.proto.set_ir_version(version);
    CHECK(first(model, {floats({2}, {1, 2})}) == Floats{11, 22});
    CHECK_THAT(remarks(model), !Contains("IR version"));
  }
  ModelWriter model(1);
  model.input("x", {2}).output("y", {2});
  model.node("Neg", {"x"}, {"y"});
  model.proto.clear_opset_import();
  model.proto.set_ir_version(2);
  CHECK(first(model, {floats({2}, {1, 2})}) == Floats{-1, -2});
  model.proto.set_ir_version(99);
  model.proto.add_opset_import()->set_version(17);
  CHECK_THAT(remarks(model), Contains("IR version 99 is newer"));
}

TEST_CASE(
    "a squeeze without axes takes open dims not to be 1 where nothing is declared, and refuses runs in which they "
    "are") {
  ModelWriter model;
  model.input("x", {"n", 1, 2}).output("y", {});
  model.graph().mutable_output(0)->mutable_type()->mutable_tensor_type()->clear_shape();
  model.node("Squeeze", {"x"}, {"y"});
  CHECK_THAT(remarks(model), Contains("without axes the rank depends on whether n is 1"));
  CHECK(results(model, {filled({3, 1, 2}, 0)})[0].shape == Numbers{3, 2});
  CHECK(std::holds_alternative<relax::RunFault>(run(model, {filled({1, 1, 2}, 0)})));
}

TEST_CASE("a declared shape says whether a squeeze without axes keeps an open dim") {
  ModelWriter kept;
  kept.input("x", {"n", 1, 2}).output("y", {"n", 2});
  kept.node("Squeeze", {"x"}, {"z"});
  kept.node("Neg", {"z"}, {"y"});
  CHECK(remarks(kept).empty());
  CHECK(results(kept, {filled({3, 1, 2}, 0)})[0].shape == Numbers{3, 2});
  CHECK(results(kept, {filled({1, 1, 2}, 0)})[0].shape == Numbers{1, 2});

  ModelWriter removed;
  removed.input("x", {"n", 1}).output("y", {});
  removed.node("Squeeze", {"x"}, {"z"});
  removed.node("Sigmoid", {"z"}, {"y"});
  CHECK(remarks(removed).empty());
  CHECK(results(removed, {filled({1, 1}, 0)})[0].shape.empty());
  CHECK(std::holds_alternative<relax::RunFault>(run(removed, {filled({3, 1}, 0)})));

  // What follows needs the rank that remains, though no declared shape differs.
  ModelWriter needed;
  needed.input("x", {"n", 1, 2}).input("w", {2, 3}).output("y", {"k", 3});
  needed.node("Squeeze", {"x"}, {"z"});
  needed.node("Gemm", {"z", "w"}, {"y"});
  CHECK(results(needed, {filled({1, 1, 2}, 1), filled({2, 3}, 1)})[0].shape == Numbers{1, 3});
}

TEST_CASE("a slice by lists of which only the run says how long they are") {
  ModelWriter model;
  model.input("x", {3, 4}).input("s", {"k"}, TensorProto::INT64).input("e", {"k"}, TensorProto::INT64);
  model.output("y", {"rows", "columns"});
  model.node("Slice", {"x", "s", "e"}, {"y"});
  HostTensor x = floats({3, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  CHECK(first(model, {x, int64s({1}, {1}), int64s({1}, {2})}) == Floats{4, 5, 6, 7});
  CHECK(first(model, {x, int64s({2}, {1, -2}), int64s({2}, {3, 9})}) == Floats{6, 7, 10, 11});
  CHECK(results(model, {x, int64s({0}, {}), int64s({0}, {})})[0].shape == Numbers{3, 4});
  CHECK(std::holds_alternative<relax::RunFault>(run(model, {x, int64s({3}, {0, 0, 0}), int64s({3}, {1, 1, 1})})));
}

TEST_CASE("a split by lengths of which the run says how many there are uses up the axis, or is refused") {
  ModelWriter model;
  model.input("x", {"n"}).input("lengths", {"k"}, TensorProto::INT64).output("y", {"m"});
  model.node("SplitToSequence", {"x", "lengths"}, {"parts"});
  model.tensor("second", {}, TensorProto::INT64).add_int64_data(1);
  model.node("SequenceAt", {"parts", "second"}, {"y"});
  CHECK(first(model, {floats({3}, {1, 2, 3}), int64s({2}, {1, 2})}) == Floats{2, 3});
  CHECK(first(model, {floats({3}, {1, 2, 3}), int64s({3}, {2, 0, 1})}).empty());
  CHECK(std::holds_alternative<relax::RunFault>(run(model, {floats({3}, {1, 2, 3}), int64s({2}, {1, 1})})));
}
