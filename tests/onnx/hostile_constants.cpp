// hostile_constants.cpp: constants that no exporter writes, in every operator: an error about the model or a program,
// and never an internal error or a crash.
//
// For each row of the importer's table models are drawn: the first inputs are tensors of some rank or constants, the
// others constants that are negative, zero, huge, scalars, empty or of a rank that does not fit, of several dtypes.
// What is imported goes through all passes and is written as C. Each operator has a process of its own with bounds on
// time and memory, so that a hang is a finding, too.
//
// Usage: onnx_hostile_constants [DRAWS] [OPERATOR]
#include <fmt/format.h>

#include <cstring>
#include <random>

#include "compiler/codegen/c/emit.h"
#include "compiler/ops/op_table.h"
#include "compiler/pipeline/pipelines.h"
#include "compiler/pipeline/runner.h"
#include "frontends/onnx/converter.h"
#include "frontends/onnx/import.h"
#include "tests/onnx/models.h"
#include "tests/property/isolated.h"

namespace relaxc::onnx_tests {
namespace {

using onnx::TensorProto;

constexpr int64_t kNumbers[] = {-1, 0, 1, 2, -3, 5, INT64_C(1) << 31, INT64_C(1) << 62, INT64_MAX, INT64_MIN};

class Draw {
 public:
  explicit Draw(uint64_t seed) : random_(seed) {}

  size_t below(size_t count) { return random_() % count; }
  template <typename T, size_t N>
  const T& one_of(const T (&list)[N]) {
    return list[below(N)];
  }

  /// A model of one node; the text says which.
  ModelWriter model(const frontend::Converter& row, std::string& text) {
    ModelWriter made(28);
    made.proto.mutable_opset_import(0)->set_version(row.since > 18 ? 28 : below(2) == 0 ? 18 : 28);
    if (!row.domain.empty()) {
      auto& domain = *made.proto.add_opset_import();
      domain.set_domain(std::string(row.domain));
      domain.set_version(row.domain == "ai.onnx.ml" ? 3 : 1);
    }
    std::vector<std::string> inputs;
    const size_t count = 1 + below(5);
    for (size_t i = 0; i < count; ++i) {
      inputs.push_back("i" + std::to_string(i));
      text += " " + (below(4) == 0 || (i == 0 && below(4) != 0) ? tensor(made, inputs.back())
                                                                : constant(made, inputs.back()));
    }
    onnx::NodeProto& node = made.node(std::string(row.name), inputs, {"y"});
    node.set_domain(std::string(row.domain));
    made.graph().add_output()->set_name("y");
    return made;
  }

 private:
  int32_t dtype() {
    constexpr int32_t kTypes[] = {TensorProto::FLOAT, TensorProto::FLOAT, TensorProto::INT64, TensorProto::INT64,
                                  TensorProto::INT32, TensorProto::BOOL,  TensorProto::UINT8, TensorProto::INT8};
    return one_of(kTypes);
  }

  std::string tensor(ModelWriter& model, const std::string& name) {
    static const std::vector<std::vector<Dim>> kShapes = {{2, 3, 4, 4}, {2, 3, 4},      {4, 4}, {3},
                                                          {},           {"n", 3, 8, 8}, {"n"},  {Dim(int64_t{0})}};
    const std::vector<Dim>& shape = kShapes[below(kShapes.size())];
    const int32_t type = dtype();
    model.input(name, shape, type);
    return fmt::format("tensor of type {} and rank {}", type, shape.size());
  }

