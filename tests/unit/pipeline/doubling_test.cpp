// doubling_test.cpp: a value that is used twice, and what is made of it twice again: n steps are 2^n paths.
//
// Every operator of the table that takes tensors of one type and gives one of the same shape is chained with itself, so
// an operator that is new is here the day it is written; so are conditions, shape arithmetic, moves of data and prim
// funcs that are written by hand. What is counted is how often memory is asked for, up to and including both backends'
// text, and how long that text is. Twice the steps may cost nine times as much: rules look at all nests of a kernel for
// each, and a kernel has bounds. One walk that forgets what it has seen costs 512 times as much.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <new>
#include <regex>
#include <sstream>

#include "compiler/codegen/c/emit.h"
#include "compiler/codegen/llvm/emit.h"
#include "compiler/codegen/llvm/target.h"
#include "compiler/support/temporary_folder.h"
#include "compiler/tir/visit.h"
#include "frontends/relax/parser.h"
#include "tests/sanitized.h"
#include "tests/unit/pipeline/counting.h"
#include "tests/unit/pipeline/harness.h"

namespace relaxc::test {
namespace {

constexpr int kFew = 9, kMany = 18;
constexpr double kCube = 9;

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

/// `step` applied `length` times, first to `first`: lines of "V = ... @ ...", V what a step makes and @ what it gets.
std::string chain(const std::string& parameters, const std::string& first, const std::string& step, int length,
                  const std::string& last = "") {
  static const std::regex kPart(R"(\bT\b)");
  std::string lines, value = first.empty() ? "x" : "v0";
  if (!first.empty()) lines = "        v0 = " + first + "\n";
  for (int i = 1; i <= length; ++i) {
    std::string made = fmt::format("v{}", i);
    std::istringstream parts(step);
    for (std::string line; std::getline(parts, line);)
      lines += "        " +
               std::regex_replace(replaced(replaced(line, "@", value), "V", made), kPart, fmt::format("t{}", i)) + "\n";
    value = made;
  }
  if (!last.empty()) lines += "        y = " + replaced(last, "@", value) + "\n", value = "y";
  return "@R.function\ndef main(" + parameters + "):\n    with R.dataflow():\n" + lines + "        R.output(" + value +
         ")\n    return " + value + "\n";
}

struct Cost {
  size_t work = 0, text = 0;
};

/// The length of what both backends write. LLVM's own passes do not run: their time is LLVM's.
size_t emitted(Program& program) {
  const TemporaryFolder folder;
  size_t length = 0;
  auto open = [&](const std::string&) -> codegen_c::Write {
    return [&](std::string_view text) { return length += text.size(), true; };
  };
  REQUIRE(codegen_c::emit_c(program.object(), "model", open));
  Diagnostics diag;
  const std::string file = folder.file("model.ll");
  codegen_llvm::EmitOptions options;
  options.kind = codegen_llvm::OutputKind::kIr;
  options.opt = "0";
  options.jobs = 1;
  Result<Target> target = codegen_llvm::resolve_target("x86_64-unknown-linux-gnu", "x86-64-v3", "", diag);
  REQUIRE(target);
  REQUIRE(codegen_llvm::emit(program.object(), *target, options, file, diag));
  return length + std::filesystem::file_size(file);
}

Cost cost(const std::string& text) {
  const size_t before = allocations();
  Program program(text);
  PassOptions options;
  options.verify = false;
  program.run({compile_pipeline().begin(), compile_pipeline().end()}, options);
  for (const tir::PrimFunc* kernel : program.module().prim_funcs()) CHECK(kernel->schedule.remark.empty());
  const size_t length = emitted(program);
  return {allocations() - before, length};
}

/// `few` and `many` are the same program with kFew and kMany steps.
void costs_no_paths(const std::string& few, const std::string& many) {
  INFO(few);
  const Cost small = cost(few);
  Cost large{SIZE_MAX, SIZE_MAX};
  allow_allocations(10 * small.work);
  try {
    large = cost(many);
  } catch (const std::bad_alloc&) {
    // it stays at the most
  }
  allow_allocations(SIZE_MAX);
  INFO(small.work << " allocations and " << large.work << ", text of " << small.text << " and " << large.text);
  CHECK(static_cast<double>(large.work) < kCube * static_cast<double>(small.work));
  CHECK(static_cast<double>(large.text) < kCube * static_cast<double>(small.text));
}

void costs_no_paths(const std::string& parameters, const std::string& first, const std::string& step,
                    const std::string& last = "") {
  costs_no_paths(chain(parameters, first, step, kFew, last), chain(parameters, first, step, kMany, last));
}

/// The type of main's result; nothing if the program is not right.
std::optional<std::pair<DType, std::string>> result_of(const std::string& text) {
  const relax::OpTable ops = ops::op_table();
  Diagnostics diag;
  auto module = frontend::parse_module("program.relax", text, ops, diag);
  if (!module) return {};
  const auto* tensor = module->functions()[0]->body().yield->operand(0)->info->as<relax::TensorInfo>();
  if (tensor == nullptr || !tensor->shape || !tensor->dtype) return {};
  return std::pair(*tensor->dtype, relax::to_string(module->functions()[0]->body().yield->operand(0)->info));
}

std::string parameter(const std::string& dtype) {
  return fmt::format("x: R.Tensor((\"n\", 64), \"{}\")", dtype);
}

/// A call of the operator on the same value, several times.
std::string call_of(const relax::OpDef& def, size_t operands) {
  std::string list;
  for (size_t i = 0; i < operands; ++i) list += i == 0 ? "@" : ", @";
  return fmt::format("R.{}({})", def.name, list);
}

/// The step that chains `def` on tensors of `dtype`; empty if it does not fit.
std::string step_of(const relax::OpDef& def, const std::string& dtype, size_t operands) {
  const std::string call = call_of(def, operands);
  auto made = result_of(chain(parameter(dtype), "", "V = " + call, 1));
  auto given = result_of(chain(parameter(dtype), "", "V = @", 1));
  if (!made || !given) return {};
  std::string back = made->second;
  if (replaced(back, to_string(made->first), dtype) != given->second) return {};
  std::string value = to_string(made->first) == dtype ? "T" : "R.astype(T, \"" + dtype + "\")";
  const std::string last = operands > 1      ? "V = " + value
                           : dtype == "bool" ? "V = R.logical_xor(" + value + ", @)"
                                             : "V = R.add(" + value + ", @)";
  return "T = " + call + "\n" + last;
}

TEST_CASE("the cost of chains of operators on one value twice is linear") {
  const relax::OpTable ops = ops::op_table();
  size_t chained = 0, asked = 0;
  for (const relax::OpDef* def : ops.all())
    for (const char* dtype : {"float32", "int64", "bool"}) {
      if (asked++ % testing::stride(4) != 0) continue;  // dtypes in turn
      for (size_t operands : {size_t{1}, size_t{2}, size_t{3}}) {
        const std::string step = step_of(*def, dtype, operands);
        if (step.empty()) continue;
        INFO(def->name.text() << " of " << dtype);
        costs_no_paths(parameter(dtype), "", step);
        ++chained;
      }
    }
  WARN(chained << " operators and dtypes");
  CHECK(chained > testing::sample(120));  // 156 of all; which a sample has depends on how many operators there are
}

TEST_CASE("the cost of chains of selects with values used on both sides is linear") {
  const std::string two = parameter("float32") + ", z: R.Tensor((\"n\", 64), \"float32\")";
  for (const char* ask : {"less", "less_equal", "greater", "greater_equal", "equal", "not_equal"})
    for (const char* step : {"T = R.{}(@, z)\nV = R.where(T, R.add(@, z), @)",
                             "T = R.{}(@, z)\nV = R.where(T, R.where(R.less(z, x), @, z), R.negative(@))",
                             "T = R.{}(@, @)\nV = R.where(T, R.floor_mod(@, z), R.divide(@, z))"})
      costs_no_paths(two, "", replaced(step, "{}", ask));
  // Whether y is read is asked of values that read y, where x is less than z.
  const std::string three = two + ", y: R.Tensor((\"n\", 64), \"float32\")";
  const std::string asks = "R.less(R.where(R.less(x, z), R.where(R.less(z, y), x, z), x), z)";
  for (const char* step : {"V = R.where(R.less(@, z), R.where(R.less(z, y), @, z), R.negative(@))",
                           "V = R.where(R.less(x, z), R.add(@, @), R.multiply(@, @))",
                           "V = R.where(R.less(x, R.sqrt(z)), R.add(@, y), R.multiply(@, z))"})
    costs_no_paths(three, "R.where(" + asks + ", y, x)", step);
  costs_no_paths(two, "", "V = R.clip(R.add(@, @), -1, 1)");
  costs_no_paths(two, "R.less(x, z)", "V = R.logical_and(R.logical_or(@, R.less(x, z)), R.logical_not(@))",
                 "R.where(@, x, z)");
  for (const char* dtype : {"float16", "float64", "int8", "int32", "uint8", "bool"})
    costs_no_paths(two, "", fmt::format("T = R.astype(@, \"{}\")\nV = R.add(R.astype(T, \"float32\"), @)", dtype));
}

TEST_CASE("the cost of chains of data movements that are used twice is linear") {
  const std::string square = "x: R.Tensor((64, 64), \"float32\")", open = parameter("float32");
  costs_no_paths(open, "", "T = R.concat([@, @], axis=1)\nV = R.strided_slice(T, axes=[1], begin=[0], end=[64])");
  costs_no_paths(open, "", "T = R.concat([@, @], axis=1)\nV = R.strided_slice(T, axes=[1], begin=[32], end=[96])");
  costs_no_paths(square, "", "V = R.add(R.permute_dims(@, axes=[1, 0]), @)");
  costs_no_paths(square, "", "T = R.reshape(@, (8, 512))\nV = R.add(R.reshape(T, (64, 64)), @)");
  costs_no_paths(square, "", "T = R.reshape(R.permute_dims(@, axes=[1, 0]), (64, 64))\nV = R.multiply(T, @)");
  costs_no_paths(square, "", "V = R.add(R.flip(@, axis=0), R.flip(@, axis=1))");
  costs_no_paths(square, "", "T = R.split(@, 2, axis=1)\nV = R.concat([T[1], T[0]], axis=1)");
  costs_no_paths(square, "", "V = R.add(R.broadcast_to(R.sum(@, axis=[1], keepdims=True), (64, 64)), @)");
  costs_no_paths(square, "", "V = R.strided_slice(R.tile(@, (2, 1)), axes=[0], begin=[1], end=[65])");
}

TEST_CASE("the cost of arithmetic on shapes is linear") {
  const std::string open = "x: R.Tensor((\"n\", \"m\"), \"float32\")";
  const std::string first = "R.shape_to_tensor(R.shape_of(x))";
  const std::string last =
      "R.full(R.tensor_to_shape(R.minimum(@, R.const([3, 3], \"int64\"))), R.const(1, \"float32\"))";
  for (const char* step :
       {"V = R.add(@, @)", "V = R.multiply(@, @)", "V = R.maximum(R.add(@, @), R.subtract(@, R.const(1, \"int64\")))",
        "T = R.multiply(R.floor_divide(@, R.const(2, \"int64\")), R.floor_mod(@, R.const(3, \"int64\")))\nV = R.add(T, "
        "@)",
        "T = R.concat([@, @], axis=0)\nV = R.strided_slice(T, axes=[0], begin=[1], end=[3])"})
    costs_no_paths(open, first, step, "R.astype(@, \"float32\")");
  costs_no_paths(open, first, "V = R.add(@, @)", last);
  // As dims these are proved and guarded, which takes the steps that proofs may take; so only a few.
  const char* mixed =
      "T = R.multiply(R.floor_divide(@, R.const(2, \"int64\")), R.floor_mod(@, R.const(3, \"int64\")))\n"
      "V = R.add(T, @)";
  costs_no_paths(chain(open, first, mixed, 3, last), chain(open, first, mixed, 6, last));
}

/// A prim func that a program may write: lets, locals and expressions that double.
std::string written(const std::string& before, const std::string& step, const std::string& after, int length) {
  std::string lines, value = "v0";
  for (int i = 1; i <= length; ++i) {
    std::string made = fmt::format("v{}", i);
    lines += "        " + replaced(replaced(step, "@", value), "V", made) + "\n";
    value = made;
  }
  return "@T.prim_func\ndef f(A: T.Buffer((64,), \"float32\"), B: T.Buffer((64,), \"float32\")):\n    for i in "
         "range(64):\n" +
         before + lines + "        " + replaced(after, "@", value) + "\n";
}

TEST_CASE("the cost of prim funcs that double values is linear") {
  const std::string scalar = "        v0 = A[i]\n";
  for (const char* step : {"V = @ + @", "V = @ * @", "V = T.exp(@) + @", "V = T.Select(@ < A[i], @ + A[i], @)",
                           "V = T.if_then_else(@ < A[i], T.if_then_else(A[i] < A[63 - i], @, A[63 - i]), @)"})
    costs_no_paths(written(scalar, step, "B[i] = @", kFew), written(scalar, step, "B[i] = @", kMany));
  for (const char* step : {"B[i] = B[i] + B[i]", "B[i] = T.if_then_else(B[i] < A[i], B[i] + A[i], B[i])"})
    costs_no_paths(written("        B[i] = A[i]\n", step, "B[i] = B[i] * B[i]", kFew),
                   written("        B[i] = A[i]\n", step, "B[i] = B[i] * B[i]", kMany));
  const std::string index = "        v0 = i + 1\n";
  for (const char* step : {"V = @ + @", "V = @ // 2 * (@ % 3) + @", "V = T.max(@ + @, @ - 1)"})
    costs_no_paths(written(index, step, "B[i] = A[@ % 64]", kFew), written(index, step, "B[i] = A[@ % 64]", kMany));
}

}  // namespace
}  // namespace relaxc::test
