// donors.cpp: outputs as scratch: an output whose memory is used before its own contents are written is a donor.
//
// The problem: a network that computes images or sequences gets large outputs from its caller, which are idle until the
// last kernels write them, while the arena holds activations of the same size.
//
// The method: one donor after the other, the largest first. It takes the pieces that end before its own contents begin,
// the largest first, each at the lowest offset where it fits beside pieces that are needed at the same time; then the
// rest is packed without these pieces. A donor that does not make the arena smaller is not used at all, so programs
// with small outputs are not changed.
//
// A piece that must begin at a cache line may be in a donor of less alignment: the donor is then used from its first
// whole line on, which wastes up to a line, and offsets of all pieces in it count from there.
//
// What is proved is that `offset + size <= size of the donor`. Offsets are numbers, or multiples of one product of
// symbols if all pieces below are multiples of it, too; a piece of any other size is at offset 0, or above pieces of
// constant size.
//
// Rejected: donors as bins of one packing with the arena. That a piece fits a bin of symbolic height would have to be
// proved for every pair of offsets that the packing tries.
#include "compiler/plan/donors.h"

#include <algorithm>
#include <memory>
#include <numeric>

namespace relaxc::plan {
namespace {

class Donation {
 public:
  Donation(Context& context, const std::vector<Piece>& pieces, const std::vector<Donor>& donors,
           const arith::Facts& facts, Comparisons& known)
      : context_(context),
        pieces_(pieces),
        donors_(donors),
        facts_(facts),
        known_(known),
        at_typical_(std::make_unique<arith::Evaluation>([this](arith::Var var) { return typical(facts_, var); })),
        largest_first_(largest_first(pieces)) {}

  DonatedStorage run() {
    // Each donor that is tried costs a packing of all pieces. 4,092 pieces with 4,096 donors took more than 26 s; with
    // this limit, which leaves the 48 largest donors, 0.6 s. The real models have up to 220 pieces and 6 donors.
    constexpr size_t kMostPieces = 200'000;
    DonatedStorage best{assign_storage(context_, pieces_, facts_, known_), std::vector<int>(pieces_.size(), -1),
                        std::vector<bool>(pieces_.size())};
    size_t packed = 0;
    for (size_t donor : largest_first(donors_)) {
      if ((packed += pieces_.size()) > kMostPieces) break;
      DonatedStorage before = best;
      for (bool lines : {false, true})
        if (std::optional<DonatedStorage> donated = take_from(before, donor, lines))
          if (donated->storage.weight < best.storage.weight) best = std::move(*donated);
    }
    return best;
  }

 private:
  int64_t at_typical(const Size& size) const { return at_typical_->of(to_expr(context_, size)).value_or(INT64_MAX); }

  /// Returns the indices of pieces or donors in descending order of their typical sizes.
  template <typename T>
  std::vector<size_t> largest_first(const std::vector<T>& list) const {
    std::vector<int64_t> sizes;
    for (const T& one : list) sizes.push_back(at_typical(one.size));
    std::vector<size_t> order(list.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return sizes[a] > sizes[b]; });
    return order;
  }

  struct Placed {
    size_t piece;
    int64_t offset;
    bool scaled = false;  ///< the offset counts units of the size's factors instead of bytes
  };

  Size offset_of(const Placed& placed) const {
    return {placed.offset, placed.scaled ? pieces_[placed.piece].size.factors : std::vector<Expr>()};
  }

  /// Returns whether the piece ends within the donor. With `lines`, offsets count from the first cache line in the
  /// donor; the padding for it is scaled like the size, so that an empty piece needs none.
  bool fits(const Placed& placed, const Donor& donor, bool lines) const {
    Size offset = offset_of(placed), size = pieces_[placed.piece].size;
    if (lines) size.coefficient += std::max<int64_t>(0, kAlignment - donor.alignment);
    if (size.factors == donor.size.factors && placed.offset == 0) return size.coefficient <= donor.size.coefficient;
    if (at_typical(offset) + at_typical(size) > at_typical(donor.size)) return false;
    // In this order whichever compiler compiles relaxc: terms of a sum stand in the order in which they were first
    // made.
    const Expr room = to_expr(context_, donor.size), begin = to_expr(context_, offset);
    return known_.at_most(to_expr(context_, size) + begin, room);
  }

  /// Returns the end of a piece, rounded up to whole lines: in bytes, or in units of its factors.
  static int64_t end_of(int64_t offset, const Piece& piece) {
    return (offset + piece.size.coefficient + kAlignment - 1) / kAlignment * kAlignment;
  }

  /// Places `id` at the lowest offset clear of those in `placed` that it meets in time; nothing if it does not fit.
  std::optional<Placed> place(size_t id, const Donor& donor, bool lines, const std::vector<Placed>& placed) const {
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
    return fits(at, donor, lines) ? std::optional(at) : std::nullopt;
  }

  std::optional<DonatedStorage> take_from(const DonatedStorage& before, size_t index, bool lines) const {
    const Donor& donor = donors_[index];
    std::vector<Placed> placed;
    for (size_t i : largest_first_)
      if (before.donors[i] < 0 && pieces_[i].last < donor.until && (lines || pieces_[i].alignment <= donor.alignment))
        if (std::optional<Placed> at = place(i, donor, lines, placed)) placed.push_back(*at);
    if (placed.empty()) return {};
    DonatedStorage donated{{}, before.donors, before.lines};
    for (const Placed& one : placed)
      donated.donors[one.piece] = static_cast<int>(index), donated.lines[one.piece] = lines;
    std::vector<Piece> rest;
    for (size_t i = 0; i < pieces_.size(); ++i)
      if (donated.donors[i] < 0) rest.push_back(pieces_[i]);
    Storage storage = assign_storage(context_, rest, facts_, known_);
    constexpr double kWorthIt = 0.02;  // of a sum of base-2 logarithms: 1.4% at one typical size, or less at each
    if (storage.weight > before.storage.weight - kWorthIt) return {};
    donated.storage = before.storage;
    donated.storage.bytes = storage.bytes, donated.storage.weight = storage.weight;
    for (const Placed& one : placed) donated.storage.offsets[one.piece] = to_expr(context_, offset_of(one));
    size_t next = 0;
    for (size_t i = 0; i < pieces_.size(); ++i)
      if (donated.donors[i] < 0) donated.storage.offsets[i] = storage.offsets[next++];
    return donated;
  }

  Context& context_;
  const std::vector<Piece>& pieces_;
  const std::vector<Donor>& donors_;
  const arith::Facts& facts_;
  Comparisons& known_;
  std::unique_ptr<arith::Evaluation> at_typical_;
  std::vector<size_t> largest_first_;  ///< of the pieces
};

}  // namespace

DonatedStorage assign_with_donors(Context& context, const std::vector<Piece>& pieces, const std::vector<Donor>& donors,
                                  const arith::Facts& facts, Comparisons& known) {
  return Donation(context, pieces, donors, facts, known).run();
}

}  // namespace relaxc::plan
