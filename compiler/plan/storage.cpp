// storage.cpp: offsets whose sizes are expressions.
//
// Three ways, of which the one that is lowest over typical symbols is taken.
//
// By order: the pieces are packed as numbers at one choice of the symbols. What lay above another piece there lies on
// top of it for all symbols: its offset is the largest end of what is below it, a max() where nothing can be proved.
// That is right whatever the symbols are, as good as the numeric packing where they are as chosen, and close to it
// where sizes keep their proportions. Of two choices, small and large, the better one is taken.
//
// By class: sizes that are multiples of one product of symbols (all activations of a network with a dynamic batch are
// multiples of it) pack like numbers, and the packing is scaled by the product. Classes lie one after the other. For a
// static program there is one class, of numbers, and this is plain packing.
//
// By slot: pieces of any size take turns in slots as large as their largest piece, which is a max() where nothing can
// be proved. Slots share between classes, but a slot serves one piece at a time.
//
// Rejected: comparing symbolic offsets inside one packing (what cannot be ordered must be assumed to overlap, and that
// assumption loses more than classes do), and several plans in one object between which the entry chooses (every offset
// would be a choice, and the orders for small and large sizes turn out nearly the same).
#include "compiler/plan/storage.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "compiler/plan/packing.h"

namespace relaxc::plan {
namespace {

int64_t round_up(int64_t value) {
  return (value + kAlignment - 1) / kAlignment * kAlignment;
}

Expr product(Context& context, const std::vector<Expr>& factors) {
  Expr e = context.index(1);
  for (Expr factor : factors) e = e * factor;
  return e;
}

void multiply(Size& size, Expr e) {
  if (const int64_t* value = e.constant()) {
    size.overflow |= __builtin_mul_overflow(size.coefficient, *value, &size.coefficient);
  } else if (const auto* both = e.as<arith::Mul>()) {
    multiply(size, both->a), multiply(size, both->b);
  } else {
    size.factors.push_back(e);
  }
}

/// A typical value of a symbol: sizes are compared there when they cannot be compared in general.
constexpr int64_t kTypical = 256;
constexpr int64_t kSizes[] = {1, 16, 64, 128, 512};
int64_t typical(const arith::Facts& facts, arith::Var var, int64_t size = kTypical) {
  arith::Range range = facts.range_of(var);
  int64_t value = range.has_upper() ? std::min(range.upper, size) : size;
  return range.has_lower() ? std::max(value, range.lower) : value;
}

class Assigner {
 public:
  Assigner(Context& context, const std::vector<Piece>& pieces, const arith::Facts& facts)
      : context_(context), pieces_(pieces), facts_(facts) {
    for (int64_t size : kSizes)
      if (admissible(size)) sizes_.push_back(size);
    if (sizes_.empty()) sizes_.push_back(kTypical);
  }

  Storage run() {
    Storage classes = by_class();
    bool symbolic = std::any_of(pieces_.begin(), pieces_.end(), [](const Piece& p) { return !p.size.factors.empty(); });
    if (!symbolic) return classes;
    if (weight(classes.bytes) <= least_weight() + kGoodEnough) return classes;
    std::vector<Storage> ways{std::move(classes), by_slot()};
    constexpr size_t kMostOrdered = 1500;  // the order keeps a bit for every pair
    for (int64_t size : {kTypical, int64_t{16}})
      if (pieces_.size() <= kMostOrdered)
        if (std::optional<Storage> ordered = by_order(size)) ways.push_back(std::move(*ordered));
    auto lighter = [&](const Storage& a, const Storage& b) { return weight(a.bytes) < weight(b.bytes); };
    return *std::min_element(ways.begin(), ways.end(), lighter);
  }

 private:
  /// Whether no piece would have less than no bytes: guards refuse such sizes.
  bool admissible(int64_t size) const {
    return std::all_of(pieces_.begin(), pieces_.end(), [&](const Piece& piece) {
      auto value_of = [&](arith::Var var) { return typical(facts_, var, size); };
      return arith::evaluate(to_expr(context_, piece.size), value_of).value_or(0) >= 0;
    });
  }

  /// How large `e` is over several sizes, each counting alike: a sum of logarithms.
  double weight(Expr e) const {
    double sum = 0;
    for (int64_t size : sizes_) {
      auto bytes = arith::evaluate(e, [&](arith::Var var) { return typical(facts_, var, size); });
      sum += std::log2(1 + static_cast<double>(std::max<int64_t>(0, bytes.value_or(INT64_MAX))));
    }
    return sum;
  }

