// size_cost_test.cpp: what importing the arithmetic of sizes costs grows as its length does. Requests for memory are
// counted, not seconds.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <new>

#include "compiler/ops/op_table.h"
#include "tests/onnx/imported.h"

namespace {

size_t asked = 0;

}  // namespace

[[gnu::noinline]] void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  ++asked;
  return std::malloc(bytes != 0 ? bytes : 1);
}
[[gnu::noinline]] void* operator new(size_t bytes) {
  ++asked;
  if (void* memory = std::malloc(bytes != 0 ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}

using namespace relaxc;
using namespace relaxc::onnx_tests;

namespace {

/// One more step on "last", with a constant "c" of its own; gives `out`.
using Step = void (*)(ModelWriter&, const std::string& last, const std::string& c, const std::string& out);

const std::vector<std::pair<const char*, Step>> kSteps = {
    {"the larger of two",
     [](ModelWriter& m, const std::string& last, const std::string& c, const std::string& out) {
       m.node("Add", {"h", c}, {out + "_sum"}), m.node("Greater", {last, out + "_sum"}, {out + "_more"});
       m.node("Where", {out + "_more", last, out + "_sum"}, {out});
     }},
    {"another one where equal",
     [](ModelWriter& m, const std::string& last, const std::string& c, const std::string& out) {
       m.node("Equal", {last, c}, {out + "_same"}), m.node("Where", {out + "_same", "w", last}, {out});
     }},
    {"more beyond a limit",
     [](ModelWriter& m, const std::string& last, const std::string& c, const std::string& out) {
       m.node("Greater", {"h", c}, {out + "_more"}), m.node("Add", {last, c}, {out + "_sum"});
       m.node("Where", {out + "_more", out + "_sum", last}, {out});
     }},
    {"a quotient",
     [](ModelWriter& m, const std::string& last, const std::string& c, const std::string& out) {
       m.node("Add", {last, c}, {out + "_sum"}), m.node("Div", {out + "_sum", "two"}, {out});
     }},
};

void number(ModelWriter& model, const std::string& name, int64_t value) {
  model.tensor(name, {1}, onnx::TensorProto::INT64).add_int64_data(value);
}

/// How often importing `steps` of one kind asks for memory.
size_t cost(Step step, int steps) {
  ModelWriter model;
  model.input("x", {"h", "w"}).output("y", {"n"});
  number(model, "0", 0), number(model, "1", 1), number(model, "two", 2);
  model.node("Shape", {"x"}, {"shape"});
  model.node("Gather", {"shape", "0"}, {"h"}), model.node("Gather", {"shape", "1"}, {"w"});
  std::string last = "h";
  for (int i = 0; i < steps; ++i) {
    const std::string out = "v" + std::to_string(i), c = "c" + std::to_string(i);
    number(model, c, i + 3);
    step(model, std::exchange(last, out), c, out);
  }
  model.tensor("value", {1}).add_float_data(1);
  model.node("Expand", {"value", last}, {"y"});
  relax::OpTable ops = ops::op_table();
  Diagnostics diag;
  ModelFolder folder;
  const std::string path = folder.write("model.onnx", model.bytes());
  const size_t before = asked;
  CHECK(frontend::import_onnx(path, {}, ops, diag));
  return asked - before;
}

}  // namespace

TEST_CASE("the cost of sizes that depend on each other is linear") {
  for (const auto& [name, step] : kSteps) {
    const size_t few = cost(step, 60), many = cost(step, 240);
    INFO(name << ": " << few << " and " << many);
    CHECK(static_cast<double>(many) < 5.0 * static_cast<double>(few));
  }
}
