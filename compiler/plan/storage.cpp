// storage.cpp: offsets of pieces whose sizes are expressions.
//
// There are three ways, of which the one that is lowest over typical symbols is taken; or two of them, one better for
// small and one for large symbols, between which the program chooses at run time by their sizes.
//
// By order: the pieces are packed as numbers at one choice of the symbols. A piece that is above another there lies on
// top of it for all symbols: its offset is the largest end of the pieces below it, a max() if none is proved to be the
// largest. That is correct for all symbols, as good as the numeric packing for the chosen ones, and close to it if
// sizes keep their proportions. Of several choices (all symbols small or large, or one of them small, like a batch
// beside a length), the best one is taken.
//
// By class: sizes that are multiples of one product of symbols (all activations of a network with a dynamic batch) are
// packed like numbers, and the packing is scaled by the product. Classes lie one after the other. A static program has
// one class, of numbers, and this is plain packing.
//
// By slot: pieces of any size take turns in slots as large as their largest piece, which is a max() if none is proved
// to be the largest. Slots are shared between classes, but a slot holds one piece at a time.
//
// With two plans in one object, every offset that differs is a select, so a second plan has to be worth it; a third
// never was. A tiny arena is packed a second time without rounding to cache lines, which is a choice at run time as
// well if only then its size is known.
//
// Rejected: comparing symbolic offsets inside one packing (pieces whose offsets cannot be ordered must be assumed to
// overlap, which loses more than classes do).
#include "compiler/plan/storage.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include "compiler/arith/walks.h"
#include "compiler/plan/packing.h"
#include "compiler/plan/symbolic_peak.h"

namespace relaxc::plan {
namespace {

Expr product(Context& context, const std::vector<Expr>& factors) {
  Expr e = context.index(1);
  for (Expr factor : factors) e = e * factor;
  return e;
}

/// Whether the expression depends on nothing that is known at run time only. One that is no constant even so was not
/// folded because its value does not fit int64.
bool is_closed(Expr e) {
  bool closed = true;
  arith::for_each_node(
      e, [&](Expr node) { closed &= node.as<arith::VarNode>() == nullptr && node.as<arith::Load>() == nullptr; });
  return closed;
}

/// Multiplies `size` by `product`. A factor is listed as often as it occurs, which is very often in squares of squares:
/// after kMost of them, products stay factors.
void multiply(Size& size, Expr product) {
  constexpr int kMost = 64;
  std::vector<Expr> pending{product};  // bounded: kMost
  for (int taken = 0; !pending.empty(); ++taken) {
    Expr e = pending.back();
    pending.pop_back();
    const auto* both = taken < kMost ? e.as<arith::Mul>() : nullptr;
    if (const int64_t* value = e.constant())
      size.overflow |= __builtin_mul_overflow(size.coefficient, *value, &size.coefficient);
    else if (both != nullptr)
      pending.push_back(both->b), pending.push_back(both->a);
    else
      size.factors.push_back(e), size.overflow |= is_closed(e);
  }
}

constexpr int64_t kSizes[] = {1, 16, 64, 128, 512}, kBeside = 96;

class Assigner {
 public:
  /// \param line  the alignment of every offset in bytes
  Assigner(Context& context, const std::vector<Piece>& pieces, const arith::Facts& facts, int64_t line,
           Comparisons& known)
      : context_(context),
        pieces_(pieces),
        facts_(facts),
        line_(line),
        symbols_(symbols_of(pieces)),
        samples_(admissible_samples()),
        peaks_(context, pieces, line, for_comparisons(), known) {}

  Storage run() {
    Storage best = lowest();
    best.weight = sum(logs(best.bytes));
    return best;
  }

  /// Returns the value of `e` where all symbols have the smallest of the typical sizes.
  int64_t at_smallest(Expr e) const { return samples_.front()->of(e).value_or(INT64_MAX); }

  /// Returns a choice of `small` for tiny arenas and `usual` for others; `usual` if the choice gains little.
  Storage or_tiny(Storage usual, const Storage& small) const {
    Expr tiny = arith::le(small.bytes, context_.index(kTinyArena));
    Storage both = choice(tiny, small, usual);
    both.bytes = arith::select(tiny, small.bytes, usual.bytes);
    both.weight = sum(logs(both.bytes));
    return both.weight < usual.weight - kGoodEnough / 2 ? both : usual;
  }

