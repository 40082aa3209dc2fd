// Rows with matrices of their own, probabilities from pairs, and ranks of strings, worked out by hand.
#include <catch2/catch.hpp>

#include "tests/unit/ops/harness.h"

namespace relaxc::test {
namespace {

HostTensor bytes(const std::string& text) {
  return tensor(DType::u(8), {static_cast<int64_t>(text.size())}, {text.begin(), text.end()});
}

TEST_CASE("expert_matmul gives each row the matrix that is named for it") {
  HostTensor x = floats({3, 2}, {1, 2, 1, 2, 3, 4});
  HostTensor matrices = floats({2, 1, 2}, {1, 10, 100, 1000});
  check(run_op("expert_matmul", {x, longs({3}, {0, 1, -1}), matrices}), {3, 1}, {21, 2100, 4300});
  check(run_op("expert_matmul", {floats({0, 2}, {}), longs({0}, {}), matrices}), {0, 1}, {});
}

TEST_CASE("expert_matmul works on as many rows as there are, and refuses matrices that are not there") {
  for (double last : {1.0, 2.0}) {
    Program p;
    arith::Var rows = p.symbol("rows");
    Value* x = p.input(floats({2, 2}, {1, 2, 3, 4}), {rows, p.index(2)});
    Value* which = p.input(longs({2}, {0, last}), {rows});
    Value* y = p.call("expert_matmul", {x, which, p.input(floats({2, 1, 2}, {1, 10, 100, 1000}))});
    if (last == 1)
      check(p.run({y})[0], {2, 1}, {21, 4300});
    else
      CHECK(p.code({y}) == 32);
  }
}

TEST_CASE("expert_matmul says what does not fit") {
  CHECK_THAT(error_of("expert_matmul", {floats({2, 3}, std::vector<double>(6)), longs({2}, {0, 0}),
                                        floats({1, 4, 2}, std::vector<double>(8))}),
             Catch::Contains("columns"));
  CHECK_THAT(
      error_of("expert_matmul", {floats({2}, {1, 2}), longs({2}, {0, 0}), floats({1, 4, 2}, std::vector<double>(8))}),
      Catch::Contains("'expert_matmul' takes rows"));
}

TEST_CASE("pairwise_coupling finds the probabilities that pairs come from") {
  // 0.5, 0.3, 0.2: each pair in their proportion.
  HostTensor pairs = floats({1, 3}, {0.625, 0.5 / 0.7, 0.6});
  check(run_op("pairwise_coupling", {pairs}, {{"classes", int64_t{3}}}), {1, 3}, {0.5, 0.3, 0.2}, 0.01);
  HostTensor two = floats({2, 1}, {0.75, 0.5});
  check(run_op("pairwise_coupling", {two}, {{"classes", int64_t{2}}}), {2, 2}, {0.75, 0.25, 0.5, 0.5}, 0.01);
  CHECK_THAT(error_of("pairwise_coupling", {pairs}, {{"classes", int64_t{4}}}), Catch::Contains("of 4 classes"));
}

TEST_CASE("strings.rank counts the distinct strings before each, by unsigned bytes, a prefix first") {
  HostTensor text = bytes(
      "ab\xff"
      "abc");  // "ab", "", "\xff", "abc", "ab", "b"
  HostTensor spans = longs({6, 2}, {0, 2, 0, 0, 2, 1, 3, 3, 3, 2, 4, 1});
  check(run_op("strings.rank", {spans, text}), {6}, {1, 0, 4, 2, 1, 3});
  check(run_op("strings.rank", {longs({0, 2}, {}), text}), {0}, {});
  CHECK_THAT(error_of("strings.rank", {longs({1, 1, 2}, {0, 0}), text}), Catch::Contains("takes a vector of strings"));
}

}  // namespace
}  // namespace relaxc::test
