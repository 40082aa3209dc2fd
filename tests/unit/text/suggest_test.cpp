// suggest_test.cpp: which names are near enough to be suggested.
#include <catch2/catch.hpp>

#include "compiler/support/suggest.h"

using namespace relaxc;

TEST_CASE("the edit distance counts insertions, deletions, replacements and swaps") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("abc", "abc") == 0);
  CHECK(edit_distance("abc", "") == 3);
  CHECK(edit_distance("abc", "abd") == 1);
  CHECK(edit_distance("abc", "xabc") == 1);
  CHECK(edit_distance("wieght", "weight") == 1);
  CHECK(edit_distance("kitten", "sitting") == 3);
}

TEST_CASE("the nearest name is suggested, the earliest of equals, and no distant one") {
  CHECK(nearest_name("lv0", {"w0", "lv", "x"}) == "lv");
  CHECK(nearest_name("b", {"n", "m"}) == "n");
  CHECK(!nearest_name("data", {"x", "weights", "bias"}));
  CHECK(!nearest_name("x", {}));
  CHECK(!nearest_name(std::string(1000, 'a'), {std::string(1000, 'a')}));
}