 private:
  Storage lowest() {
    Storage classes = by_class();
    bool symbolic = std::any_of(pieces_.begin(), pieces_.end(), [](const Piece& p) { return !p.size.factors.empty(); });
    if (!symbolic) return classes;
    if (near_bound(classes.bytes)) return classes;
    std::vector<Storage> ways{std::move(classes), by_slot()};
    constexpr size_t kMostOrdered = 1500;  // stacked() keeps a bit for every pair of pieces
    std::vector<Sample> orders{all_at(kTypical), all_at(16)};
    for (arith::Var var : first_symbols()) orders.push_back(one_at(var, 1, kBeside));
    for (const Sample& sample : orders)
      if (pieces_.size() <= kMostOrdered)
        if (std::optional<Storage> ordered = by_order(*sample)) ways.push_back(std::move(*ordered));
    return best_of(ways);
  }

  /// Returns the lowest plan, or two plans between which the run chooses.
  Storage best_of(const std::vector<Storage>& ways) const {
    std::vector<std::vector<double>> all;
    for (const Storage& way : ways) all.push_back(logs(way.bytes));
    size_t one = 0;
    for (size_t i = 1; i < ways.size(); ++i)
      if (sum(all[i]) < sum(all[one])) one = i;
    std::pair<size_t, size_t> two{one, one};
    double least = sum(all[one]) - kGoodEnough;
    for (size_t i = 0; i < ways.size(); ++i)
      for (size_t k = i + 1; k < ways.size(); ++k) {
        std::vector<double> lower = all[i];
        for (size_t at = 0; at < lower.size(); ++at) lower[at] = std::min(lower[at], all[k][at]);
        if (double both = sum(lower); both < least) least = both, two = {i, k};
      }
    if (two.first == two.second) return ways[one];
    const Storage &a = ways[two.first], &b = ways[two.second];
    Storage chosen = choice(arith::le(a.bytes, b.bytes), a, b);
    chosen.bytes = arith::min(a.bytes, b.bytes);
    return chosen;
  }

  static Storage choice(Expr first, const Storage& a, const Storage& b) {
    Storage chosen;
    for (size_t i = 0; i < a.offsets.size(); ++i)
      chosen.offsets.push_back(a.offsets[i] == b.offsets[i] ? a.offsets[i]
                                                            : arith::select(first, a.offsets[i], b.offsets[i]));
    return chosen;
  }

  int64_t round_up(int64_t value) const { return (value + line_ - 1) / line_ * line_; }

  /// A choice of the symbols. Sizes may be expressions of one another, so what was evaluated is kept.
  using Sample = std::shared_ptr<arith::Evaluation>;
  static Sample sample_of(std::function<int64_t(arith::Var)> value_of) {
    return std::make_shared<arith::Evaluation>(std::move(value_of));
  }
  Sample all_at(int64_t size) const {
    return sample_of([this, size](arith::Var var) { return typical(facts_, var, size); });
  }
  Sample one_at(arith::Var one, int64_t size, int64_t others) const {
    return sample_of(
        [this, one, size, others](arith::Var var) { return typical(facts_, var, var == one ? size : others); });
  }