  static constexpr double kGoodEnough = 0.1;  ///< in weight(): 1.4% at each size

  /// The weight of the bound.
  double least_weight() const {
    double sum = 0;
    for (int64_t size : sizes_) {
      auto bytes = live_bytes(context_, pieces_, [&](arith::Var var) { return typical(facts_, var, size); });
      sum += std::log2(1 + static_cast<double>(std::max<int64_t>(0, bytes.value_or(INT64_MAX))));
    }
    return sum;
  }

  std::optional<Storage> by_order(int64_t size) const {
    std::vector<Rectangle> rectangles;
    std::vector<Expr> sizes;
    for (const Piece& piece : pieces_) {
      sizes.push_back(aligned(to_expr(context_, piece.size)));
      auto bytes = arith::evaluate(sizes.back(), [&](arith::Var var) { return typical(facts_, var, size); });
      if (!bytes) return std::nullopt;
      rectangles.push_back({*bytes, piece.first, piece.last});
    }
    Packing packing = pack(rectangles);
    std::vector<size_t> order(pieces_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return packing.offsets[a] < packing.offsets[b]; });
    return stacked(order, sizes);
  }

  /// An offset is computed wherever its piece is used, so it must not grow with the program; nor must proofs about it.
  static constexpr int kMostNodes = 96;
  static int nodes_of(Expr e) {
    int count = 0;
    arith::for_each_node(e, [&](Expr) { ++count; });
    return count;
  }

  /// Every piece on top of those before it in `order` that it meets. Of those it looks only at what is not below
  /// another of them.
  std::optional<Storage> stacked(const std::vector<size_t>& order, const std::vector<Expr>& sizes) const {
    constexpr int kMostWork = 10'000;  // of comparing expressions
    Storage result{std::vector<Expr>(pieces_.size()), context_.index(0)};
    std::vector<std::vector<bool>> below(pieces_.size());
    std::vector<bool> covered_at_all(pieces_.size());
    int work = 0;
    for (size_t k = 0; k < order.size(); ++k) {
      size_t id = order[k];
      std::vector<bool> covered(pieces_.size());
      Expr offset = context_.index(0);
      for (size_t before = k; before-- > 0;) {
        size_t other = order[before];
        if (covered[other] || !pieces_[id].meets(pieces_[other])) continue;
        for (size_t i = 0; i < covered.size(); ++i) covered[i] = covered[i] || below[other][i];
        covered[other] = true;
        offset = larger(offset, result.offsets[other] + sizes[other]);
        if (++work > kMostWork) return std::nullopt;
      }
      if (nodes_of(offset) > kMostNodes) return std::nullopt;
      result.offsets[id] = offset;
      for (size_t i = 0; i < covered.size(); ++i) covered_at_all[i] = covered_at_all[i] || covered[i];
      below[id] = std::move(covered);
    }
    for (size_t id : order)
      if (!covered_at_all[id]) result.bytes = larger(result.bytes, result.offsets[id] + sizes[id]);
    return result;
  }

  /// The value for typical symbols; expressions that overflow there are the heaviest.
  int64_t weigh(Expr e) const {
    return arith::evaluate(e, [&](arith::Var var) { return typical(facts_, var); }).value_or(INT64_MAX);
  }

  Storage by_class() const {
    std::map<std::vector<uint32_t>, std::vector<size_t>> classes;  // numbers first: their key is empty
    for (size_t i = 0; i < pieces_.size(); ++i) {
      std::vector<uint32_t> key;
      for (Expr factor : pieces_[i].size.factors) key.push_back(factor->id);
      classes[key].push_back(i);
    }
    Storage result{std::vector<Expr>(pieces_.size()), context_.index(0)};
    for (const auto& [key, members] : classes) {
      std::vector<Rectangle> rectangles;
      for (size_t i : members)
        rectangles.push_back({round_up(pieces_[i].size.coefficient), pieces_[i].first, pieces_[i].last});
      Packing packing = pack(rectangles);
      Expr unit = product(context_, pieces_[members[0]].size.factors);
      for (size_t k = 0; k < members.size(); ++k) result.offsets[members[k]] = result.bytes + unit * packing.offsets[k];
      result.bytes = result.bytes + unit * packing.height;
    }
    return result;
  }

