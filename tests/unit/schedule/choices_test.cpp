// Choices: what is written down is what is read, and what nobody offers is not taken.
#include <catch2/catch.hpp>

#include "compiler/schedule/strategies/choices.h"

namespace relaxc::schedule {
namespace {

TEST_CASE("the first option is the usual one, and wishes take others") {
  Choices usual;
  CHECK(usual.pick("tile", {"6x2", "4x3"}) == 0);
  CHECK(usual.pick("tile", {"8x1", "4x3"}) == 0);
  CHECK(usual.text() == "tile: 6x2 of 6x2, 4x3; tile 2: 8x1 of 8x1, 4x3");

  Choices wished("tile 2: 4x3; order: columns outside");
  CHECK(wished.pick("tile", {"6x2", "4x3"}) == 0);
  CHECK(wished.pick("order", {"rows outside", "columns outside"}) == 1);
  CHECK(wished.pick("tile", {"8x1", "4x3"}) == 1);
}

TEST_CASE("the text of choices gives the same choices again") {
  Choices first("tile: 4x3; order: columns outside");
  first.pick("tile", {"6x2", "4x3"});
  first.pick("order", {"rows outside", "columns outside"});
  Choices again(first.text());
  again.pick("tile", {"6x2", "4x3"});
  again.pick("order", {"rows outside", "columns outside"});
  CHECK(again.text() == first.text());
  std::vector<Decision> read = read_decisions(first.text());
  REQUIRE(read.size() == 2);
  CHECK(read[0].options == std::vector<std::string>{"6x2", "4x3"});
  CHECK(read[0].taken == 1);
}

TEST_CASE("a wish that is not offered, and text that is none, change nothing") {
  for (const char* text : {"tile: 9x9", "tile", ": ;;", "tile: ", "order: 4x3", " of ; of", ""}) {
    Choices choices(text);
    CHECK(choices.pick("tile", {"6x2", "4x3"}) == 0);
  }
}

}  // namespace
}  // namespace relaxc::schedule
