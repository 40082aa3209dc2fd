// halves_tile_text.cpp: see halves_tile_text.h.
//
// Numbers are loaded to r0 to r3, and the word of the constant becomes two pairs in r12 and lr. Six sums and both
// addresses take the other registers; the end of the loop is then in one of the floating-point unit, and comes back for
// the comparison. Few steps are without a loop, and their first products set sums that begin at zero.
//
// A core that issues two instructions starts a product together with a load of one register or with the widening of a
// word, but an LDM and a load that moves its address alone (LLVM's model of the Cortex-M7). So each step's word is
// loaded and widened beside the last products of the step before, at a constant distance from an address that moves
// once a turn. A Cortex-M4 would take a cycle more for such a load, which the LDM behind it hides otherwise.
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
constexpr int64_t kWordBytes = 4;

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
    say(fmt::format("ldr lr, [${}], #{}", tile_.sums + 1, kWordBytes));
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
    if (step + 1 < turn) say(fmt::format("ldr r12, [${}, #{}]", tile_.sums + 1, (step + 1 - turn) * kWordBytes));
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
  say(fmt::format("ldr r12, [${}], #{}", tile_.sums + 1, turn * kWordBytes));
  load_numbers(0);
  say("sxtb16 lr, r12, ror #8");
  for (int64_t step = 0; step < turn; ++step) step_beside_next(step);
  return std::move(text_);
}

}  // namespace

/// Steps of one turn of the loop: a divisor of their number, few enough that the code is short. A statement without a
/// loop needs no zeros to begin with.
int64_t HalvesText::steps_of_turn() const {
  constexpr int64_t kMostProducts = 24, kMostWithoutLoop = 54;
  if (from_zero && steps * sums <= (small ? sums : kMostWithoutLoop)) return steps;
  int64_t turns = small ? 1 : std::clamp<int64_t>(kMostProducts / sums, 1, steps);
  while (steps % turns != 0) --turns;
  return turns;
}

bool HalvesText::end_is_float() const {
  return loops() && sums > kMostBesideEnd;
}

std::string HalvesText::text() const {
  std::string text = dual_issue ? TurnWriter(*this).in_pairs() : TurnWriter(*this).one_by_one();
  if (!loops()) return text;
  const auto say = [&](const std::string& line) { text += line + "\n\t"; };
  if (end_is_float()) say(fmt::format("vmov r0, ${}", 2 * sums + 4));
  say(fmt::format("cmp ${}, {}", sums, end_is_float() ? "r0" : fmt::format("${}", 2 * sums + 4)));
  say("bne 1b");
  return "1:\n\t" + text;
}

/// The address of the numbers is in a low register, with which LDM is two bytes shorter.
std::string HalvesText::constraints() const {
  std::string written, read;
  for (int64_t i = 0; i < sums + 2; ++i) {
    const int64_t place = i < sums ? i + 1 : i == sums ? 0 : i;
    written += fmt::format("{}=&{{r{}}}", i == 0 ? "" : ",", 4 + place);
    read += fmt::format(",{}", i);
  }
  if (loops()) read += end_is_float() ? ",t" : ",r";
  return written + read + ",~{r0},~{r1},~{r2},~{r3},~{r12},~{lr},~{cc},~{memory}";
}

}  // namespace relaxc::codegen_llvm
