// threads_test.cpp: one model on two threads at once, and the same answer whoever ran before.
#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "tests/e2e/road.h"

namespace relaxc::e2e {
namespace {

TEST_CASE("two threads run one model with two contexts") {
  Road road("tests/e2e/programs/lstm.relax");
  auto inputs = [](int64_t steps, double first) {
    return std::vector<HostTensor>{floats({steps, 2, 3}, first), floats({1, 8, 3}, -3), floats({1, 8, 2}, -2),
                                   floats({1, 16})};
  };
  for (const LoadedModel* model : {&road.llvm(), &road.c()}) {
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

}  // namespace
}  // namespace relaxc::e2e