  std::string constant(ModelWriter& model, const std::string& name) {
    static const std::vector<std::vector<int64_t>> kShapes = {{}, {0}, {1}, {2}, {3}, {4}, {1, 1}, {2, 2}, {0, 3}};
    const std::vector<int64_t>& shape = kShapes[below(kShapes.size())];
    const int32_t type = dtype();
    TensorProto& made = model.tensor(name, shape, type);
    size_t count = 1;
    for (int64_t dim : shape) count *= static_cast<size_t>(dim);
    std::string text = fmt::format("[{}] of type {}:", fmt::join(shape, ", "), type);
    for (size_t i = 0; i < count; ++i) {
      const int64_t value = one_of(kNumbers);
      text += " " + std::to_string(value);
      if (type == TensorProto::FLOAT)
        made.add_float_data(static_cast<float>(value));
      else if (type == TensorProto::INT64)
        made.add_int64_data(value);
      else
        made.add_int32_data(static_cast<int32_t>(static_cast<int8_t>(value)) & (type == TensorProto::BOOL ? 1 : 127));
    }
    return text;
  }

  std::mt19937_64 random_;
};

/// Imports, runs all passes, writes C. Whether there was a program.
bool compiles(const std::string& path, const relax::OpTable& ops) {
  Diagnostics diag;
  Result<relax::Module> module = frontend::import_onnx(path, {}, ops, diag);
  if (!module) {
    RELAXC_CHECK(diag.has_errors(), "refused without a reason");
    return false;
  }
  Target target;
  std::unique_ptr<tir::Evaluator> evaluator = tir::make_interpreter();
  interface::Object object;
  PassContext context{ops, target, diag, *evaluator};
  context.object = &object;
  if (!run_passes(compile_pipeline(), *module, context, {})) {
    RELAXC_CHECK(diag.has_errors(), "refused without a reason");
    return false;
  }
  auto open = [](const std::string&) -> codegen_c::Write { return [](std::string_view) { return true; }; };
  codegen_c::emit_c(object, "model", open);
  return true;
}

/// What went wrong with the draws of one operator, a line each; then how many gave a program.
std::string check(const frontend::Converter& row, size_t draws) {
  const relax::OpTable ops = ops::op_table();
  const ModelFolder folder;
  std::string faults;
  size_t programs = 0;
  for (size_t i = 0; i < draws; ++i) {
    std::string text;
    uint64_t seed = i;
    for (char c : row.name) seed = seed * 131 + static_cast<unsigned char>(c);
    const ModelWriter model = Draw(seed).model(row, text);
    const std::string path = folder.write("model.onnx", model.bytes());
    try {
      programs += compiles(path, ops) ? 1 : 0;
    } catch (const std::exception& error) {
      faults += fmt::format("  draw {}:{}\n    {}\n", i, text, error.what());
    }
  }
  return fmt::format("{}\n{}", programs, faults);
}

int run(size_t draws, const char* only) {
  constexpr unsigned kSeconds = 60;
  constexpr size_t kMegabytes = 3000;
  size_t operators = 0, programs = 0, failing = 0;
  const frontend::ConverterTable table = frontend::converter_table();
  for (const frontend::Converter* row : table.all()) {
    if (only != nullptr && row->name != only) continue;
    ++operators;
    property::Ended ended = property::run_isolated([&] { return check(*row, draws); }, kSeconds, kMegabytes);
    const size_t end = ended.output.find('\n');
    const bool well = ended.how == property::Ended::kWell && end != std::string::npos;
    if (well) programs += std::stoul(ended.output);
    if (well && end + 1 == ended.output.size()) continue;
    ++failing;
    fmt::print("==== {} {}\n{}\n", row->domain, row->name,
               well                                      ? ended.output.substr(end + 1)
               : ended.how == property::Ended::kTimedOut ? "more than 60 s"
                                                         : "a crash: " + ended.output);
    std::fflush(stdout);
  }
  fmt::print("{} operators, {} models, of which {} are programs; {} operators fail\n", operators, operators * draws,
             programs, failing);
  return failing == 0 && programs > 0 ? 0 : 1;
}

}  // namespace
}  // namespace relaxc::onnx_tests

int main(int count, char** args) {
  return relaxc::onnx_tests::run(count > 1 ? std::stoul(args[1]) : 40, count > 2 ? args[2] : nullptr);
}