  struct Slot {
    Expr bytes;
    std::vector<size_t> members;
  };

  Expr aligned(Expr bytes) const {
    if (arith::divisor(bytes, facts_) % kAlignment == 0) return bytes;
    return arith::ceildiv(bytes, kAlignment) * kAlignment;
  }

  /// Proofs are dear, so only what holds for typical symbols is tried.
  Expr larger(Expr a, Expr b) const {
    if (a == b) return a;
    bool a_first = false, b_first = false;
    for (int64_t size : sizes_) {
      auto value_of = [&](arith::Var var) { return typical(facts_, var, size); };
      int64_t x = arith::evaluate(a, value_of).value_or(INT64_MAX),
              y = arith::evaluate(b, value_of).value_or(INT64_MAX);
      a_first |= x < y, b_first |= y < x;
    }
    if (!b_first && arith::prove_le(a, b, facts_)) return b;
    if (!a_first && arith::prove_le(b, a, facts_)) return a;
    Expr both = arith::max(a, b);
    return nodes_of(both) > kMostNodes ? both : arith::simplify(both, facts_);  // drops what something else dominates
  }

  Storage by_slot() const {
    std::vector<Expr> sizes;
    std::vector<size_t> order;
    for (const Piece& piece : pieces_) {
      order.push_back(order.size());
      sizes.push_back(aligned(to_expr(context_, piece.size)));
    }
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return weigh(sizes[a]) > weigh(sizes[b]); });
    std::vector<Slot> slots;
    for (size_t id : order) {
      auto free = [&](const Slot& slot) {
        return std::none_of(slot.members.begin(), slot.members.end(),
                            [&](size_t other) { return pieces_[id].meets(pieces_[other]); });
      };
      // Largest first means that any free slot is large enough for typical symbols; the smallest of them wastes least.
      auto best = slots.end();
      for (auto slot = slots.begin(); slot != slots.end(); ++slot)
        if (free(*slot) && (best == slots.end() || weigh(slot->bytes) < weigh(best->bytes))) best = slot;
      if (best == slots.end()) best = slots.insert(slots.end(), Slot{sizes[id], {}});
      best->bytes = larger(best->bytes, sizes[id]);
      best->members.push_back(id);
    }
    Storage result{std::vector<Expr>(pieces_.size()), context_.index(0)};
    for (const Slot& slot : slots) {
      for (size_t id : slot.members) result.offsets[id] = result.bytes;
      result.bytes = result.bytes + slot.bytes;
    }
    return result;
  }

  Context& context_;
  const std::vector<Piece>& pieces_;
  const arith::Facts& facts_;
  std::vector<int64_t> sizes_;  ///< at which plans are compared
};

}  // namespace

Size size_of(Context& context, const std::vector<Expr>& dims, int64_t element_bytes) {
  Size size;
  multiply(size, context.index(element_bytes));
  for (Expr dim : dims) multiply(size, dim);
  std::sort(size.factors.begin(), size.factors.end(), [](Expr a, Expr b) { return a->id < b->id; });
  return size;
}

Expr to_expr(Context& context, const Size& size) {
  return product(context, size.factors) * size.coefficient;
}

Storage assign_storage(Context& context, const std::vector<Piece>& pieces, const arith::Facts& facts) {
  return Assigner(context, pieces, facts).run();
}

std::optional<int64_t> live_bytes(Context& context, const std::vector<Piece>& pieces,
                                  const std::function<int64_t(arith::Var)>& value_of) {
  std::vector<std::pair<uint64_t, int64_t>> changes;
  for (const Piece& piece : pieces) {
    std::optional<int64_t> bytes = arith::evaluate(to_expr(context, piece.size), value_of);
    if (!bytes) return {};
    changes.emplace_back(uint64_t{piece.first} * 2 + 1, *bytes);
    changes.emplace_back(uint64_t{piece.last} * 2 + 2, -*bytes);  // even: what ends, before what begins next
  }
  std::sort(changes.begin(), changes.end());
  int64_t now = 0, most = 0;
  for (const auto& [time, change] : changes) {
    if (__builtin_add_overflow(now, change, &now)) return {};
    most = std::max(most, now);
  }
  return most;
}

}  // namespace relaxc::plan
