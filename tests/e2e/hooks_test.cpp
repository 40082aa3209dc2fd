// hooks_test.cpp: objects that tell when kernels begin and end, and ask before each whether to go on.
#include <catch2/catch.hpp>
#include <thread>

#include "tests/e2e/compile_and_run.h"

namespace relaxc::e2e {
namespace {

using Task = int32_t (*)(void* arg, int32_t index);

/// What a model said, on which threads.
struct Heard {
  std::vector<std::pair<int32_t, int32_t>> calls;  ///< node, begin
  std::thread::id thread = std::this_thread::get_id();
  bool elsewhere = false;  ///< on a thread other than the caller's

  static void note(void* user, int32_t node, int32_t begin) {
    auto& self = *static_cast<Heard*>(user);
    self.calls.emplace_back(node, begin);
    self.elsewhere |= std::this_thread::get_id() != self.thread;
  }
  /// The kernels in the order in which they ran; requires that each ends before the next begins.
  std::vector<int32_t> kernels(const rlx_function& function) const {
    std::vector<int32_t> found;
    REQUIRE(calls.size() % 2 == 0);
    for (size_t i = 0; i < calls.size(); i += 2) {
      REQUIRE(calls[i].second == 1);
      REQUIRE(calls[i + 1] == std::pair(calls[i].first, 0));
      REQUIRE(calls[i].first >= 0);
      REQUIRE(static_cast<uint32_t>(calls[i].first) < function.num_nodes);
      found.push_back(calls[i].first);
    }
    return found;
  }
};

/// A thread for each task.
int32_t thread_for_each(void*, int32_t tasks, Task task, void* arg) {
  std::vector<std::thread> threads;
  for (int32_t i = 0; i < tasks; ++i) threads.emplace_back([=] { static_cast<void>(task(arg, i)); });
  for (std::thread& thread : threads) thread.join();
  return RLX_OK;
}

api::CompileOptions with_hooks(bool trace, bool poll) {
  api::CompileOptions options;
  options.hooks = {trace, poll};
  return options;
}

TEST_CASE("a traced object says when each kernel begins and ends, however many threads share it") {
  CompiledProgram program("tests/e2e/programs/parallel.relax", with_hooks(true, false));
  std::vector<HostTensor> inputs{floats({200, 96}, -3), floats({96, 64}, -100)};
  for (LoadedModel* model : {&program.llvm(), &program.c()}) {
    const auto answer = model->run(inputs);
    REQUIRE(answer.index() == 0);
    model->share_tasks(thread_for_each, nullptr);
    Heard heard;
    model->watch(Heard::note, &heard);
    CHECK(model->run(inputs) == answer);
    CHECK(heard.kernels(model->function()) == std::vector<int32_t>{0, 1, 2});
    CHECK_FALSE(heard.elsewhere);
    CHECK(std::string(model->function().nodes[1]) == "rows");
  }
}

TEST_CASE("a kernel that fails has ended as well") {
  CompiledProgram program("tests/e2e/programs/tir_assert.relax", with_hooks(true, false));
  for (LoadedModel* model : {&program.llvm(), &program.c()}) {
    Heard heard;
    model->watch(Heard::note, &heard);
    const auto answer = model->run({tensor(DType::f(32), {4}, {1, 2, -3, 4})});
    REQUIRE(answer.index() == 1);
    CHECK(std::get<1>(answer).find("ASSERTION") != std::string::npos);
    CHECK(heard.kernels(model->function()).size() == 1);
  }
}

TEST_CASE("kernels of called functions have numbers of their own") {
  CompiledProgram program("tests/e2e/programs/call_with_symbols.relax", with_hooks(true, false));
  for (LoadedModel* model : {&program.llvm(), &program.c()})
    for (uint32_t entry = 0; entry < model->model().num_functions; ++entry) {
      const rlx_function& function = model->function(entry);
      CHECK(function.num_nodes > 0);
      for (uint32_t i = 0; i < function.num_nodes; ++i) CHECK(std::string(function.nodes[i]).size() > 0);
    }
}

/// Ends the run before the kernel with the number that `user` points to.
int32_t stop_at(void* user, int32_t node) {
  return node == *static_cast<int32_t*>(user) ? 77 : 0;
}

TEST_CASE("an object that asks ends before the kernel at which it is told to") {
  CompiledProgram program("tests/e2e/programs/parallel.relax", with_hooks(true, true));
  std::vector<HostTensor> inputs{floats({4, 96}, -3), floats({96, 64}, -100)};
  for (LoadedModel* model : {&program.llvm(), &program.c()}) {
    for (int32_t stop : {0, 1, 2, -1}) {
      Heard heard;
      model->watch(Heard::note, &heard);
      model->ask(stop_at, &stop);
      const auto answer = model->run(inputs);
      REQUIRE(answer.index() == (stop < 0 ? 0U : 1U));
      CHECK(heard.kernels(model->function()).size() == (stop < 0 ? 3U : static_cast<size_t>(stop)));
      if (stop < 0) continue;
      INFO(std::get<1>(answer));
      CHECK(std::get<1>(answer).find("POLLED") != std::string::npos);
      CHECK(std::get<1>(answer).find("node " + std::to_string(stop)) != std::string::npos);
      CHECK(std::get<1>(answer).find("actual 77") != std::string::npos);
    }
  }
}

TEST_CASE("an object without hooks calls none") {
  CompiledProgram program("tests/e2e/programs/parallel.relax");
  for (LoadedModel* model : {&program.llvm(), &program.c()}) {
    Heard heard;
    int32_t first = 0;
    model->watch(Heard::note, &heard);
    model->ask(stop_at, &first);
    REQUIRE(model->run({floats({4, 96}, -3), floats({96, 64}, -100)}).index() == 0);
    CHECK(heard.calls.empty());
  }
}

}  // namespace
}  // namespace relaxc::e2e
