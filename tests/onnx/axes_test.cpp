// axes_test.cpp: axes that are inputs of a model: those that the rank does not have, and those given twice, are refused
// by the run, in every operator that takes axes from its inputs.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "tests/onnx/imported.h"

using namespace relaxc;
using namespace relaxc::onnx_tests;
using relax::HostTensor;

namespace {

/// An operator on "x" of shape [2, 1, 3, 2], with "axes" where it takes them and what else it needs in front of them.
struct AxesRow {
  const char* op;
  std::vector<std::string> inputs;
  int64_t count;     ///< how many axes it is given
  int64_t rank = 4;  ///< what they count in
  bool scalar = false;
};

const std::vector<AxesRow>& axes_rows() {
  static const std::vector<AxesRow> rows = {
      {"Slice", {"x", "two", "four", "axes"}, 2},
      {"Pad", {"x", "four", "", "axes"}, 2},
      {"Unsqueeze", {"x", "axes"}, 2, 6},
      {"Squeeze", {"x", "axes"}, 1},
      {"CumSum", {"x", "axes"}, 1, 4, true},
      {"CumProd", {"x", "axes"}, 1, 4, true},
      {"DFT", {"x", "", "axes"}, 1, 4, true},
      {"ReduceSum", {"x", "axes"}, 2},
      {"ReduceProd", {"x", "axes"}, 2},
      {"ReduceMax", {"x", "axes"}, 2},
      {"ReduceMin", {"x", "axes"}, 2},
      {"ReduceMean", {"x", "axes"}, 2},
      {"ReduceL1", {"x", "axes"}, 2},
      {"ReduceL2", {"x", "axes"}, 2},
      {"ReduceSumSquare", {"x", "axes"}, 2},
      {"ReduceLogSum", {"x", "axes"}, 2},
      {"ReduceLogSumExp", {"x", "axes"}, 2},
  };
  return rows;
}

/// Whether a run with these axes is refused.
bool refuses(const AxesRow& row, const std::vector<int64_t>& axes) {
  ModelWriter model(26);
  std::vector<Dim> dims;
  std::vector<int64_t> shape;
  if (!row.scalar) dims.emplace_back(row.count), shape.push_back(row.count);
  model.input("x", {2, 1, 3, 2}).input("axes", std::move(dims), onnx::TensorProto::INT64);
  auto ones = [&](const char* name, int64_t count) {
    onnx::TensorProto& made = model.tensor(name, {count}, onnx::TensorProto::INT64);
    for (int64_t i = 0; i < count; ++i) made.add_int64_data(1);
  };
  ones("two", 2), ones("four", std::string(row.op) == "Slice" ? 2 : 4);
  model.node(row.op, row.inputs, {"y"});
  model.graph().add_output()->set_name("y");
  auto outcome = run(model, {filled({2, 1, 3, 2}, 1), int64s(shape, axes)});
  return std::holds_alternative<relax::RunFault>(outcome);
}

}  // namespace

TEST_CASE("axes that are inputs are within the rank, once each") {
  for (const AxesRow& row : axes_rows()) {
    INFO(row.op);
    const int64_t rank = row.rank, most = INT64_MAX, least = INT64_MIN, huge = int64_t{1} << 62;
    const int64_t good = row.count == 1 ? 1 : 0;  // the dim of 1, which Squeeze needs
    std::vector<int64_t> axes(static_cast<size_t>(row.count), good);
    if (row.count == 2) axes[1] = 1;
    CHECK_FALSE(refuses(row, axes));
    for (int64_t& axis : axes) axis -= rank;
    CHECK_FALSE(refuses(row, axes));
    for (int64_t bad : {rank, -rank - 1, rank + 1, huge, -huge, most, least, least + rank, int64_t{1} << 32})
      for (int64_t place = 0; place < row.count; ++place) {
        std::vector<int64_t> wrong = axes;
        wrong[static_cast<size_t>(place)] = bad;
        INFO(fmt::format("{} at {}", bad, place));
        CHECK(refuses(row, wrong));
      }
    if (row.count == 2) {
      CHECK(refuses(row, {1, 1}));
      CHECK(refuses(row, {1, 1 - rank}));
    }
  }
}

TEST_CASE("a list of axes that the run measures has axes of the rank in it, and no fill") {
  ModelWriter model(24);
  model.input("x", {4, 6}).output("y", {"a", "b"});
  for (const char* list : {"starts", "ends", "axes"}) model.input(list, {"k"}, onnx::TensorProto::INT64);
  model.node("Slice", {"x", "starts", "ends", "axes"}, {"y"});
  auto sliced = [&](const std::vector<int64_t>& axes) {
    const auto count = static_cast<int64_t>(axes.size());
    HostTensor starts = int64s({count}, std::vector<int64_t>(axes.size(), 1)),
               ends = int64s({count}, std::vector<int64_t>(axes.size(), 3));
    return run(model, {filled({4, 6}, 1), starts, ends, int64s({count}, axes)});
  };
  for (const std::vector<int64_t>& good : std::vector<std::vector<int64_t>>{{}, {1}, {-2}, {1, 0}, {-1, -2}})
    CHECK(std::holds_alternative<std::vector<HostTensor>>(sliced(good)));
  for (const std::vector<int64_t>& bad :
       std::vector<std::vector<int64_t>>{{2}, {-3}, {1, 2}, {1, 1}, {1, -1}, {INT64_MAX}, {INT64_MIN, 0}, {0, 1, 2}})
    CHECK(std::holds_alternative<relax::RunFault>(sliced(bad)));
}

TEST_CASE("a range by a delta of 0 is refused by the run") {
  for (int32_t type : {onnx::TensorProto::INT64, onnx::TensorProto::FLOAT}) {
    ModelWriter model(24);
    model.output("y", {"n"}, type);
    for (const char* name : {"start", "limit", "delta"}) model.input(name, {}, type);
    model.node("Range", {"start", "limit", "delta"}, {"y"});
    auto number = [&](int64_t value) {
      return type == onnx::TensorProto::INT64 ? int64s({}, {value}) : floats({}, {static_cast<float>(value)});
    };
    for (int64_t limit : {-4, 0, 4}) {
      INFO(limit);
      for (int64_t delta : {-2, 2})
        CHECK(std::holds_alternative<std::vector<HostTensor>>(run(model, {number(0), number(limit), number(delta)})));
      CHECK(std::holds_alternative<relax::RunFault>(run(model, {number(0), number(limit), number(0)})));
    }
  }
}
