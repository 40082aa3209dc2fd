// Boxes that stay, and what stands under a mask, worked out by hand.
#include <catch2/catch.hpp>
#include <cmath>

#include "tests/unit/ops/harness.h"

namespace relaxc::test {
namespace {

/// Five boxes in two heaps and one alone: 0 and 1 overlap by 9/11 and so do 3 and 4; 2 stands alone.
HostTensor heaps() {
  return floats({1, 5, 4}, {0, 0, 10, 10, 0, 1, 10, 11, 20, 20, 30, 30, 50, 50, 60, 60, 50, 51, 60, 61});
}

HostTensor stay(const HostTensor& boxes, const HostTensor& scores, int64_t most, double iou, double lowest,
                bool centers = false) {
  Program p;
  std::vector<Value*> operands{p.input(boxes), p.input(scores), p.shape({most}), p.input(floats({}, {iou})),
                               p.input(floats({}, {lowest}))};
  return p.run({p.call("non_max_suppression", operands, {{"center_point_box", centers}})})[0];
}

TEST_CASE("of overlapping boxes the one with the highest score is kept, best first") {
  HostTensor scores = floats({1, 1, 5}, {0.9, 0.8, 0.3, 0.5, 0.7});
  check(stay(heaps(), scores, 5, 0.5, 0), {3, 3}, {0, 0, 0, 0, 0, 4, 0, 0, 2});
  check(stay(heaps(), scores, 2, 0.5, 0), {2, 3}, {0, 0, 0, 0, 0, 4});
  check(stay(heaps(), scores, 5, 0.5, 0.3), {2, 3}, {0, 0, 0, 0, 0, 4});
  check(stay(heaps(), scores, 5, 0.9, 0), {5, 3}, {0, 0, 0, 0, 0, 1, 0, 0, 4, 0, 0, 3, 0, 0, 2});
  check(stay(heaps(), scores, 0, 0.5, 0), {0, 3}, {});
  check(stay(heaps(), scores, -1, 0.5, 0), {0, 3}, {});
}

TEST_CASE("an overlap of just the threshold is kept, and equal scores are in order of position") {
  HostTensor boxes = floats({1, 2, 4}, {0, 0, 1, 2, 0, 1, 1, 3});  // 1 of 3
  HostTensor scores = floats({1, 1, 2}, {0.5, 0.5});
  check(stay(boxes, scores, 2, 1.0 / 3, 0), {2, 3}, {0, 0, 0, 0, 0, 1});
  check(stay(boxes, scores, 2, 0.33, 0), {1, 3}, {0, 0, 0});
}

TEST_CASE("corners may be swapped, boxes may be given by their centers, and none of them need have an area") {
  HostTensor scores = floats({1, 1, 2}, {0.5, 0.6});
  check(stay(floats({1, 2, 4}, {10, 10, 0, 0, 0, 10, 10, 0}), scores, 2, 0.5, 0), {1, 3}, {0, 0, 1});
  check(stay(floats({1, 2, 4}, {5, 5, 10, 10, 5, 6, 10, 10}), scores, 2, 0.5, 0, true), {1, 3}, {0, 0, 1});
  check(stay(floats({1, 2, 4}, {3, 3, 3, 3, 3, 3, 3, 3}), scores, 2, 0, 0), {2, 3}, {0, 0, 1, 0, 0, 0});
}

TEST_CASE("images and classes are taken one by one, and a NaN is no score") {
  HostTensor boxes = floats({2, 2, 4}, {0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 5, 5, 6, 6});
  HostTensor scores = floats({2, 2, 2}, {1, 2, 2, 1, 1, 2, NAN, 1});
  check(stay(boxes, scores, 2, 0.5, 0), {5, 3}, {0, 0, 1, 0, 1, 0, 1, 0, 1, 1, 0, 0, 1, 1, 1});
  check(stay(floats({1, 0, 4}, {}), floats({1, 3, 0}, {}), 2, 0.5, 0), {0, 3}, {});
}

TEST_CASE("without thresholds every score is high enough and nothing may overlap") {
  Program p;
  Value* rows = p.call("non_max_suppression", {p.input(heaps()), p.input(floats({1, 1, 5}, {-1, -2, -3, -4, -5}))});
  check(p.run({rows})[0], {3, 3}, {0, 0, 0, 0, 0, 2, 0, 0, 3});
}

TEST_CASE("boxes and scores must fit each other") {
  CHECK_THAT(error_of("non_max_suppression", {floats({1, 2, 5}, std::vector<double>(10)), floats({1, 1, 2}, {1, 2})}),
             Catch::Contains("the extent of a box"));
  CHECK_THAT(error_of("non_max_suppression", {floats({1, 1, 4}, std::vector<double>(4)), floats({1, 1, 2}, {1, 2})}),
             Catch::Contains("the numbers of boxes"));
  CHECK_THAT(error_of("non_max_suppression", {floats({1, 4}, std::vector<double>(4)), floats({1, 1, 1}, {1})}),
             Catch::Contains("takes boxes [images, boxes, 4]"));
}

TEST_CASE("a mask selects elements, and broadcasts with them") {
  HostTensor x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  auto select = [](HostTensor of, HostTensor mask) { return run_op("masked_select", {of, mask}); };
  check(select(x, tensor(DType::boolean(), {2, 3}, {1, 0, 1, 0, 0, 1})), {3}, {1, 3, 6});
  check(select(x, tensor(DType::boolean(), {3}, {0, 1, 0})), {2}, {2, 5});
  check(select(x, tensor(DType::boolean(), {2, 1}, {0, 1})), {3}, {4, 5, 6});
  check(select(floats({3}, {1, 2, 3}), tensor(DType::boolean(), {2, 1}, {1, 1})), {6}, {1, 2, 3, 1, 2, 3});
  check(select(x, tensor(DType::boolean(), {}, {0})), {0}, {});
  CHECK_THAT(error_of("masked_select", {x, x}), Catch::Contains("the mask of 'masked_select' is bool"));
}

}  // namespace
}  // namespace relaxc::test
