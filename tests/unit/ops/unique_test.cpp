// Distinct elements and slices, against what NumPy says.
#include <catch2/catch.hpp>
#include <cmath>

#include "tests/unit/ops/harness.h"

namespace relaxc::test {
namespace {

/// All four results.
std::vector<HostTensor> unique_of(const HostTensor& x, std::vector<int64_t> axis = {}, bool sorted = true) {
  Program p;
  Attrs attrs{
      {"sorted", sorted}, {"return_index", true}, {"return_inverse", true}, {"return_counts", true}, {"axis", axis}};
  return p.run(p.call_many("unique", {p.input(x)}, attrs));
}

void check(const HostTensor& found, std::vector<int64_t> shape, const std::vector<double>& values) {
  CHECK(found.shape == shape);
  CHECK(elements(found) == values);
}

TEST_CASE("unique elements are in order, with where and how often they occur") {
  // numpy.unique([3, 1, 2, 1, 3, 3], return_index=True, return_inverse=True, return_counts=True)
  auto found = unique_of(floats({2, 3}, {3, 1, 2, 1, 3, 3}));
  REQUIRE(found.size() == 4);
  check(found[0], {3}, {1, 2, 3});
  check(found[1], {3}, {1, 2, 0});
  check(found[2], {6}, {2, 0, 1, 0, 2, 2});
  check(found[3], {3}, {2, 1, 3});
}

TEST_CASE("unsorted unique elements are in order of appearance") {
  auto found = unique_of(longs({6}, {3, 1, 2, 1, 3, 3}), {}, false);
  check(found[0], {3}, {3, 1, 2});
  check(found[1], {3}, {0, 1, 2});
  check(found[2], {6}, {0, 1, 2, 1, 0, 0});
  check(found[3], {3}, {3, 2, 1});
}

TEST_CASE("unique rows and columns") {
  HostTensor x = floats({4, 3}, {1, 0, 0, 1, 0, 0, 2, 3, 4, 0, 9, 9});
  auto rows = unique_of(x, {0});
  check(rows[0], {3, 3}, {0, 9, 9, 1, 0, 0, 2, 3, 4});
  check(rows[1], {3}, {3, 0, 2});
  check(rows[2], {4}, {1, 1, 2, 0});
  check(rows[3], {3}, {1, 2, 1});
  auto columns = unique_of(floats({2, 4}, {1, 0, 1, 0, 2, 5, 2, 4}), {-1});
  check(columns[0], {2, 3}, {0, 0, 1, 4, 5, 2});
  check(columns[1], {3}, {3, 1, 0});
  check(columns[2], {4}, {2, 1, 2, 0});
  auto unsorted = unique_of(x, {0}, false);
  check(unsorted[0], {3, 3}, {1, 0, 0, 2, 3, 4, 0, 9, 9});
}

TEST_CASE("NaNs are one element and the last one and no elements and a scalar are fine") {
  auto found = unique_of(floats({4}, {NAN, 1, NAN, -0.0}));
  REQUIRE(found[0].shape == std::vector<int64_t>{3});
  CHECK(std::isnan(elements(found[0])[2]));
  check(found[3], {3}, {1, 1, 2});
  check(unique_of(floats({0}, {}))[0], {0}, {});
  check(unique_of(floats({}, {7}))[0], {1}, {7});
  check(unique_of(floats({3, 0}, {}), {0})[0], {1, 0}, {});
  check(unique_of(tensor(DType::boolean(), {3}, {1, 0, 1}))[0], {2}, {0, 1});
}

TEST_CASE("unique takes one axis of the tensor") {
  CHECK_THROWS(unique_of(floats({2}, {1, 2}), {1}));
  CHECK_THROWS(unique_of(floats({2}, {1, 2}), {0, 0}));
}

}  // namespace
}  // namespace relaxc::test
