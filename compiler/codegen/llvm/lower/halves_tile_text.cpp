// halves_tile_text.cpp: see halves_tile_text.h.
//
// Numbers are loaded to r0 to r3, and the word of the constant becomes two pairs in r12 and lr. Six sums and both
// addresses take the other registers; the end of the loop is then in one of the floating-point unit, and comes back for
// the comparison. Few steps are without a loop, and their first products set sums that begin at zero.
//
// A core that issues two instructions starts a product together with a load of one register or with the widening of a
// word before it, but an LDM, an LDRD and a load that moves its address alone (LLVM's model of the Cortex-M7). There,
// up to five sums leave a register for the next step's word. So all but the first two sums of a step load their numbers
// by two loads beside products, and that word is loaded and widened beside the products of those two: four sums take 17
// instructions and 10 cycles a step where loads by LDM take 13 and 13. Code for size keeps LDM, and so do six sums,
// which leave no register: their word is loaded and widened beside the last products of the step before, at a constant
// distance from an address that moves once a turn. A Cortex-M4 would take a cycle more for such a load, which the LDM
// behind it hides otherwise.
//
// All registers are named: results in registers of LLVM's choice must not be in one that the statement overwrites, and
// its allocator keeps them there to their last use, which is why it stored sums to the stack behind the statement.
#include "compiler/codegen/llvm/lower/halves_tile_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace relaxc::codegen_llvm {

namespace {

constexpr int64_t kMostBesideEnd = 5;
constexpr int64_t kSumsOfLoad = 2;

/// Writes the steps of one turn. In r12 are the even bytes of the word, in lr its odd ones.
class TurnWriter {
 public:
  explicit TurnWriter(const HalvesText& tile) : tile_(tile) {}

  std::string one_by_one();
  std::string in_pairs();

 private:
  enum class Bytes : uint8_t { kEven, kOdd };

  void say(const std::string& line) { text_ += line + "\n\t"; }
  int64_t sums_of(int64_t first) const { return std::min(kSumsOfLoad, tile_.sums - first); }
  void load_numbers(int64_t first);
  void product(int64_t sum, Bytes bytes, bool begins);
  /// The products of both sums whose numbers were loaded.
  void products(int64_t first, Bytes bytes, bool begin);
  void step_beside_next(int64_t step);

