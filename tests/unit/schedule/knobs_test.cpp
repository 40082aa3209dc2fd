// Knobs: what is written down is what is read, and what nobody offers is not taken.
#include <catch2/catch.hpp>

#include "compiler/schedule/strategies/parts/knobs.h"

namespace relaxc::schedule {
namespace {

size_t pick(Knobs& knobs, std::string_view point, std::vector<std::string> options) {
  Decision decision = knobs.decide(point, std::move(options));
  const size_t taken = decision.taken;
  knobs.take(std::move(decision));
  return taken;
}

TEST_CASE("the first option is the default, and overrides take others") {
  Knobs usual;
  CHECK(pick(usual, "tile", {"6x2", "4x3"}) == 0);
  CHECK(pick(usual, "tile", {"8x1", "4x3"}) == 0);
  CHECK(usual.text() == "tile: 6x2 of 6x2, 4x3; tile 2: 8x1 of 8x1, 4x3");

  Knobs wished("tile 2: 4x3; order: columns outside");
  CHECK(pick(wished, "tile", {"6x2", "4x3"}) == 0);
  CHECK(pick(wished, "order", {"rows outside", "columns outside"}) == 1);
  CHECK(pick(wished, "tile", {"8x1", "4x3"}) == 1);
}

TEST_CASE("the text of knobs gives the same decisions again") {
  Knobs first("tile: 4x3; order: columns outside");
  pick(first, "tile", {"6x2", "4x3"});
  pick(first, "order", {"rows outside", "columns outside"});
  Knobs again(first.text());
  pick(again, "tile", {"6x2", "4x3"});
  pick(again, "order", {"rows outside", "columns outside"});
  CHECK(again.text() == first.text());
  std::vector<Decision> read = read_decisions(first.text());
  REQUIRE(read.size() == 2);
  CHECK(read[0].options == std::vector<std::string>{"6x2", "4x3"});
  CHECK(read[0].taken == 1);
}

TEST_CASE("an override that is not offered, and invalid text, change nothing") {
  for (const char* text : {"tile: 9x9", "tile", ": ;;", "tile: ", "order: 4x3", " of ; of", ""}) {
    Knobs choices(text);
    CHECK(pick(choices, "tile", {"6x2", "4x3"}) == 0);
  }
}

}  // namespace
}  // namespace relaxc::schedule