  /// Returns the values of the symbols at which plans are compared: all alike, and each of them small or large beside
  /// the others, as a batch is beside a length.
  std::vector<Sample> admissible_samples() const {
    std::vector<Sample> samples;
    for (int64_t size : kSizes) samples.push_back(all_at(size));
    for (arith::Var var : first_symbols()) {
      samples.push_back(one_at(var, 1, kBeside));
      samples.push_back(one_at(var, kBeside, 1));
    }
    std::erase_if(samples, [&](const Sample& sample) { return !admissible(*sample); });
    if (samples.empty()) samples.push_back(all_at(kTypical));
    return samples;
  }
  /// Returns those, and samples at which every two symbols differ, once either way: these show without a proof that
  /// sizes of unrelated symbols are not ordered.
  std::vector<Sample> for_comparisons() const {
    std::vector<Sample> samples{all_at(kTypical)};
    samples.insert(samples.end(), samples_.begin(), samples_.end());
    for (bool rising : {true, false})
      if (Sample apart = all_different(rising); satisfies_assumptions(apart)) samples.push_back(std::move(apart));
    return samples;
  }
  Sample all_different(bool rising) const {
    std::vector<arith::Var> symbols = symbols_;
    std::sort(symbols.begin(), symbols.end(), [](arith::Var a, arith::Var b) { return a->id < b->id; });
    std::unordered_map<Expr, int64_t> values;
    for (arith::Var var : symbols) {
      auto rank = static_cast<int64_t>(values.size()), last = static_cast<int64_t>(symbols.size()) - 1;
      values[var] = typical(facts_, var, kTypical + 8 * (rising ? rank : last - rank));
    }
    return sample_of([this, values = std::move(values)](arith::Var var) {
      auto found = values.find(var);
      return found == values.end() ? typical(facts_, var, kTypical) : found->second;
    });
  }
  bool satisfies_assumptions(const Sample& sample) const {
    return std::all_of(facts_.assumptions().begin(), facts_.assumptions().end(),
                       [&](Expr assumed) { return sample->of(assumed).value_or(1) == 1; }) &&
           admissible(*sample);
  }

  /// Returns a few of the symbols in sizes; none if there is only one.
  std::vector<arith::Var> first_symbols() const {
    constexpr size_t kMost = 4;
    std::vector<arith::Var> found(symbols_.begin(), symbols_.begin() + std::min(kMost, symbols_.size()));
    return found.size() < 2 ? std::vector<arith::Var>() : found;
  }

  /// Returns the symbols in sizes by first occurrence; those that occur in one factor first, by age.
  static std::vector<arith::Var> symbols_of(const std::vector<Piece>& pieces) {
    std::vector<arith::Var> found;
    std::unordered_set<Expr> met;
    auto unmet = [&](Expr e) { return arith::operands_except(e, [&](Expr part) { return met.count(part) != 0; }); };
    for (const Piece& piece : pieces)
      for (Expr factor : piece.size.factors) {
        if (met.count(factor) != 0) continue;
        auto fresh = static_cast<std::ptrdiff_t>(found.size());
        arith::for_each_node(factor, unmet, [&](Expr node) {
          met.insert(node);
          if (const auto* var = node.as<arith::VarNode>()) found.push_back(arith::Var(var));
        });
        std::sort(found.begin() + fresh, found.end(), [](arith::Var a, arith::Var b) { return a->id < b->id; });
      }
    return found;
  }

  /// Returns whether no piece has a negative size, which guards would refuse.
  bool admissible(arith::Evaluation& sample) const {
    return std::all_of(pieces_.begin(), pieces_.end(),
                       [&](const Piece& piece) { return sample.of(to_expr(context_, piece.size)).value_or(0) >= 0; });
  }

  /// Returns the logarithm of `e` at every sample, so that large and small sizes count alike.
  std::vector<double> logs(Expr e) const {
    std::vector<double> list;
    for (const Sample& sample : samples_) {
      auto bytes = sample->of(e);
      list.push_back(std::log2(1 + static_cast<double>(std::max<int64_t>(0, bytes.value_or(INT64_MAX)))));
    }
    return list;
  }
  static double sum(const std::vector<double>& list) { return std::accumulate(list.begin(), list.end(), 0.0); }

  static constexpr double kGoodEnough = 0.1;  ///< least gain in sums of logs(): 1.4% at each of five samples

  /// Returns whether `bytes` is within 0.1% of the bound at every sample.
  bool near_bound(Expr bytes) const {
    std::vector<double> found = logs(bytes);
    for (size_t i = 0; i < samples_.size(); ++i) {
      auto least = static_cast<double>(live_bytes(context_, pieces_, *samples_[i]).value_or(INT64_MAX));
      if (found[i] > std::log2(1.001 * (1 + std::max(0.0, least)))) return false;
    }
    return true;
  }

  std::optional<Storage> by_order(arith::Evaluation& sample) {
    std::vector<Rectangle> rectangles;
    for (const Piece& piece : pieces_) {
      auto bytes = sample.of(to_expr(context_, piece.size));
      if (!bytes || *bytes > INT64_MAX - line_) return std::nullopt;
      rectangles.push_back({round_up(*bytes), piece.first, piece.last});
    }
    Packing packing = pack(rectangles);
    std::vector<size_t> order(pieces_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return packing.offsets[a] < packing.offsets[b]; });
    return stacked(order);
  }