  const HalvesText& tile_;
  std::string text_;
};

void TurnWriter::load_numbers(int64_t first) {
  say(fmt::format("ldmia ${}!, {{r0, r1{}}}", tile_.sums, sums_of(first) == kSumsOfLoad ? ", r2, r3" : ""));
}

void TurnWriter::product(int64_t sum, Bytes bytes, bool begins) {
  const int64_t numbers = 2 * (sum % kSumsOfLoad) + (bytes == Bytes::kOdd ? 1 : 0);
  const char* word = bytes == Bytes::kOdd ? "lr" : "r12";
  say(begins ? fmt::format("smuad ${}, r{}, {}", sum, numbers, word)
             : fmt::format("smlad ${0}, r{1}, {2}, ${0}", sum, numbers, word));
}

void TurnWriter::products(int64_t first, Bytes bytes, bool begin) {
  for (int64_t i = 0; i < sums_of(first); ++i) product(first + i, bytes, begin);
}

std::string TurnWriter::one_by_one() {
  for (int64_t step = 0; step < tile_.steps_of_turn(); ++step) {
    say(fmt::format("ldr lr, [${}], #{}", tile_.sums + 1, kTileWordBytes));
    for (int64_t sum = 0; sum < tile_.sums; sum += kSumsOfLoad) {
      load_numbers(sum);
      if (sum == 0) say("sxtb16 r12, lr"), say("sxtb16 lr, lr, ror #8");
      products(sum, Bytes::kEven, tile_.sets_sums() && step == 0);
      products(sum, Bytes::kOdd, false);
    }
  }
  return std::move(text_);
}

/// The step begins with its word in r12 and the odd bytes in lr, and leaves the next one's there.
void TurnWriter::step_beside_next(int64_t step) {
  const bool begin = tile_.sets_sums() && step == 0;
  const int64_t last = (tile_.sums - 1) / kSumsOfLoad * kSumsOfLoad, turn = tile_.steps_of_turn();
  const auto load_next = [&] {
    if (step + 1 < turn)
      say(fmt::format("ldr r12, [${}, #{}]", tile_.sums + 1, (step + 1 - turn) * kTileWordBytes));
    else if (tile_.end_is_float())
      say(fmt::format("vmov r0, {}", tile_.end()));  // whose numbers are used up
  };
  for (int64_t sum = 0; sum <= last; sum += kSumsOfLoad) {
    if (step != 0 || sum != 0) load_numbers(sum);
    if (sum == 0) {
      product(sum, Bytes::kOdd, begin);
      say("sxtb16 r12, r12");
      if (sums_of(sum) == kSumsOfLoad) product(sum + 1, Bytes::kOdd, begin);
    }
    products(sum, Bytes::kEven, begin && sum != 0);
    if (sum == last) load_next();
    if (sum != 0) products(sum, Bytes::kOdd, false);
  }
  if (step + 1 < turn) say("sxtb16 lr, r12, ror #8");
}

std::string TurnWriter::in_pairs() {
  const int64_t turn = tile_.steps_of_turn();
  say(fmt::format("ldr r12, [${}], #{}", tile_.sums + 1, turn * kTileWordBytes));
  load_numbers(0);
  say("sxtb16 lr, r12, ror #8");
  for (int64_t step = 0; step < turn; ++step) step_beside_next(step);
  return std::move(text_);
}

/// Writes the steps of one turn with loads beside products. A sum's numbers are in r0 and r1 or in r2 and r3, by turns,
/// so that they are loaded while the sum before is added to.
class BesideWriter {
 public:
  explicit BesideWriter(const HalvesText& tile)
      : tile_(tile), turn_(tile.steps_of_turn()), word_(fmt::format("r{}", tile.register_of_word())) {}

  std::string write();

 private:
  void say(const std::string& line) { text_ += line + "\n\t"; }
  static int64_t number(int64_t product) { return product % 4; }
  /// Whether a sum's numbers are loaded by one instruction.
  bool is_wide(int64_t at) const { return at % tile_.sums < kSumsOfLoad; }
  void load_both(int64_t at);
  void load_word(int64_t step) { say(fmt::format("ldr {}, [${}, #{}]", word_, tile_.sums + 1, step * kTileWordBytes)); }
  void products_of(int64_t at);
  void beside_even(int64_t at);
  void beside_odd(int64_t at);
  void load_one(int64_t product) {
    say(fmt::format("ldr r{}, [${}, #{}]", number(product), tile_.sums, product * kTileWordBytes));
  }

  const HalvesText& tile_;
  const int64_t turn_;
  const std::string word_;  ///< the register of the next word
  std::string text_;
};

void BesideWriter::load_both(int64_t at) {
  say(fmt::format("ldrd r{}, r{}, [${}, #{}]", number(2 * at), number(2 * at + 1), tile_.sums,
                  2 * at * kTileWordBytes));
}

/// What goes with the first product of sum `at` of the turn.
void BesideWriter::beside_even(int64_t at) {
  const bool last = at + 1 == turn_ * tile_.sums;
  if (!last && !is_wide(at + 1)) load_one(2 * (at + 1));
  if (at % tile_.sums == 0) say(fmt::format("sxtb16 lr, {}, ror #8", word_));
  if (last && tile_.loops())
    say(fmt::format("add ${0}, ${0}, #{1}", tile_.sums, turn_ * tile_.sums * 2 * kTileWordBytes));
}

/// What goes with the second one.
void BesideWriter::beside_odd(int64_t at) {
  const int64_t step = at / tile_.sums;
  const bool last = at + 1 == turn_ * tile_.sums, more = step + 1 < turn_;
  if (!last && !is_wide(at + 1)) load_one(2 * (at + 1) + 1);
  if (at % tile_.sums == 0 && more) load_word(step + 1);
  if (at % tile_.sums == tile_.sums - 1 && more) say(fmt::format("sxtb16 r12, {}", word_));
  if (last && tile_.loops()) say(fmt::format("add ${0}, ${0}, #{1}", tile_.sums + 1, turn_ * kTileWordBytes));
  if (last && tile_.end_is_float()) say(fmt::format("vmov r{}, {}", tile_.register_of_end(), tile_.end()));
}

void BesideWriter::products_of(int64_t at) {
  const int64_t sum = at % tile_.sums;
  if (at + 1 < turn_ * tile_.sums && is_wide(at + 1)) load_both(at + 1);
  beside_even(at);
  say(tile_.sets_sums() && at < tile_.sums ? fmt::format("smuad ${}, r{}, r12", sum, number(2 * at))
                                           : fmt::format("smlad ${0}, r{1}, r12, ${0}", sum, number(2 * at)));
  beside_odd(at);
  say(fmt::format("smlad ${0}, r{1}, lr, ${0}", sum, number(2 * at + 1)));
}

std::string BesideWriter::write() {
  load_word(0);
  load_both(0);
  say(fmt::format("sxtb16 r12, {}", word_));
  for (int64_t at = 0; at < turn_ * tile_.sums; ++at) products_of(at);
  return std::move(text_);
}

}  // namespace

