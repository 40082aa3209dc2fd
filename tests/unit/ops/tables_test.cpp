// Operators that walk tables: decision trees, sorted lists, dictionaries of n-grams.
#include <catch2/catch.hpp>
#include <cmath>

#include "tests/unit/ops/harness.h"

namespace relaxc::test {
namespace {

HostTensor ints(std::vector<int64_t> shape, const std::vector<double>& values) {
  return tensor(DType::i(32), std::move(shape), values);
}

/// One tree: x[0] `mode` 0.5 ? (x[1] in {2, 3} ? leaf of weights 1 and 10 : leaf of 100) : an empty leaf.
std::vector<HostTensor> one_tree(const HostTensor& x, double mode, double missing, Attrs attrs) {
  Program p;
  std::vector<HostTensor> tables{ints({1}, {0}),
                                 ints({5}, {0, 1, 0, 0, 0}),
                                 ints({5}, {mode, 6, 0, 0, 0}),
                                 floats({5}, {0.5, 0, 0, 0, 0}),
                                 ints({5}, {missing, 0, 0, 0, 0}),
                                 ints({5, 2}, {4, 1, 3, 2, -1, -1, -1, -1, -1, -1}),
                                 ints({5, 2}, {0, 0, 0, 2, 0, 2, 2, 3, 3, 3}),
                                 floats({2}, {2, 3}),
                                 ints({3}, {0, 1, 1}),
                                 floats({3}, {1, 10, 100})};
  std::vector<Value*> operands{p.input(x)};
  for (const HostTensor& table : tables) operands.push_back(p.input(table));
  attrs.set("targets", int64_t{2});
  if (!attrs.has("depth")) attrs.set("depth", int64_t{2});
  return p.run(p.call_many("tree_ensemble", operands, attrs));
}

TEST_CASE("a tree is walked by its conditions, and leaves may have several weights or none") {
  HostTensor x = floats({5, 2}, {0.5, 3, 0.25, 4, 1, 2, NAN, 2, 0.5, NAN});
  auto found = one_tree(x, 0, 0, {});
  CHECK(elements(found[0]) == std::vector<double>{1, 10, 0, 100, 0, 0, 0, 0, 0, 100});
  CHECK(elements(found[1]) == std::vector<double>{1, 1, 0, 1, 0, 0, 0, 0, 0, 1});
  CHECK(elements(one_tree(x, 1, 0, {})[0]) == std::vector<double>{0, 0, 0, 100, 0, 0, 0, 0, 0, 0});
  CHECK(elements(one_tree(x, 2, 0, {})[0]) == std::vector<double>{1, 10, 0, 0, 1, 10, 0, 0, 0, 100});
  CHECK(elements(one_tree(x, 4, 0, {})[0]) == std::vector<double>{1, 10, 0, 0, 0, 0, 0, 0, 0, 100});
  CHECK(elements(one_tree(x, 5, 0, {})[0]) == std::vector<double>{0, 0, 0, 100, 1, 10, 1, 10, 0, 0});
}

TEST_CASE("a missing value may count as a condition that holds") {
  HostTensor x = floats({1, 2}, {NAN, 2});
  CHECK(elements(one_tree(x, 3, 1, {})[0]) == std::vector<double>{1, 10});
  CHECK(elements(one_tree(x, 3, 0, {})[0]) == std::vector<double>{0, 0});
}

TEST_CASE("tables that are wrong read nothing outside of themselves") {
  Program p;
  std::vector<HostTensor> tables{ints({1}, {900}),    ints({1}, {-7}),      ints({1}, {0}),         floats({1}, {0}),
                                 ints({1}, {0}),      ints({1, 2}, {0, 0}), ints({1, 2}, {-5, 80}), floats({1}, {0}),
                                 ints({2}, {77, -3}), floats({2}, {1, 2})};
  std::vector<Value*> operands{p.input(floats({1, 1}, {0}))};
  for (const HostTensor& table : tables) operands.push_back(p.input(table));
  auto found = p.run(p.call_many("tree_ensemble", operands, {{"targets", int64_t{2}}, {"depth", int64_t{9}}}));
  CHECK(elements(found[0]) == std::vector<double>{2, 1});
}

TEST_CASE("trees need features, nodes and tables that fit each other") {
  CHECK_THROWS_WITH(one_tree(floats({2}, {0, 0}), 0, 0, {}), Catch::Contains("rows of float features"));
  CHECK_THROWS_WITH(one_tree(floats({1, 2}, {0, 0}), 0, 0, {{"aggregate", std::string("mean")}}),
                    Catch::Contains("not one of sum, min, max"));
  CHECK_THROWS_WITH(one_tree(floats({1, 2}, {0, 0}), 0, 0, {{"depth", int64_t{-1}}}), Catch::Contains("depth >= 0"));
}

TEST_CASE("search_sorted says how many keys come before") {
  HostTensor keys = floats({4}, {-1, 0, 2, NAN});
  HostTensor x = floats({2, 3}, {-2, -1, 0.5, 2, 3, NAN});
  CHECK(elements(run_op("search_sorted", {keys, x})) == std::vector<double>{0, 0, 2, 2, 3, 3});
  CHECK(elements(run_op("search_sorted", {longs({0}, {}), longs({2}, {1, 5})})) == std::vector<double>{0, 0});
  CHECK_THROWS_WITH(run_op("search_sorted", {keys, longs({1}, {1})}), Catch::Contains("the same dtype"));
}

TEST_CASE("n-grams are counted with adjacent and with skipped symbols") {
  // 1-grams 3 and 5; 2-grams (3, 5), (5, 3).
  HostTensor pool = longs({6}, {3, 5, 5, 3, 3, 5}), grams = longs({4, 2}, {0, 0, 1, 2, 4, 1, 2, 3});
  HostTensor lengths = longs({2, 3}, {1, 0, 2, 2, 2, 4}), x = longs({2, 4}, {3, 5, 3, 5, 7, 5, 7, 3});
  auto counts = [&](int64_t skip) {
    return elements(run_op("ngram_counts", {x, pool, grams, lengths}, {{"columns", int64_t{5}}, {"max_skip", skip}}));
  };
  CHECK(counts(0) == std::vector<double>{2, 2, 2, 1, 0, 1, 0, 1, 0, 0});
  CHECK(counts(1) == std::vector<double>{2, 2, 2, 1, 0, 1, 0, 1, 1, 0});
  CHECK(counts(2) == std::vector<double>{2, 3, 2, 1, 0, 1, 0, 1, 1, 0});
  CHECK_THROWS_WITH(counts(-1), Catch::Contains("max_skip >= 0"));
}

}  // namespace
}  // namespace relaxc::test