  /// Limits on the terms of an offset and of all offsets. An offset is computed wherever its piece is used, so it must
  /// not grow with the program; the sum of all is computed once a run.
  static constexpr size_t kMostTerms = 48, kMostTermsOfAll = 400;
  /// A limit on the terms of a list of sums that is not complete: sums that are added later can replace others, but
  /// each of them is compared with all, so that a long list takes quadratic time. A heuristic, not measured.
  static constexpr size_t kMostTermsOfUnfinished = 1600;
  static size_t terms_of(const Tops& tops) {
    size_t count = 0;
    for (const Sum& sum : tops) count += sum.size();
    return count;
  }

  /// Puts every piece on top of those before it in `order` that it meets in time. It only looks at those of them that
  /// are not below another one of them.
  std::optional<Storage> stacked(const std::vector<size_t>& order) {
    Storage result{std::vector<Expr>(pieces_.size()), context_.index(0)};
    std::vector<Tops> offsets(pieces_.size());
    std::vector<std::vector<bool>> below(pieces_.size());
    std::vector<bool> covered_at_all(pieces_.size());
    auto stack_on = [&](Tops& tops, size_t other) {
      if (offsets[other].empty()) peaks_.raise(tops, peaks_.plus({}, peaks_.kind(other)));
      for (const Sum& sum : offsets[other]) peaks_.raise(tops, peaks_.plus(sum, peaks_.kind(other)));
    };
    for (size_t k = 0; k < order.size(); ++k) {
      size_t id = order[k];
      std::vector<bool> covered(pieces_.size());
      for (size_t before = k; before-- > 0;) {
        size_t other = order[before];
        if (covered[other] || !pieces_[id].meets(pieces_[other])) continue;
        for (size_t i = 0; i < covered.size(); ++i) covered[i] = covered[i] || below[other][i];
        covered[other] = true;
        stack_on(offsets[id], other);
        if (terms_of(offsets[id]) > kMostTermsOfUnfinished) return std::nullopt;
      }
      if (terms_of(offsets[id]) > kMostTerms) return std::nullopt;
      result.offsets[id] = peaks_.to_expr(offsets[id]);
      for (size_t i = 0; i < covered.size(); ++i) covered_at_all[i] = covered_at_all[i] || covered[i];
      below[id] = std::move(covered);
    }
    Tops all;
    for (size_t id : order) {
      if (!covered_at_all[id]) stack_on(all, id);
      if (terms_of(all) > kMostTermsOfUnfinished) return std::nullopt;
    }
    if (terms_of(all) > kMostTermsOfAll) return std::nullopt;
    result.bytes = peaks_.to_expr(all);
    return result;
  }

  Storage by_class() const {
    std::map<std::vector<uint32_t>, std::vector<size_t>> classes;  // constant sizes come first: their key is empty
    for (size_t i = 0; i < pieces_.size(); ++i) {
      std::vector<uint32_t> key;
      for (Expr factor : pieces_[i].size.factors) key.push_back(factor->id);
      classes[key].push_back(i);
    }
    Storage result{std::vector<Expr>(pieces_.size()), context_.index(0)};
    for (const auto& [key, members] : classes) {
      Packing packing = pack(rectangles_of(members));
      Expr unit = product(context_, pieces_[members[0]].size.factors);
      for (size_t k = 0; k < members.size(); ++k) result.offsets[members[k]] = result.bytes + unit * packing.offsets[k];
      result.bytes = result.bytes + unit * packing.height;
    }
    return result;
  }

  /// Returns the sizes of pieces of one class in units of its factors.
  std::vector<Rectangle> rectangles_of(const std::vector<size_t>& members) const {
    std::map<int, int> ends;  // the rectangle that ends as an allocation
    std::vector<Rectangle> rectangles;
    for (size_t i : members) {
      const Piece& piece = pieces_[i];
      if (piece.ends_as >= 0) ends[piece.ends_as] = static_cast<int>(rectangles.size());
      rectangles.push_back({round_up(piece.size.coefficient), piece.first, piece.last});
    }
    for (size_t k = 0; k < members.size(); ++k) {
      const Piece& piece = pieces_[members[k]];
      auto over = ends.find(piece.over);
      if (over == ends.end() || !piece.size.factors.empty()) continue;
      if (rectangles[static_cast<size_t>(over->second)].last != piece.first) continue;
      const int64_t apart = rectangles[k].size + rectangles[static_cast<size_t>(over->second)].size;
      rectangles[k].over = over->second, rectangles[k].behind = piece.behind;
      rectangles[k].distance = piece.distance < apart ? round_up(piece.distance) : apart;
    }
    return rectangles;
  }