/// Steps of one turn of the loop: a divisor of their number, few enough that the code is short. A statement without a
/// loop needs no zeros to begin with.
int64_t HalvesText::steps_of_turn() const {
  constexpr int64_t kMostProducts = 24, kMostBeside = 48, kMostWithoutLoop = 54;
  if (from_zero && steps * sums <= (small ? sums : kMostWithoutLoop)) return steps;
  const int64_t most = dual_issue ? kMostBeside : kMostProducts;
  int64_t turns = small ? 1 : std::clamp<int64_t>(most / sums, 1, steps);
  while (steps % turns != 0) --turns;
  return turns;
}

bool HalvesText::loads_beside() const {
  return dual_issue && !small && sums <= kMostBesideEnd;
}

int64_t HalvesText::register_of_word() const {
  return kFirstSumRegister + sums + 1;
}

bool HalvesText::end_is_float() const {
  return loops() && (sums > kMostBesideEnd || (loads_beside() && sums == kMostBesideEnd));
}

std::string HalvesText::text() const {
  std::string text = loads_beside() ? BesideWriter(*this).write()
                     : dual_issue   ? TurnWriter(*this).in_pairs()
                                    : TurnWriter(*this).one_by_one();
  if (!loops()) return text;
  if (end_is_float() && !dual_issue) text += fmt::format("vmov r0, {}\n\t", end());
  const std::string last = !end_is_float() ? end() : loads_beside() ? fmt::format("r{}", register_of_end()) : "r0";
  return fmt::format("1:\n\t{}cmp ${}, {}\n\tbne 1b\n\t", text, sums, last);
}

std::string HalvesText::end() const {
  return fmt::format("${}", 2 * sums + 4);
}

/// That of the first numbers of the last sum of a turn, which are used up before its second ones.
int64_t HalvesText::register_of_end() const {
  return 2 * (steps_of_turn() * sums - 1) % 4;
}

std::string HalvesText::constraints() const {
  return constraints_of_tile(sums, !loops() ? "" : end_is_float() ? "t" : "r", loads_beside() ? register_of_word() : 0);
}

std::string constraints_of_tile(int64_t sums, const std::string& end, int64_t other) {
  std::string written, read;
  for (int64_t i = 0; i < sums + 2; ++i) {
    const int64_t place = i == sums ? kFirstSumRegister - 1 : kFirstSumRegister + i - (i > sums ? 1 : 0);
    written += fmt::format("{}=&{{r{}}}", i == 0 ? "" : ",", place);
    read += fmt::format(",{}", i);
  }
  if (!end.empty()) read += "," + end;
  if (other != 0) read += fmt::format(",~{{r{}}}", other);
  return written + read + ",~{r0},~{r1},~{r2},~{r3},~{r12},~{lr},~{cc},~{memory}";
}

}  // namespace relaxc::codegen_llvm
