// Resizes against positions and weights worked out by hand from ONNX's formulas.
#include <catch2/catch.hpp>

#include "tests/unit/ops/harness.h"

using namespace relaxc;
using namespace relaxc::test;

namespace {

HostTensor resized(HostTensor x, std::vector<int64_t> sizes, Attrs attrs) {
  Program p;
  return p.run({p.call("resize", {p.input(std::move(x)), p.shape(sizes)}, std::move(attrs))}).at(0);
}

const std::string kLinear = "linear", kCubic = "cubic";

}  // namespace

TEST_CASE("nearest resizes round positions as asked") {
  HostTensor x = floats({1, 4}, {1, 2, 3, 4});
  // half_pixel, 4 -> 8: positions -0.25 0.25 0.75 1.25 …
  check(resized(x, {1, 8}, {}), {1, 8}, {1, 1, 2, 2, 3, 3, 4, 4});
  // asymmetric, 4 -> 3: positions 0, 4/3, 8/3.
  Attrs floor{{"coordinate_mode", std::string("asymmetric")}, {"nearest_mode", std::string("floor")}};
  check(resized(x, {1, 3}, floor), {1, 3}, {1, 2, 3});
  Attrs ceil{{"coordinate_mode", std::string("asymmetric")}, {"nearest_mode", std::string("ceil")}};
  check(resized(x, {1, 3}, ceil), {1, 3}, {1, 3, 4});
  // half_pixel, 4 -> 2: positions 0.5 and 2.5 are ties.
  check(resized(x, {1, 2}, {}), {1, 2}, {1, 3});
  check(resized(x, {1, 2}, {{"nearest_mode", std::string("round_prefer_ceil")}}), {1, 2}, {2, 4});
}

TEST_CASE("linear resizes weigh the two neighbours of each axis") {
  HostTensor x = floats({1, 2}, {1, 3});
  // Positions -0.25 0.25 0.75 1.25, edges extended.
  check(resized(x, {1, 4}, {{"mode", kLinear}}), {1, 4}, {1, 1.5, 2.5, 3});
  check(resized(x, {1, 3}, {{"mode", kLinear}, {"coordinate_mode", std::string("align_corners")}}), {1, 3}, {1, 2, 3});
  check(resized(x, {1, 4}, {{"mode", kLinear}, {"coordinate_mode", std::string("asymmetric")}}), {1, 4}, {1, 2, 3, 3});
  check(resized(floats({2, 2}, {1, 2, 3, 4}), {3, 3},
                {{"mode", kLinear}, {"coordinate_mode", std::string("align_corners")}}),
        {3, 3}, {1, 1.5, 2, 2, 2.5, 3, 3, 3.5, 4});
  // Scales rule the positions: 0.6 * 4 = 2.4, cut to 2: (x + 0.5) / 0.6 - 0.5 = 1/3, 2.
  check(resized(floats({4}, {1, 2, 3, 4}), {2}, {{"mode", kLinear}, {"scales", std::vector<double>{0.6}}}), {2},
        {4.0 / 3, 3});
  // Antialias, 4 -> 2: a hat of twice the width around 0.5 weighs (0.75 0.75 0.25 0) / 1.75 and the edge once more
  // 0.25.
  check(resized(floats({4}, {1, 2, 3, 4}), {2}, {{"mode", kLinear}, {"antialias", true}}), {2},
        {(1 * 0.25 + 1 * 0.75 + 2 * 0.75 + 3 * 0.25) / 2, (2 * 0.25 + 3 * 0.75 + 4 * 0.75 + 4 * 0.25) / 2});
}