  struct MemorySlot {
    Tops bytes;
    std::vector<size_t> members;
  };

  Storage by_slot() {
    constexpr size_t kAtTypical = 0;  // the index of the first sample
    auto weigh = [&](const Tops& tops) { return peaks_.value(tops, kAtTypical); };
    std::vector<Tops> sizes;
    std::vector<size_t> order;
    for (size_t id = 0; id < pieces_.size(); ++id) {
      order.push_back(id);
      sizes.push_back({peaks_.plus({}, peaks_.kind(id))});
    }
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return weigh(sizes[a]) > weigh(sizes[b]); });
    std::vector<MemorySlot> slots;
    for (size_t id : order) {
      auto free = [&](const MemorySlot& slot) {
        return std::none_of(slot.members.begin(), slot.members.end(),
                            [&](size_t other) { return pieces_[id].meets(pieces_[other]); });
      };
      // The largest come first, so any free slot is large enough for typical symbols; the smallest wastes least.
      auto best = slots.end();
      for (auto slot = slots.begin(); slot != slots.end(); ++slot)
        if (free(*slot) && (best == slots.end() || weigh(slot->bytes) < weigh(best->bytes))) best = slot;
      if (best == slots.end()) best = slots.insert(slots.end(), MemorySlot{});
      peaks_.raise(best->bytes, sizes[id][0]);
      best->members.push_back(id);
    }
    Storage result{std::vector<Expr>(pieces_.size()), context_.index(0)};
    Sum plain;  // of slots below with one piece's size: those of a kind are counted instead of written out
    Expr others = context_.index(0);
    for (const MemorySlot& slot : slots) {
      for (size_t id : slot.members) result.offsets[id] = result.bytes;
      if (slot.bytes.size() == 1)
        plain = peaks_.plus(std::move(plain), slot.bytes[0][0].first);
      else
        others = others + peaks_.to_expr(slot.bytes);
      result.bytes = others + peaks_.to_expr({plain});
    }
    return result;
  }

  Context& context_;
  const std::vector<Piece>& pieces_;
  const arith::Facts& facts_;
  int64_t line_;
  std::vector<arith::Var> symbols_;  ///< in sizes
  std::vector<Sample> samples_;      ///< where plans are compared
  SymbolicPeaks peaks_;
};

}  // namespace

int64_t typical(const arith::Facts& facts, arith::Var var, int64_t size) {
  arith::Range range = facts.range_of(var);
  int64_t value = range.has_upper() ? std::min(range.upper, size) : size;
  return range.has_lower() ? std::max(value, range.lower) : value;
}

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

Storage assign_storage(Context& context, const std::vector<Piece>& pieces, const arith::Facts& facts,
                       Comparisons& known) {
  Assigner usual(context, pieces, facts, kAlignment, known);
  Storage lines = usual.run();
  int64_t natural = 1;
  for (const Piece& piece : pieces) natural = std::max(natural, piece.alignment);
  if (natural >= kAlignment || usual.at_smallest(lines.bytes) > 2 * kTinyArena) return lines;
  return usual.or_tiny(std::move(lines), Assigner(context, pieces, facts, natural, known).run());
}

std::optional<int64_t> live_bytes(Context& context, const std::vector<Piece>& pieces, arith::Evaluation& at) {
  std::vector<std::pair<uint64_t, int64_t>> changes;
  for (const Piece& piece : pieces) {
    std::optional<int64_t> bytes = at.of(to_expr(context, piece.size));
    if (!bytes) return {};
    changes.emplace_back(uint64_t{piece.first} * 2 + 1, *bytes);
    changes.emplace_back(uint64_t{piece.last} * 2 + 2, -*bytes);  // even: ends come before what begins next
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
