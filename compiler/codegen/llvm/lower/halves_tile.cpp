// halves_tile.cpp: see halves_tile.h.
//
// Numbers are loaded to r0 to r3, and the word of the constant becomes two pairs in r12 and lr. Sums, both addresses
// and the end of the loop are wherever LLVM has them, which leaves five sums. With six the end is in a register of the
// floating-point unit, and comes back for the comparison.
#include "compiler/codegen/llvm/lower/halves_tile.h"

#include <fmt/format.h>
#include <llvm/IR/InlineAsm.h>

#include <algorithm>

#include "compiler/arith/simplify.h"
#include "compiler/tir/dot_word.h"

namespace relaxc::codegen_llvm {

using arith::Expr;
using llvm::Value;

namespace {

constexpr int64_t kMostHalvesSums = 6, kMostBesideEnd = 5;
constexpr int64_t kHalvesOfSum = 4;  ///< of a sum in one step

/// An element, with the loop's variable and those of unrolled loops in place.
struct ElementPlace {
  tir::BufferRef buffer = nullptr;
  std::vector<Expr> indices;

  Expr offset() const { return arith::simplify(tir::element_offset(indices[0].context(), *buffer, indices)); }
};

struct HalvesSum {
  ElementPlace result, numbers, word;
};

class HalvesTile {
 public:
  explicit HalvesTile(const tir::For& loop) : loop_(loop) {}

  bool read() { return collect(loop_.body, {}) && sums.size() >= 2 && is_tile(); }

  std::vector<HalvesSum> sums;

 private:
  bool collect(tir::Stmt s, const arith::Substitution& known);
  bool collect_sum(const tir::Store& s, const arith::Substitution& known);
  bool is_tile() const;
  ElementPlace placed(const arith::Load& load, const arith::Substitution& known) const;
  /// How much the place moves in an iteration, in elements.
  std::optional<int64_t> step_of(const ElementPlace& place) const;
  static std::optional<int64_t> apart(const ElementPlace& from, const ElementPlace& to);

