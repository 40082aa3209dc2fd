// growth_test.cpp: what is open when compiling costs what it is long: nodes whose sizes are computed, dims that callers
// choose, and dims that data decides.
//
// Counted are allocations (every node, expression, list and step of a proof makes some), up to the plan of memory, of
// programs that double three times. A table that grows and a logarithm have the room that the bound leaves;
// one that asks about every two has not. `unit_pipeline "[growth]" -s` prints the curves that docs/performance.md has.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <functional>

#include "tests/unit/pipeline/counting.h"
#include "tests/unit/pipeline/harness.h"

namespace relaxc::test {
namespace {

constexpr double kDoubling = 2.5, kThreeDoublings = 2.3 * 2.3 * 2.3;

size_t allocated_by(const std::string& text) {
  Program program(text);
  PassOptions options;
  options.stop_after = "plan_memory";
  options.verify = false;
  size_t before = allocations();
  program.run({compile_pipeline().begin(), compile_pipeline().end()}, options);
  return allocations() - before;
}

/// `program(n)` for n, 2n, 4n and 8n.
void doubles(const std::string& what, int n, const std::function<std::string(int)>& program) {
  size_t first = 0, last = 0;
  for (int many = n; many <= 8 * n; many *= 2) {
    size_t now = allocated_by(program(many));
    INFO("| " << what << " | " << many << " | " << now << " |");
    CHECK((last == 0 || static_cast<double>(now) <= kDoubling * static_cast<double>(last)));
    if (first == 0) first = now;
    last = now;
  }
  INFO(what << ": " << first << " and " << last);
  CHECK(static_cast<double>(last) <= kThreeDoublings * static_cast<double>(first));
}

std::string module(const std::string& parameters, const std::string& lines, const std::string& result) {
  return "@R.function\ndef main(" + parameters + "):\n    with R.dataflow():\n" + lines + "        R.output(" + result +
         ")\n    return " + result + "\n";
}

/// Convolutions that halve and restore an image of open sizes: 1 + (h - 1) // 2, and twice that.
std::string sizes_of_convolutions(int nodes) {
  std::string lines, value = "x";
  for (int i = 0; i < nodes; ++i) {
    std::string made = fmt::format("v{}", i);
    lines += i < 2 ? fmt::format("        {} = R.nn.conv2d({}, k, strides=[2, 2], padding=[1, 1, 1, 1])\n", made, value)
                   : fmt::format("        {} = R.tanh(R.nn.conv2d({}, k, padding=[1, 1, 1, 1]))\n", made, value);
    value = made;
  }
  return module("x: R.Tensor((1, 4, \"h\", \"w\"), \"float32\"), k: R.Tensor((4, 4, 3, 3), \"float32\")", lines, value);
}

/// Lengths that are cut and padded, each from the one before.
std::string sizes_of_slices(int nodes) {
  std::string lines, value = "x";
  for (int i = 0; i < nodes; ++i) {
    std::string made = fmt::format("v{}", i);
    lines +=
        i % 2 == 0
            ? fmt::format("        {} = R.concat((R.tanh({}), {}), axis=0)\n", made, value, value)
            : fmt::format("        {} = R.strided_slice(R.exp({}), axes=[0], begin=[0], end=[100000], strides=[2])\n",
                          made, value);
    value = made;
  }
  return module("x: R.Tensor((\"n\", 4), \"float32\")", lines, value);
}

/// Inputs with a dim each, products of all of them, and one result of all.
std::string open_dims(int dims) {
  std::string parameters = "w: R.Tensor((8, 8), \"float32\")", lines, all;
  for (int i = 0; i < dims; ++i) {
    parameters += fmt::format(", x{}: R.Tensor((\"d{}\", 8), \"float32\")", i, i);
    lines += fmt::format("        v{} = R.matmul(R.matmul(x{}, w), w)\n", i, i);
    all += fmt::format("{}v{}", i == 0 ? "" : ", ", i);
  }
  return module(parameters, lines + "        y = R.concat((" + all + "), axis=0)\n", "y");
}

/// The same dims in pairs, each product of two.
std::string pairs_of_dims(int dims) {
  std::string parameters = "w: R.Tensor((8, 8), \"float32\")", lines, sum;
  for (int i = 0; i < dims; ++i) parameters += fmt::format(", x{}: R.Tensor((\"d{}\", 8), \"float32\")", i, i);
  for (int i = 0; i + 1 < dims; ++i) {
    lines += fmt::format("        v{} = R.sum(R.matmul(R.matmul(x{}, w), R.permute_dims(x{})))\n", i, i, i + 1);
    std::string next = i == 0 ? "v0" : fmt::format("s{}", i);
    if (i > 0) lines += fmt::format("        {} = R.add({}, v{})\n", next, sum, i);
    sum = next;
  }
  return module(parameters, lines, sum);
}

/// Sizes that data decides, side by side, as detectors find boxes for each of their classes.
std::string dims_of_data(int dims) {
  std::string names, lines, sum;
  for (int i = 0; i < dims; ++i) {
    names += fmt::format("    k{} = T.int64()\n", i);
    lines += fmt::format(
        "    u{}: R.Tensor((1, k{}), \"int64\") = R.nonzero(R.greater(x, R.const({}.5, \"float32\")))\n", i, i, i);
    lines += fmt::format("    g{} = R.take(x, R.reshape(u{}, (k{},)), axis=0)\n", i, i, i);
    lines += fmt::format(
        "    v{} = R.sum(R.matmul(R.expand_dims(R.exp(g{}), axis=[0]), R.expand_dims(g{}, axis=[1])))\n", i, i, i);
    std::string next = i == 0 ? "v0" : fmt::format("s{}", i);
    if (i > 0) lines += fmt::format("    {} = R.add({}, v{})\n", next, sum, i);
    sum = next;
  }
  return "@R.function\ndef main(x: R.Tensor((\"n\",), \"float32\")):\n" + names + lines + "    return " + sum + "\n";
}

/// Sizes that data decides, each of what the last one left, so that all are bounded by each other.
std::string chain_of_data(int dims) {
  std::string names, lines, value = "x";
  for (int i = 0; i < dims; ++i) {
    names += fmt::format("    k{} = T.int64()\n", i);
    lines += fmt::format("    u{}: R.Tensor((1, k{}), \"int64\") = R.nonzero({})\n", i, i, value);
    lines += fmt::format("    g{} = R.take({}, R.reshape(u{}, (k{},)), axis=0)\n", i, value, i, i);
    value = fmt::format("g{}", i);
  }
  return "@R.function\ndef main(x: R.Tensor((\"n\",), \"float32\")):\n" + names + lines + "    return " + value + "\n";
}

/// Two branches in a row that give many tensors each: the memory of all results is idle until the second.
std::string results_of_branches(int results) {
  std::string lines = "    t0 = (x";
  for (int i = 1; i < results; ++i) lines += ", x";
  lines += ")\n";
  for (int i = 1; i <= 2; ++i)
    lines += fmt::format("    if c:\n        t{} = t{}\n    else:\n        t{} = t{}\n", i, i - 1, i, i - 1);
  return "@R.function\ndef main(x: R.Tensor((4,), \"float32\"), c: R.Tensor((), \"bool\")):\n" + lines +
         "    return t2\n";
}

TEST_CASE("the cost of nodes with computed sizes is linear", "[growth]") {
  doubles("convolutions, sizes `1 + (h - 1) // 2`", 16, sizes_of_convolutions);
  doubles("slices and concatenations", 8, sizes_of_slices);
}

TEST_CASE("the cost of results of branches is linear", "[growth]") {
  doubles("results of two branches", 512, results_of_branches);
}

TEST_CASE("the cost of open dims is linear", "[growth]") {
  doubles("inputs with a dim each", 8, open_dims);
  doubles("products of two open dims", 8, pairs_of_dims);
}

TEST_CASE("the cost of data-dependent dims is linear", "[growth]") {
  doubles("sizes found in data, side by side", 8, dims_of_data);
  doubles("sizes found in data, each from the last", 8, chain_of_data);
}

}  // namespace
}  // namespace relaxc::test
