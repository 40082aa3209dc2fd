// columns_tile_text.cpp: see columns_tile_text.h.
//
// Four bytes of the row become two pairs in r0 and r1, and each column's word becomes two pairs in r12 and lr. A core
// that issues two instructions starts a product together with one that widens bytes before it, if neither waits for a
// load: words are loaded to r2 and r3 by turns, two columns ahead, and the row's next bytes a step ahead. Four sums
// take 23 instructions and 14 cycles a step; LLVM, which loads each word where it is widened, took 24 and 23 (its model
// of the Cortex-M7). A Cortex-M4 takes as long for one order as for the other.
#include "compiler/codegen/llvm/lower/columns_tile_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/codegen/llvm/lower/halves_tile_text.h"

namespace relaxc::codegen_llvm {

namespace {

/// Writes the steps of one turn. Product `at` is the pair of products of one column in one step.
class ColumnsWriter {
 public:
  explicit ColumnsWriter(const ColumnsText& tile)
      : tile_(tile), turn_(tile.steps_of_turn()), bytes_(fmt::format("r{}", kFirstSumRegister + tile.sums + 1)) {}

  std::string write() {
    load_bytes("r0", 0);
    for (int64_t at = 0; at < std::min<int64_t>(2, turn_ * tile_.sums); ++at) load_word(at);
    say("uxtb16 r1, r0, ror #8");
    say("uxtb16 r0, r0");
    say("sxtb16 r12, r2");
    for (int64_t at = 0; at < turn_ * tile_.sums; ++at) products(at);
    if (tile_.loops()) {
      say(fmt::format("add ${0}, ${0}, #{1}", tile_.sums, turn_ * kTileWordBytes));
      say(fmt::format("add ${0}, ${0}, #{1}", tile_.sums + 1, turn_ * tile_.sums * kTileWordBytes));
    }
    return std::move(text_);
  }

 private:
  void say(const std::string& line) { text_ += line + "\n\t"; }
  static int64_t word(int64_t at) { return 2 + at % 2; }
  void load_word(int64_t at) { say(fmt::format("ldr r{}, [${}, #{}]", word(at), tile_.sums + 1, at * kTileWordBytes)); }
  void load_bytes(const std::string& to, int64_t step) {
    say(fmt::format("ldr {}, [${}, #{}]", to, tile_.sums, step * kTileWordBytes));
  }
  void products(int64_t at);

  const ColumnsText& tile_;
  const int64_t turn_;
  const std::string bytes_;  ///< the register of the row's next bytes
  std::string text_;
};

void ColumnsWriter::products(int64_t at) {
  const int64_t column = at % tile_.sums, step = at / tile_.sums, all = turn_ * tile_.sums;
  const bool more = step + 1 < turn_, ends = more && column == tile_.sums - 1;
  say(fmt::format("sxtb16 lr, r{}, ror #8", word(at)));
  say(tile_.sets_sums() && step == 0 ? fmt::format("smuad ${}, r0, r12", column)
                                     : fmt::format("smlad ${0}, r0, r12, ${0}", column));
  if (at + 2 < all) load_word(at + 2);
  if (more && column == 0) load_bytes(bytes_, step + 1);
  if (ends) say(fmt::format("uxtb16 r0, {}", bytes_));
  if (at + 1 < all) say(fmt::format("sxtb16 r12, r{}", word(at + 1)));
  say(fmt::format("smlad ${0}, r1, lr, ${0}", column));
  if (ends) say(fmt::format("uxtb16 r1, {}, ror #8", bytes_));
}

}  // namespace

/// Steps of one turn of the loop: a divisor of their number, few enough that the code is short.
int64_t ColumnsText::steps_of_turn() const {
  constexpr int64_t kMostProducts = 16;
  if (from_zero && steps * sums <= 2 * kMostProducts) return steps;
  int64_t turns = std::clamp<int64_t>(kMostProducts / sums, 1, steps);
  while (steps % turns != 0) --turns;
  return turns;
}

std::string ColumnsText::text() const {
  const std::string text = ColumnsWriter(*this).write();
  return loops() ? fmt::format("1:\n\t{}cmp ${}, ${}\n\tbne 1b\n\t", text, sums, 2 * sums + 4) : text;
}

std::string ColumnsText::constraints() const {
  return constraints_of_tile(sums, loops() ? "r" : "", kFirstSumRegister + sums + 1);
}

}  // namespace relaxc::codegen_llvm
