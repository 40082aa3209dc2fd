// cost_test.cpp: what compiling a graph costs grows as the graph does, before LLVM.
//
// Seconds say little on a machine that does other things as well, so what is counted is how often memory is asked for:
// every op, expression of a kernel, set and list that a pass makes is counted, and a pass that goes over the whole
// graph for each of its ops shows, since it collects what it finds.
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "tests/unit/pipeline/counting.h"
#include "tests/unit/pipeline/harness.h"

namespace {

size_t asked = 0, most = SIZE_MAX;

}  // namespace

namespace relaxc::test {

size_t allocations() {
  return asked;
}
void allow_allocations(size_t more) {
  most = more == SIZE_MAX ? SIZE_MAX : asked + more;
}

}  // namespace relaxc::test

void* operator new(size_t bytes) {
  if (++asked > most) throw std::bad_alloc();
  if (void* memory = std::malloc(bytes != 0 ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  ++asked;
  return std::malloc(bytes != 0 ? bytes : 1);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}

namespace relaxc::test {
namespace {

std::string graph(const std::string& lines, const std::string& result) {
  return "@R.function\ndef main(x: R.Tensor((\"n\", 64), \"float32\"), w: R.Tensor((64, 64), \"float32\")):\n"
         "    with R.dataflow():\n" +
         lines + "        R.output(" + result + ")\n    return " + result + "\n";
}

std::string value(int i) {
  return i == 0 ? "x" : "v" + std::to_string(i);
}

/// `kinds` one after the other, each of the one before.
std::string chain(int length, const std::vector<std::string>& kinds) {
  std::string lines;
  for (int i = 0; i < length; ++i) {
    std::string call = kinds[static_cast<size_t>(i) % kinds.size()];
    call.replace(call.find('@'), 1, value(i));
    lines += "        " + value(i + 1) + " = " + call + "\n";
  }
  return graph(lines, value(length));
}

/// Branches side by side that meet in one concatenation.
std::string fan(int width) {
  std::string lines, all;
  for (int i = 1; i <= width; ++i) {
    lines +=
        "        " + value(i) + " = R.matmul(R.multiply(x, R.const(" + std::to_string(i) + ".5, \"float32\")), w)\n";
    all += value(i) + ", ";
  }
  return graph(lines + "        y = R.concat((" + all + "), axis=1)\n", "y");
}

/// How often passes ask for memory for `text`, up to the plan of its memory.
size_t cost(const std::string& text) {
  Program program(text);
  PassOptions options;
  options.stop_after = "plan_memory";
  options.verify = false;
  size_t before = asked;
  program.run({compile_pipeline().begin(), compile_pipeline().end()}, options);
  return asked - before;
}

/// Four times the graph may cost five times as much: tables that grow and logarithms have that room, squares have not.
void grows_as(const std::string& small, const std::string& large) {
  size_t few = cost(small), many = cost(large);
  INFO(few << " and " << many);
  CHECK(static_cast<double>(many) < 5.0 * static_cast<double>(few));
}

TEST_CASE("the cost of chains of products and activations is linear") {
  const std::vector<std::string> kinds{"R.matmul(@, w)", "R.nn.relu(@)", "R.add(@, x)", "R.tanh(@)"};
  grows_as(chain(2500, kinds), chain(10000, kinds));
}

TEST_CASE("the cost of chains of element-wise operators is linear") {
  const std::vector<std::string> kinds{"R.nn.relu(@)", "R.add(@, x)", "R.tanh(@)", "R.multiply(@, x)"};
  grows_as(chain(2500, kinds), chain(10000, kinds));
}

TEST_CASE("the cost of a fused kernel is linear in its members") {
  const std::vector<std::string> kinds{"R.nn.relu(@)", "R.add(@, x)", "R.abs(@)", "R.multiply(@, x)"};
  grows_as(chain(15, kinds), chain(60, kinds));  // all of them one kernel
}

TEST_CASE("the cost of wide graphs is linear") {
  grows_as(fan(250), fan(1000));
}

}  // namespace
}  // namespace relaxc::test
