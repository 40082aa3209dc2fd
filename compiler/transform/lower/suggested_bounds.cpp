// suggested_bounds.cpp: tries ranges of open dims that give the arena an upper bound.
//
// If a dim has no upper bound, an arena that grows with it has none either. The program is correct all the same, and
// only its user knows which sizes occur. So ranges are tried together with what guards say, and a note suggests a range
// and gives the bound that the arena then has.
//
// Rejected: a note on every dim without a bound, since most bounds would gain nothing.
#include "compiler/transform/lower/suggested_bounds.h"

#include <algorithm>
#include <map>

#include "compiler/arith/simplify.h"
#include "compiler/tir/visit.h"
#include "compiler/transform/lower/host_facts.h"

namespace relaxc::lower {
namespace {

using arith::Expr;
using arith::Facts;
using arith::Range;
using arith::Var;

/// Upper bounds of dims, in the order in which they are tried: a useful range keeps the arena within the memory that
/// machines have, and one dim may have to be larger than others.
constexpr int64_t kEnds[] = {512, 128, 32, 8192, 131072, 2097152};
constexpr int64_t kUseful = int64_t{1} << 30;   ///< largest useful arena in bytes
constexpr int64_t kLargest = int64_t{1} << 24;  ///< larger upper bounds count as none

class Trial {
 public:
  Trial(const relax::Module& module, const interface::Object& object, const interface::Entry& entry)
      : entry_(entry), facts_(facts_of(module, object, *module.find_prim_func(entry.call), SizeGuards::kLeftOut)) {
    const tir::PrimFunc& host = *module.find_prim_func(entry.call);
    const tir::PrimFunc& arena = *module.find_prim_func(entry.arena);
    std::vector<Var> theirs = scalars(arena);
    symbols_ = scalars(host);
    arith::Substitution ours;
    for (size_t k = 0; k < theirs.size(); ++k) ours[theirs[k]] = symbols_.at(k);
    const auto* store = arena.body.as<tir::Store>();
    const auto* cast = store == nullptr ? nullptr : store->value.as<arith::Cast>();
    if (cast != nullptr) arena_ = arith::substitute(cast->value, ours);
  }

  SuggestedBounds run() {
    if (!arena_) return {};
    std::vector<Var> in_arena = arith::free_vars(arena_);
    for (size_t k = 0; k < symbols_.size(); ++k)
      if (is_open(k) && std::find(in_arena.begin(), in_arena.end(), symbols_[k]) != in_arena.end()) open_.push_back(k);
    SuggestedBounds best;
    if (open_.empty()) return best;
    for (int64_t end : kEnds) {
      SuggestedBounds made = tried(end);
      if (made.symbols.empty() || (!best.symbols.empty() && made.arena_max >= best.arena_max)) continue;
      best = std::move(made);
      if (best.arena_max <= kUseful) break;
    }
    sort_by_weight(best);
    return best;
  }

 private:
  static std::vector<Var> scalars(const tir::PrimFunc& function) {
    std::vector<Var> found;
    for (const tir::Param& param : function.params)
      if (param.buffer == nullptr) found.push_back(param.var);
    return found;
  }

  /// Returns whether symbol `k` is a dim of an input, which flags can bound, and has no upper bound to speak of.
  bool is_open(size_t k) const {
    return entry_.symbols[k].tensor >= 0 && facts_.range_of(symbols_[k]).upper > kLargest;
  }

  /// Returns the range of multiples from the lower bound that guards give to `most`, or to twice the lower bound.
  Range range_for(size_t k, int64_t most) const {
    Range known = facts_.range_of(symbols_[k]);
    int64_t multiple = std::max<int64_t>(facts_.multiple_of(symbols_[k]), 1);
    int64_t lower = std::max<int64_t>(known.lower, 1);
    if (lower > kLargest) return {lower, lower};
    lower += (multiple - lower % multiple) % multiple;
    int64_t upper = std::min(known.upper, std::max(most, 2 * lower));
    return {lower, upper - upper % multiple};
  }

  /// Returns the arena's bound for ranges up to `end`; no symbols if guards exclude these or the arena stays unbounded.
  SuggestedBounds tried(int64_t end) const {
    Facts narrowed = facts_;
    SuggestedBounds made{entry_.name, {}, 0};
    for (size_t k : open_) {
      Range range = range_for(k, end);
      narrowed.bound(symbols_[k], range);
      made.symbols.push_back({entry_.symbols[k].name, range.lower, range.upper, entry_.symbols[k].multiple_of});
    }
    if (!arith::contradiction(narrowed).empty()) return {};
    Range bytes = arith::bounds(arena_, narrowed);
    made.arena_max = static_cast<uint64_t>(bytes.upper);
    if (!bytes.has_upper() || bytes.upper <= 0) made.symbols.clear();
    return made;
  }

  /// Sorts the dims by how much they change the arena, the largest change first. Many keep their order: the arena's
  /// size is evaluated for each one.
  void sort_by_weight(SuggestedBounds& made) const {
    constexpr size_t kMostSorted = 128;
    if (open_.size() > kMostSorted) return;
    std::map<std::string, int64_t> weight;
    for (size_t k : open_) {
      auto value = [&](Var var) {
        return std::max<int64_t>(facts_.range_of(var).lower, var == symbols_[k] ? 2048 : 64);
      };
      weight[entry_.symbols[k].name] = arith::evaluate(arena_, value).value_or(0);
    }
    std::stable_sort(made.symbols.begin(), made.symbols.end(),
                     [&](const auto& a, const auto& b) { return weight[a.name] > weight[b.name]; });
  }

  const interface::Entry& entry_;
  Facts facts_;
  std::vector<Var> symbols_;
  Expr arena_;                ///< the arena's size in bytes; null: unknown
  std::vector<size_t> open_;  ///< indices of the symbols without a bound that should have one
};

}  // namespace

std::vector<SuggestedBounds> suggested_bounds(const relax::Module& module, const interface::Object& object) {
  std::vector<SuggestedBounds> all;
  for (const interface::Entry& entry : object.entries) {
    if (entry.arena_max != UINT64_MAX) continue;
    SuggestedBounds made = Trial(module, object, entry).run();
    if (!made.symbols.empty()) all.push_back(std::move(made));
  }
  return all;
}

}  // namespace relaxc::lower
