// row_budget_test.cpp: the search for the value that keeps --ram-budget, over memory that follows a value in known
// ways.
#include "compiler/api/row_budget.h"

#include <catch2/catch.hpp>

#include "compiler/api/report/budget.h"

namespace relaxc::api {
namespace {

/// Tensors take what the value allows, but at least 500 bytes, and scratch takes 200; with the lowest value it takes
/// more.
std::optional<uint64_t> memory(int64_t value) {
  if (value == 0) return 2000;
  const uint64_t tensors = value < 500 ? 500 : value > 1800 ? 1800 : static_cast<uint64_t>(value);
  return tensors + (value == 1 ? 900 : 200);
}

TEST_CASE("a budget is met by the memory, not by the tensors alone") {
  CHECK(find_row_budget(2000, memory) == 0);
  for (const uint64_t budget : {1999, 1500, 700}) {
    const int64_t value = find_row_budget(budget, memory);
    INFO(budget << ": " << value);
    CHECK(value != 0);
    CHECK(*memory(value) <= budget);
  }
}

TEST_CASE("what is said to be the least is what the least budget gives") {
  const int64_t least = find_row_budget(kLeastRam, memory);
  for (const uint64_t budget : {699, 500, 1}) CHECK(find_row_budget(budget, memory) == least);
}

TEST_CASE("the least memory is looked for below what the lowest value gives") {
  int tries = 0;
  const int64_t least = find_row_budget(kLeastRam, [&](int64_t value) { return ++tries, memory(value); });
  CHECK(*memory(1) == 1400);
  CHECK(*memory(least) == 700);
  CHECK(tries <= 14);
  CHECK(find_row_budget(kLeastRam, [](int64_t) { return std::optional<uint64_t>(); }) == 0);
  CHECK(find_row_budget(100, [](int64_t) { return std::optional<uint64_t>(300); }) == 0);
}

}  // namespace
}  // namespace relaxc::api
