// lend.cpp: outputs as scratch.
//
// The problem: a network that gives images or sequences is handed large outputs, which lie idle until the last kernels
// write them, while the arena holds activations of the same size.
//
// The method: one lender after the other, the largest first. It takes the pieces that end before its own contents
// begin, the largest first, each at the lowest offset where it fits beside those that it meets in time; then the rest
// is packed as if those pieces did not exist. A lender that does not make the arena smaller is not used at all, so that
// a program with small outputs is what it was.
//
// Offsets in a lender are numbers, since what is proved is that `offset + size <= size of the lender`; a piece whose
// size is symbolic therefore gets a lender of symbolic size only at offset 0, or above pieces of constant size.
//
// Rejected: lenders as bins of one packing with the arena. What fits a bin of symbolic height would have to be proved
// for every pair of offsets that the packing tries.
#include "compiler/plan/lend.h"

#include <algorithm>
#include <numeric>

namespace relaxc::plan {
namespace {

class Lending {
 public:
  Lending(Context& context, const std::vector<Piece>& pieces, const std::vector<Lender>& lenders,
          const arith::Facts& facts, Comparisons& known)
      : context_(context), pieces_(pieces), lenders_(lenders), facts_(facts), known_(known) {}

  LentStorage run() {
    LentStorage best{assign_storage(context_, pieces_, facts_, known_), std::vector<int>(pieces_.size(), -1)};
    std::vector<size_t> order(lenders_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return at_typical(lenders_[a].size) > at_typical(lenders_[b].size); });
    for (size_t lender : order)
      if (std::optional<LentStorage> lent = lend(best, lender)) best = std::move(*lent);
    return best;
  }

 private:
  int64_t at_typical(const Size& size) const {
    auto value_of = [&](arith::Var var) { return typical(facts_, var); };
    return arith::evaluate(to_expr(context_, size), value_of).value_or(INT64_MAX);
  }

  /// Whether `offset` bytes and the piece are at most what the lender has.
  bool fits(int64_t offset, const Piece& piece, const Lender& lender) const {
    if (piece.size.factors == lender.size.factors && offset == 0)
      return piece.size.coefficient <= lender.size.coefficient;
    if (offset + at_typical(piece.size) > at_typical(lender.size)) return false;
    return known_.at_most(to_expr(context_, piece.size) + offset, to_expr(context_, lender.size));
  }

  /// The end of a piece in whole lines; nothing if it is not a number.
  static std::optional<int64_t> end_of(int64_t offset, const Piece& piece) {
    if (!piece.size.factors.empty()) return {};
    return (offset + piece.size.coefficient + kAlignment - 1) / kAlignment * kAlignment;
  }

  struct Placed {
    size_t piece;
    int64_t offset;
  };

  /// The lowest offset of `piece` beside what it meets of `placed`; nothing if it does not fit.
  std::optional<int64_t> place(const Piece& piece, const Lender& lender, const std::vector<Placed>& placed) const {
    std::vector<Placed> beside;
    for (const Placed& other : placed)
      if (piece.meets(pieces_[other.piece])) beside.push_back(other);
    std::sort(beside.begin(), beside.end(), [](const Placed& a, const Placed& b) { return a.offset < b.offset; });
    int64_t at = 0;
    for (const Placed& other : beside) {
      std::optional<int64_t> own_end = end_of(at, piece), their_end = end_of(other.offset, pieces_[other.piece]);
      if (own_end && *own_end <= other.offset) break;
      if (!their_end) return {};
      at = std::max(at, *their_end);
    }
    return fits(at, piece, lender) ? std::optional(at) : std::nullopt;
  }

  std::optional<LentStorage> lend(const LentStorage& before, size_t index) const {
    const Lender& lender = lenders_[index];
    std::vector<size_t> candidates;
    for (size_t i = 0; i < pieces_.size(); ++i)
      if (before.lenders[i] < 0 && pieces_[i].last < lender.until && pieces_[i].alignment <= lender.alignment)
        candidates.push_back(i);
    std::stable_sort(candidates.begin(), candidates.end(),
                     [&](size_t a, size_t b) { return at_typical(pieces_[a].size) > at_typical(pieces_[b].size); });
    std::vector<Placed> placed;
    for (size_t i : candidates)
      if (std::optional<int64_t> at = place(pieces_[i], lender, placed)) placed.push_back({i, *at});
    if (placed.empty()) return {};
    LentStorage lent{{}, before.lenders};
    for (const Placed& one : placed) lent.lenders[one.piece] = static_cast<int>(index);
    std::vector<Piece> rest;
    for (size_t i = 0; i < pieces_.size(); ++i)
      if (lent.lenders[i] < 0) rest.push_back(pieces_[i]);
    Storage storage = assign_storage(context_, rest, facts_, known_);
    constexpr double kWorthIt = 0.05;  // in weights: less than 1% at each size
    if (storage.weight > before.storage.weight - kWorthIt) return {};
    lent.storage = before.storage;
    lent.storage.bytes = storage.bytes, lent.storage.weight = storage.weight;
    for (const Placed& one : placed) lent.storage.offsets[one.piece] = context_.index(one.offset);
    size_t next = 0;
    for (size_t i = 0; i < pieces_.size(); ++i)
      if (lent.lenders[i] < 0) lent.storage.offsets[i] = storage.offsets[next++];
    return lent;
  }

  Context& context_;
  const std::vector<Piece>& pieces_;
  const std::vector<Lender>& lenders_;
  const arith::Facts& facts_;
  Comparisons& known_;
};

}  // namespace

LentStorage assign_with_lenders(Context& context, const std::vector<Piece>& pieces, const std::vector<Lender>& lenders,
                                const arith::Facts& facts, Comparisons& known) {
  return Lending(context, pieces, lenders, facts, known).run();
}

}  // namespace relaxc::plan
