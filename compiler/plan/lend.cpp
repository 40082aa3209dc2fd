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
// What needs a line of cache to begin at finds it in a lender that has none: it is rounded up to, which takes up to a
// line of what is lent. All that lies there then counts from it.
//
// What is proved is that `offset + size <= size of the lender`. Offsets are numbers, or multiples of one product of
// symbols where all that lies below is a multiple of it, too; a piece of any other size lies at offset 0, or above
// pieces of constant size.
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
    LentStorage best{assign_storage(context_, pieces_, facts_, known_), std::vector<int>(pieces_.size(), -1),
                     std::vector<bool>(pieces_.size())};
    std::vector<size_t> order(lenders_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return at_typical(lenders_[a].size) > at_typical(lenders_[b].size); });
    for (size_t lender : order) {
      LentStorage before = best;
      for (bool lines : {false, true})
        if (std::optional<LentStorage> lent = lend(before, lender, lines))
          if (lent->storage.weight < best.storage.weight) best = std::move(*lent);
    }
    return best;
  }

 private:
  int64_t at_typical(const Size& size) const {
    auto value_of = [&](arith::Var var) { return typical(facts_, var); };
    return arith::evaluate(to_expr(context_, size), value_of).value_or(INT64_MAX);
  }

  struct Placed {
    size_t piece;
    int64_t offset;
    bool scaled = false;  ///< the offset counts what the piece's size is a multiple of, and not bytes
  };

  Size offset_of(const Placed& placed) const {
    return {placed.offset, placed.scaled ? pieces_[placed.piece].size.factors : std::vector<Expr>()};
  }

  /// Whether what lies below the piece, and the piece, are at most what the lender has. `lines`: from a line on, which
  /// costs nothing where nothing is there to lie.
  bool fits(const Placed& placed, const Lender& lender, bool lines) const {
    Size offset = offset_of(placed), size = pieces_[placed.piece].size;
    if (lines) size.coefficient += std::max<int64_t>(0, kAlignment - lender.alignment);
    if (size.factors == lender.size.factors && placed.offset == 0) return size.coefficient <= lender.size.coefficient;
    if (at_typical(offset) + at_typical(size) > at_typical(lender.size)) return false;
    return known_.at_most(to_expr(context_, size) + to_expr(context_, offset), to_expr(context_, lender.size));
  }

  /// The end of a piece in whole lines, or as many of its units.
  static int64_t end_of(int64_t offset, const Piece& piece) {
    return (offset + piece.size.coefficient + kAlignment - 1) / kAlignment * kAlignment;
  }

  /// `id` at the lowest offset beside what it meets of `placed`; nothing if it does not fit.
  std::optional<Placed> place(size_t id, const Lender& lender, bool lines, const std::vector<Placed>& placed) const {
    const Piece& piece = pieces_[id];
    std::vector<Placed> beside;
    for (const Placed& other : placed)
      if (piece.meets(pieces_[other.piece])) beside.push_back(other);
    std::sort(beside.begin(), beside.end(), [](const Placed& a, const Placed& b) { return a.offset < b.offset; });
    Placed at{id, 0};
    for (const Placed& other : beside) {
      const Piece& below = pieces_[other.piece];
      bool numbers = below.size.factors.empty() && !at.scaled;
      bool multiples = !below.size.factors.empty() && below.size.factors == piece.size.factors &&
                       (other.offset == 0 || other.scaled) && (at.offset == 0 || at.scaled);
      if (!numbers && !multiples) return {};
      if ((multiples || piece.size.factors.empty()) && end_of(at.offset, piece) <= other.offset) break;
      at.offset = std::max(at.offset, end_of(other.offset, below));
      at.scaled = multiples;
    }
    return fits(at, lender, lines) ? std::optional(at) : std::nullopt;
  }

  std::optional<LentStorage> lend(const LentStorage& before, size_t index, bool lines) const {
    const Lender& lender = lenders_[index];
    std::vector<size_t> candidates;
    for (size_t i = 0; i < pieces_.size(); ++i)
      if (before.lenders[i] < 0 && pieces_[i].last < lender.until &&
          (lines || pieces_[i].alignment <= lender.alignment))
        candidates.push_back(i);
    std::stable_sort(candidates.begin(), candidates.end(),
                     [&](size_t a, size_t b) { return at_typical(pieces_[a].size) > at_typical(pieces_[b].size); });
    std::vector<Placed> placed;
    for (size_t i : candidates)
      if (std::optional<Placed> at = place(i, lender, lines, placed)) placed.push_back(*at);
    if (placed.empty()) return {};
    LentStorage lent{{}, before.lenders, before.lines};
    for (const Placed& one : placed) lent.lenders[one.piece] = static_cast<int>(index), lent.lines[one.piece] = lines;
    std::vector<Piece> rest;
    for (size_t i = 0; i < pieces_.size(); ++i)
      if (lent.lenders[i] < 0) rest.push_back(pieces_[i]);
    Storage storage = assign_storage(context_, rest, facts_, known_);
    constexpr double kWorthIt = 0.02;  // in weights: 2% at one typical size, or less than 1% at each
    if (storage.weight > before.storage.weight - kWorthIt) return {};
    lent.storage = before.storage;
    lent.storage.bytes = storage.bytes, lent.storage.weight = storage.weight;
    for (const Placed& one : placed) lent.storage.offsets[one.piece] = to_expr(context_, offset_of(one));
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