  const tir::For& loop_;
};

bool HalvesTile::collect(tir::Stmt s, const arith::Substitution& known) {
  if (const auto* store = s.as<tir::Store>()) return collect_sum(*store, known);
  if (const auto* loop = s.as<tir::For>()) {
    const int64_t *min = loop->min.constant(), *extent = loop->extent.constant();
    if (loop->loop_kind != tir::LoopKind::kUnrolled || min == nullptr || extent == nullptr) return false;
    for (int64_t i = 0; i < *extent && sums.size() <= kMostHalvesSums; ++i) {
      arith::Substitution inner = known;
      inner[loop->var] = loop->min.context().index(*min + i);
      if (!collect(loop->body, inner)) return false;
    }
    return sums.size() <= kMostHalvesSums;
  }
  const auto* block = s.as<tir::Block>();
  return block != nullptr && block->iters.empty() && !block->predicate && !block->init && collect(block->body, known);
}

ElementPlace HalvesTile::placed(const arith::Load& load, const arith::Substitution& known) const {
  ElementPlace place{load.buffer, {}};
  for (Expr index : load.indices) place.indices.push_back(arith::simplify(arith::substitute(index, known)));
  return place;
}

bool HalvesTile::collect_sum(const tir::Store& s, const arith::Substitution& known) {
  const auto* add = s.value.as<arith::Add>();
  if (s.buffer->scope != tir::Scope::kLocal || s.buffer->dtype != DType::i(32) || add == nullptr) return false;
  const auto* own = add->a.as<arith::Load>();
  const std::optional<arith::PairDot> dot = arith::as_pair_dot(add->b);
  const arith::Load* numbers = dot ? tir::pairs_of(*dot) : nullptr;
  const auto* word = dot ? dot->b.as<arith::Load>() : nullptr;
  if (own == nullptr || own->buffer != s.buffer || own->indices != s.indices) return false;
  if (numbers == nullptr || word == nullptr || numbers->buffer->dtype != DType::i(16)) return false;
  if (word->buffer->dtype != DType::i(32) || s.indices.empty()) return false;
  HalvesSum sum{{s.buffer, {}}, placed(*numbers, known), placed(*word, known)};
  for (Expr index : s.indices) sum.result.indices.push_back(arith::simplify(arith::substitute(index, known)));
  sums.push_back(std::move(sum));
  return true;
}

std::optional<int64_t> HalvesTile::apart(const ElementPlace& from, const ElementPlace& to) {
  if (from.buffer != to.buffer) return {};
  const Expr distance = arith::simplify(to.offset() - from.offset());
  return distance.constant() != nullptr ? std::optional(*distance.constant()) : std::nullopt;
}

std::optional<int64_t> HalvesTile::step_of(const ElementPlace& place) const {
  ElementPlace next = place;
  for (Expr& index : next.indices) index = arith::simplify(arith::substitute(index, {{loop_.var, loop_.var + 1}}));
  return apart(place, next);
}

/// Each sum's numbers are behind those of the sum before, a step's behind those of the step before, and all sums have
/// one word. LDM takes addresses that are multiples of four.
bool HalvesTile::is_tile() const {
  const auto count = static_cast<int64_t>(sums.size());
  for (int64_t i = 1; i < count; ++i) {
    const HalvesSum &before = sums[static_cast<size_t>(i - 1)], &own = sums[static_cast<size_t>(i)];
    if (apart(before.numbers, own.numbers) != kHalvesOfSum || apart(before.word, own.word) != 0) return false;
    if (own.result.offset().constant() == nullptr || apart(before.result, own.result) != 1) return false;
  }
  return step_of(sums[0].numbers) == kHalvesOfSum * count && step_of(sums[0].word) == 1 &&
         arith::divisor(sums[0].numbers.offset()) % 2 == 0;
}

/// Steps of one turn of the loop: a divisor of their number, few enough that the code is short.
int64_t steps_of_turn(int64_t count, int64_t sums, bool small) {
  constexpr int64_t kMostProducts = 24;
  int64_t turns = small ? 1 : std::clamp<int64_t>(kMostProducts / sums, 1, count);
  while (count % turns != 0) --turns;
  return turns;
}

/// Operands: the sums, the address of the numbers, that of the words, and where the numbers end.
std::string halves_text(int64_t sums, int64_t count, bool small) {
  const int64_t turns = steps_of_turn(count, sums, small);
  std::string text = turns < count ? "1:\n\t" : "";
  const auto say = [&](const std::string& line) { text += line + "\n\t"; };
  for (int64_t turn = 0; turn < turns; ++turn) {
    say(fmt::format("ldr lr, [${}], #4", sums + 1));
    for (int64_t sum = 0; sum < sums; sum += 2) {
      const bool both = sum + 1 < sums;
      say(fmt::format("ldmia ${}!, {{r0, r1{}}}", sums, both ? ", r2, r3" : ""));
      if (sum == 0) say("sxtb16 r12, lr"), say("sxtb16 lr, lr, ror #8");
      say(fmt::format("smlad ${0}, r0, r12, ${0}", sum));
      if (both) say(fmt::format("smlad ${0}, r2, r12, ${0}", sum + 1));
      say(fmt::format("smlad ${0}, r1, lr, ${0}", sum));
      if (both) say(fmt::format("smlad ${0}, r3, lr, ${0}", sum + 1));
    }
  }
  if (turns == count) return text;
  if (sums > kMostBesideEnd) say(fmt::format("vmov r0, ${}", 2 * sums + 4));
  say(fmt::format("cmp ${}, {}", sums, sums > kMostBesideEnd ? "r0" : fmt::format("${}", 2 * sums + 4)));
  say("bne 1b");
  return text;
}

std::string halves_constraints(int64_t sums) {
  std::string written, read;
  for (int64_t i = 0; i < sums + 2; ++i) {
    written += i == 0 ? "=&r" : ",=&r";
    read += fmt::format(",{}", i);
  }
  return written + read + (sums > kMostBesideEnd ? ",t" : ",r") +
         ",~{r0},~{r1},~{r2},~{r3},~{r12},~{lr},~{cc},~{memory}";
}

}  // namespace

bool HalvesTiles::lower(const tir::For& s) {
  const Capabilities& machine = frame_.numeric().capabilities();
  const int64_t* steps = s.extent.constant();
  if (machine.byte_tiles != ByteTileForm::kHalves || lanes_.count() != 0 || steps == nullptr) return false;
  HalvesTile tile(s);
  if (!tile.read()) return false;
  const auto count = static_cast<int64_t>(tile.sums.size());
  const auto address = [&](ElementPlace place) {
    for (Expr& index : place.indices) index = arith::simplify(arith::substitute(index, {{s.var, s.min}}));
    return memory_.address(place.buffer, memory_.offset_of(place.buffer, place.indices));
  };
  llvm::Type* word = b_.getInt32Ty();
  std::vector<Value*> inputs, sums;
  for (const HalvesSum& sum : tile.sums) {
    sums.push_back(address(sum.result));
    inputs.push_back(b_.CreateLoad(word, sums.back()));
  }
  Value* numbers = b_.CreatePtrToInt(address(tile.sums[0].numbers), word);
  Value* end = b_.CreateAdd(numbers, b_.getInt32(static_cast<uint32_t>(*steps * count * kHalvesOfSum * 2)));
  inputs.insert(inputs.end(), {numbers, b_.CreatePtrToInt(address(tile.sums[0].word), word),
                               count > kMostBesideEnd ? b_.CreateBitCast(end, b_.getFloatTy()) : end});
  std::vector<llvm::Type*> taken(inputs.size(), word), given(static_cast<size_t>(count) + 2, word);
  taken.back() = inputs.back()->getType();
  auto* type = llvm::FunctionType::get(llvm::StructType::get(b_.getContext(), given), taken, false);
  auto* code = llvm::InlineAsm::get(type, halves_text(count, *steps, frame_.options().small), halves_constraints(count),
                                    /*hasSideEffects=*/true);
  Value* results = b_.CreateCall(type, code, inputs);
  for (size_t i = 0; i < sums.size(); ++i)
    b_.CreateStore(b_.CreateExtractValue(results, static_cast<unsigned>(i)), sums[i]);
  return true;
}

}  // namespace relaxc::codegen_llvm