TEST_CASE("cubic resizes weigh four neighbours") {
  // A cubic kernel keeps constants, and elements at integer positions.
  check(resized(floats({4}, {2, 2, 2, 2}), {7}, {{"mode", kCubic}}), {7}, std::vector<double>(7, 2));
  Attrs corners{{"mode", kCubic}, {"coordinate_mode", std::string("align_corners")}};
  // Halfway, a = -0.75: weights -0.09375, 0.59375, 0.59375, -0.09375.
  check(resized(floats({4}, {1, 5, 2, 8}), {7}, corners), {7},
        {1, -0.09375 + 0.59375 * 6 - 0.09375 * 2, 5, 0.59375 * 7 - 0.09375 * 9, 2, -0.09375 * 13 + 0.59375 * 10, 8});
  Attrs outside = corners;
  outside.set("exclude_outside", true);
  check(resized(floats({2}, {1, 3}), {3}, outside), {3}, {1, 2, 3});
}

TEST_CASE("a region is cut out and resized") {
  // Region 0.5..1.5 of [1 2 3]: positions 1, 2, 3; the last is outside.
  Attrs crop{{"mode", kLinear},
             {"coordinate_mode", std::string("tf_crop_and_resize")},
             {"roi", std::vector<double>{0.5, 1.5}},
             {"extrapolation_value", 9.0}};
  check(resized(floats({3}, {1, 2, 3}), {3}, crop), {3}, {2, 3, 9});
}

TEST_CASE("scales and a region that come with the run give what attributes give") {
  HostTensor x = floats({3, 7}, {1, 5, 2, 8, 3, 0, 4, 9, 2, 7, 7, 1, 6, 5, 3, 3, 8, 2, 4, 9, 0});
  auto at_run_time = [&](std::vector<int64_t> sizes, std::vector<double> scales, std::vector<double> roi, Attrs attrs) {
    Program p;
    Value* list = scales.empty() ? nullptr : p.input(tensor(DType::f(64), {2}, scales));
    Value* region = roi.empty() ? nullptr : p.input(tensor(DType::f(64), {4}, roi));
    return p.run({p.call("resize", {p.input(x), p.shape(std::move(sizes)), list, region}, std::move(attrs))}).at(0);
  };
  for (const char* mode : {"nearest", "linear", "cubic"})
    for (const char* coordinates : {"half_pixel", "align_corners", "half_pixel_symmetric"})
      for (bool antialias : {false, true})
        for (std::vector<double> scales : std::vector<std::vector<double>>{{1, 0.4}, {2.5, 0.3}, {0.7, 1.6}}) {
          std::vector<int64_t> sizes{static_cast<int64_t>(3 * scales[0]), static_cast<int64_t>(7 * scales[1])};
          Attrs attrs{{"mode", std::string(mode)},
                      {"coordinate_mode", std::string(coordinates)},
                      {"antialias", antialias && std::string(mode) != "nearest"}};
          HostTensor found = at_run_time(sizes, scales, {}, attrs);
          attrs.set("scales", scales);
          check(found, sizes, elements(resized(x, sizes, attrs)));
        }
  Attrs crop{{"mode", kLinear}, {"coordinate_mode", std::string("tf_crop_and_resize")}};
  std::vector<double> roi{0.1, 0.2, 0.9, 1.3};
  HostTensor found = at_run_time({4, 5}, {}, roi, crop);
  crop.set("roi", roi);
  check(found, {4, 5}, elements(resized(x, {4, 5}, crop)));
}

TEST_CASE("scales of the run are one for each axis, and not attributes as well") {
  auto error = [](Attrs attrs, std::vector<int64_t> extent) {
    Program p;
    HostTensor scales = floats(extent, std::vector<double>(static_cast<size_t>(extent[0]), 2));
    try {
      p.call("resize", {p.input(floats({2, 2}, {1, 2, 3, 4})), p.shape({4, 4}), p.input(scales)}, std::move(attrs));
    } catch (const std::exception& failure) {
      return std::string(failure.what());
    }
    return std::string();
  };
  CHECK(error({}, {2}).empty());
  CHECK_THAT(error({}, {3}), Catch::Contains("as an attribute or as 2 floats"));
  CHECK_THAT(error({{"scales", std::vector<double>{2, 2}}}, {2}), Catch::Contains("as an attribute or as 2 floats"));
}
