// threads_test.cpp: one model on two threads at once, and the same answer whichever ran before.
#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "tests/e2e/compile_and_run.h"

namespace relaxc::e2e {
namespace {

TEST_CASE("two threads run one model with two contexts") {
  CompiledProgram program("tests/e2e/programs/lstm.relax");
  auto inputs = [](int64_t steps, double first) {
    return std::vector<HostTensor>{floats({steps, 2, 3}, first), floats({1, 8, 3}, -3), floats({1, 8, 2}, -2),
                                   floats({1, 16})};
  };
  for (const LoadedModel* model : {&program.llvm(), &program.c()}) {
    const auto short_inputs = inputs(2, -1), long_inputs = inputs(9, 1);
    const auto short_answer = model->run(short_inputs), long_answer = model->run(long_inputs);
    REQUIRE(short_answer.index() == 0);
    REQUIRE(long_answer.index() == 0);
    std::atomic<int> wrong = 0;
    auto repeat = [&](const std::vector<HostTensor>& given, const auto& answer) {
      for (int i = 0; i < 50; ++i) wrong += model->run(given) != answer;
    };
    std::thread other([&] { repeat(short_inputs, short_answer); });
    repeat(long_inputs, long_answer);
    other.join();
    CHECK(wrong == 0);
  }
}

using Task = int32_t (*)(void* arg, int32_t index);

/// Runs tasks from the last to the first and counts them in `user`. A task that waited for another would not end here,
/// and one that shares out tasks of its own fails.
int32_t backwards(void* user, int32_t tasks, Task task, void* arg) {
  static bool open = false;
  *static_cast<int*>(user) += tasks;
  if (open) return RLX_ASSERTION;
  open = true;
  int32_t status = RLX_OK;
  for (int32_t i = tasks; i-- > 0 && status == RLX_OK;) status = task(arg, i);
  open = false;
  return status;
}

/// A thread for each task.
int32_t at_once(void* user, int32_t tasks, Task task, void* arg) {
  *static_cast<int*>(user) += tasks;
  std::atomic<int32_t> result = RLX_OK;
  std::vector<std::thread> threads;
  for (int32_t i = 0; i < tasks; ++i)
    threads.emplace_back([&, i] {
      if (int32_t status = task(arg, i); status != RLX_OK) result = status;
    });
  for (std::thread& thread : threads) thread.join();
  return result;
}

TEST_CASE("the answer does not depend on who runs the tasks, nor in which order") {
  CompiledProgram program("tests/e2e/programs/parallel.relax");
  for (int64_t n : {1, 7, 200}) {
    std::vector<HostTensor> inputs{floats({n, 96}, -3), floats({96, 64}, -100)};
    for (LoadedModel* model : {&program.llvm(), &program.c()}) {
      model->share_tasks(nullptr, nullptr);
      const auto serial = model->run(inputs);
      REQUIRE(serial.index() == 0);
      for (auto* tasks : {backwards, at_once}) {
        int count = 0;
        model->share_tasks(tasks, &count);
        CHECK(model->run(inputs) == serial);
        // The C backend writes serial loops.
        CHECK((count > 1) == (n > 1 && model == &program.llvm()));
      }
    }
  }
}

/// `*user` threads, which take the tasks in turns.
int32_t on_threads(void* user, int32_t tasks, Task task, void* arg) {
  const int count = *static_cast<int*>(user);
  std::atomic<int32_t> result = RLX_OK;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < count; ++thread)
    threads.emplace_back([&, thread] {
      for (int32_t i = thread; i < tasks; i += count)
        if (int32_t status = task(arg, i); status != RLX_OK) result = status;
    });
  for (std::thread& thread : threads) thread.join();
  return result;
}

TEST_CASE("scheduled kernels give the same bits on any number of threads, and share work that is worth it") {
  api::CompileOptions options;
  options.cpu = "native";
  CompiledProgram program("tests/e2e/programs/shared_work.relax", options);
  for (int64_t n : {1, 40, 333}) {
    std::vector<HostTensor> inputs{floats({1, 8, 40, 41}, -9), floats({13, 8, 3, 3}, -2),    floats({n, 96}, -3),
                                   floats({96, 130}, -7),      floats({1, 3, 120, 130}, -8), floats({20, 3, 3, 3}, -1),
                                   floats({20, 1, 5, 5}, -3)};
    LoadedModel& model = program.llvm();
    model.share_tasks(nullptr, nullptr);
    const auto serial = model.run(inputs);
    REQUIRE(serial.index() == 0);
    for (int count : {1, 2, 8}) {
      model.share_tasks(on_threads, &count);
      CHECK(model.run(inputs) == serial);
    }
    int tasks = 0;
    model.share_tasks(backwards, &tasks);
    CHECK(model.run(inputs) == serial);
    CHECK(tasks >= 2);
  }
}

}  // namespace
}  // namespace relaxc::e2e
