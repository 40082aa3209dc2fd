// halves_tile.cpp: see halves_tile.h.
#include "compiler/codegen/llvm/lower/halves_tile.h"

#include <llvm/Analysis/Loads.h>
#include <llvm/IR/InlineAsm.h>

#include <algorithm>

#include "compiler/arith/simplify.h"
#include "compiler/codegen/llvm/lower/columns_tile_text.h"
#include "compiler/codegen/llvm/lower/halves_tile_text.h"
#include "compiler/tir/dot_word.h"

namespace relaxc::codegen_llvm {

using arith::Expr;
using llvm::Value;

namespace {

constexpr int64_t kHalvesOfSum = 4;  ///< of a sum in one step
constexpr int64_t kBytesOfStep = 4;  ///< of a row

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

  bool read() { return collect(loop_.body, {}) && sums.size() >= 2 && (in_row ? is_row() : is_column()); }

  std::vector<HalvesSum> sums;
  bool in_row = false;  ///< whether the sums have one word of bytes, and a constant's word each

 private:
  bool collect(tir::Stmt s, const arith::Substitution& known);
  bool collect_sum(const tir::Store& s, const arith::Substitution& known);
  bool is_column() const;
  bool is_row() const;
  bool has_steps(int64_t numbers, int64_t words) const;
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
  if (own == nullptr || own->buffer != s.buffer || own->indices != s.indices) return false;
  const std::optional<arith::PairDot> pairs = arith::as_pair_dot(add->b);
  const std::optional<arith::Dot4> bytes = pairs ? std::nullopt : arith::as_dot4(add->b);
  const arith::Load* numbers = pairs ? tir::pairs_of(*pairs) : bytes ? tir::word_of(*bytes) : nullptr;
  const auto* word = pairs ? pairs->b.as<arith::Load>() : bytes ? bytes->b.as<arith::Load>() : nullptr;
  if (numbers == nullptr || word == nullptr || numbers->buffer->dtype != (pairs ? DType::i(16) : DType::u(8)))
    return false;
  if (word->buffer->dtype != DType::i(32) || s.indices.empty()) return false;
  if (!sums.empty() && in_row != bytes.has_value()) return false;
  in_row = bytes.has_value();
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
bool HalvesTile::is_column() const {
  const auto count = static_cast<int64_t>(sums.size());
  for (int64_t i = 1; i < count; ++i) {
    const HalvesSum &before = sums[static_cast<size_t>(i - 1)], &own = sums[static_cast<size_t>(i)];
    if (apart(before.numbers, own.numbers) != kHalvesOfSum || apart(before.word, own.word) != 0) return false;
    if (own.result.offset().constant() == nullptr || apart(before.result, own.result) != 1) return false;
  }
  return has_steps(kHalvesOfSum * count, 1) && arith::divisor(sums[0].numbers.offset()) % 2 == 0;
}

bool HalvesTile::has_steps(int64_t numbers, int64_t words) const {
  return step_of(sums[0].numbers) == numbers && step_of(sums[0].word) == words;
}

/// All sums have the same bytes, and each one's word is behind that of the sum before.
bool HalvesTile::is_row() const {
  const auto count = static_cast<int64_t>(sums.size());
  for (int64_t i = 1; i < count; ++i) {
    const HalvesSum &before = sums[static_cast<size_t>(i - 1)], &own = sums[static_cast<size_t>(i)];
    if (apart(before.numbers, own.numbers) != 0 || apart(before.word, own.word) != 1) return false;
    if (own.result.offset().constant() == nullptr || apart(before.result, own.result) != 1) return false;
  }
  return count <= kMostColumnSums && has_steps(kBytesOfStep, count);
}

/// Whether a load of a local variable gives what stores before it in straight code left there, which is zero.
bool loads_zero(llvm::LoadInst& load) {
  constexpr unsigned kMostInstructions = 64;
  for (llvm::BasicBlock* block = load.getParent(); block != nullptr; block = block->getSinglePredecessor()) {
    llvm::BasicBlock::iterator from = block == load.getParent() ? load.getIterator() : block->end();
    const Value* known = llvm::FindAvailableLoadedValue(&load, block, from, kMostInstructions);
    if (known != nullptr) return llvm::isa<llvm::Constant>(known) && llvm::cast<llvm::Constant>(known)->isNullValue();
    if (from != block->begin()) return false;
  }
  return false;
}

}  // namespace

bool HalvesTiles::lower(const tir::For& s) {
  const Capabilities& machine = frame_.numeric().capabilities();
  const int64_t* steps = s.extent.constant();
  if (machine.byte_tiles != ByteTileForm::kHalves || lanes_.count() != 0 || steps == nullptr) return false;
  HalvesTile tile(s);
  if (!tile.read() || (tile.in_row && (!machine.dual_issue || frame_.options().small))) return false;
  const auto count = static_cast<int64_t>(tile.sums.size());
  const auto address = [&](ElementPlace place) {
    for (Expr& index : place.indices) index = arith::simplify(arith::substitute(index, {{s.var, s.min}}));
    return memory_.address(place.buffer, memory_.offset_of(place.buffer, place.indices));
  };
  llvm::Type* word = b_.getInt32Ty();
  std::vector<Value*> inputs, sums;
  bool from_zero = true;
  for (const HalvesSum& sum : tile.sums) {
    sums.push_back(address(sum.result));
    llvm::LoadInst* load = b_.CreateLoad(word, sums.back());
    from_zero &= loads_zero(*load);
    inputs.push_back(load);
  }
  const Statement code = tile.in_row ? statement_of(ColumnsText{count, *steps, from_zero}, false)
                                     : column_statement(count, *steps, from_zero);
  if (code.sets_sums) std::fill(inputs.begin(), inputs.end(), llvm::UndefValue::get(word));
  Value* numbers = b_.CreatePtrToInt(address(tile.sums[0].numbers), word);
  const int64_t bytes = *steps * (tile.in_row ? kBytesOfStep : count * kHalvesOfSum * 2);
  inputs.insert(inputs.end(), {numbers, b_.CreatePtrToInt(address(tile.sums[0].word), word)});
  if (code.loops) {
    Value* end = b_.CreateAdd(numbers, b_.getInt32(static_cast<uint32_t>(bytes)));
    inputs.push_back(code.end_is_float ? b_.CreateBitCast(end, b_.getFloatTy()) : end);
  }
  call(code, inputs, sums);
  return true;
}

HalvesTiles::Statement HalvesTiles::column_statement(int64_t sums, int64_t steps, bool from_zero) const {
  const HalvesText text{.sums = sums,
                        .steps = steps,
                        .from_zero = from_zero,
                        .small = frame_.options().small,
                        .dual_issue = frame_.numeric().capabilities().dual_issue};
  return statement_of(text, text.end_is_float());
}

/// Calls the statement, and stores its first results to the sums.
void HalvesTiles::call(const Statement& code, const std::vector<Value*>& inputs, const std::vector<Value*>& sums) {
  llvm::Type* word = b_.getInt32Ty();
  std::vector<llvm::Type*> taken(inputs.size(), word), given(sums.size() + 2, word);
  taken.back() = inputs.back()->getType();
  auto* type = llvm::FunctionType::get(llvm::StructType::get(b_.getContext(), given), taken, false);
  auto* assembly = llvm::InlineAsm::get(type, code.text, code.constraints, /*hasSideEffects=*/true);
  Value* results = b_.CreateCall(type, assembly, inputs);
  for (size_t i = 0; i < sums.size(); ++i)
    b_.CreateStore(b_.CreateExtractValue(results, static_cast<unsigned>(i)), sums[i]);
}

}  // namespace relaxc::codegen_llvm
