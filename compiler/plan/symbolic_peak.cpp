// symbolic_peak.cpp: compares sums by pairing their sizes.
//
// Pairing is greedy: the largest remaining size is paired with the smallest of the other sum that is known to be at
// least as large. A pair that this misses costs a max() in an offset and nothing else.
#include "compiler/plan/symbolic_peak.h"

#include <algorithm>
#include <map>

namespace relaxc::plan {
namespace {

uint64_t pair_of(uint32_t a, uint32_t b) {
  return uint64_t{a} << 32 | b;
}

}  // namespace

bool Comparisons::at_most(Expr a, Expr b) {
  constexpr int64_t kMostSteps = 1 << 21;  // budget of proofs for a function: unproved sizes count as larger
  auto [known, fresh] = proved_.emplace(std::pair(a->id, b->id), false);
  if (fresh && prover_.steps() < kMostSteps) known->second = prover_.proves_le(a, b);
  return known->second;
}

SymbolicPeaks::SymbolicPeaks(Context& context, const std::vector<Piece>& pieces, int64_t line,
                             const std::vector<std::shared_ptr<arith::Evaluation>>& samples, Comparisons& known)
    : context_(context), line_(line), known_(known) {
  std::map<std::pair<int64_t, std::vector<uint32_t>>, uint32_t> kind_of;  // looked up only
  for (const Piece& piece : pieces) {
    std::vector<uint32_t> factors;
    for (Expr factor : piece.size.factors) factors.push_back(factor->id);
    auto [kind, fresh] = kind_of.emplace(std::pair(piece.size.coefficient, factors), bytes_.size());
    kinds_.push_back(kind->second);
    if (!fresh) continue;
    sizes_.push_back(piece.size);
    bytes_.push_back(aligned(plan::to_expr(context, piece.size)));
    std::vector<int64_t> values;
    for (const auto& sample : samples) values.push_back(sample->of(bytes_.back()).value_or(INT64_MAX));
    values_.push_back(std::move(values));
    // A size that was rounded up to whole lines is a multiple of no other size.
    auto own = static_cast<uint32_t>(units_.size());
    bool whole = piece.size.coefficient % line == 0;
    auto unit = std::find_if(units_.begin(), units_.end(), [&](uint32_t other) {
      return whole && multiples_[other] != 0 && sizes_[other].factors == piece.size.factors;
    });
    units_.push_back(unit == units_.end() ? own : *unit);
    multiples_.push_back(whole ? piece.size.coefficient : 0);
  }
}

Expr SymbolicPeaks::aligned(Expr bytes) const {
  if (known_.divisor(bytes) % line_ == 0) return bytes;
  return arith::ceildiv(bytes, line_) * line_;
}

Sum SymbolicPeaks::plus(Sum sum, uint32_t kind) const {
  auto at = std::lower_bound(sum.begin(), sum.end(), std::pair(kind, int64_t{0}));
  if (at != sum.end() && at->first == kind)
    ++at->second;
  else
    sum.insert(at, {kind, 1});
  return sum;
}

int64_t SymbolicPeaks::value(const Sum& sum, size_t sample) const {
  int64_t total = 0, term = 0;
  for (auto [kind, count] : sum)
    if (__builtin_mul_overflow(values_[kind][sample], count, &term) || __builtin_add_overflow(total, term, &total))
      return INT64_MAX;
  return total;
}

int64_t SymbolicPeaks::value(const Tops& tops, size_t sample) const {
  int64_t most = 0;
  for (const Sum& sum : tops) most = std::max(most, value(sum, sample));
  return most;
}

bool SymbolicPeaks::kind_at_most(uint32_t a, uint32_t b) {
  if (a == b) return true;
  auto [known, fresh] = kinds_at_most_.try_emplace(pair_of(a, b));
  if (fresh) known->second = compare_kinds(a, b);
  return known->second;
}

bool SymbolicPeaks::compare_kinds(uint32_t a, uint32_t b) {
  for (size_t i = 0; i < values_[a].size(); ++i)
    if (values_[a][i] > values_[b][i]) return false;
  if (sizes_[a].factors == sizes_[b].factors) return sizes_[a].coefficient <= sizes_[b].coefficient;
  // Rounding both up to whole lines keeps their order.
  const Expr other = plan::to_expr(context_, sizes_[b]);  // in this order whichever compiler compiles relaxc
  return known_.at_most(plan::to_expr(context_, sizes_[a]), other);
}

bool SymbolicPeaks::unit_at_most(uint32_t a, uint32_t b) {
  auto [known, fresh] = units_at_most_.try_emplace(pair_of(a, b));
  if (fresh) known->second = compare_units(a, b);
  return known->second;
}

bool SymbolicPeaks::compare_units(uint32_t a, uint32_t b) {
  auto at = [&](uint32_t unit, size_t sample) {
    int64_t value = values_[unit][sample];
    return value == INT64_MAX ? value : value / std::max<int64_t>(multiples_[unit], 1);
  };
  for (size_t i = 0; i < values_[a].size(); ++i)
    if (at(a, i) > at(b, i)) return false;
  auto alone = [&](uint32_t unit) {
    return multiples_[unit] == 0 ? bytes_[unit] : plan::to_expr(context_, {1, sizes_[unit].factors});
  };
  const Expr other = alone(b);  // in this order, as in kind_at_most
  return known_.at_most(alone(a), other);
}

/// Compares sums of units: common units cancel, and units that `a` has more of are set off against larger ones of `b`.
bool SymbolicPeaks::units_at_most(const Sum& a, const Sum& b) {
  std::map<uint32_t, int64_t> left;  // by unit: how many more of it `a` has
  auto add = [&](const Sum& sum, int64_t sign) {
    for (auto [kind, count] : sum) {
      int64_t amount = 0;
      if (__builtin_mul_overflow(count * sign, std::max<int64_t>(multiples_[kind], 1), &amount) ||
          __builtin_add_overflow(left[units_[kind]], amount, &left[units_[kind]]))
        return false;
    }
    return true;
  };
  if (!add(a, 1) || !add(b, -1)) return false;
  for (auto& [unit, amount] : left)
    for (auto& [other, room] : left) {
      if (amount <= 0 || room >= 0 || !unit_at_most(unit, other)) continue;
      int64_t taken = std::min(amount, -room);
      amount -= taken, room += taken;
    }
  return std::all_of(left.begin(), left.end(), [](const auto& one) { return one.second <= 0; });
}

bool SymbolicPeaks::at_most(const Sum& a, const Sum& b) {
  if (!values_.empty())
    for (size_t i = 0; i < values_[0].size(); ++i)
      if (value(a, i) > value(b, i)) return false;
  return pairs_at_most(a, b) || units_at_most(a, b);
}

bool SymbolicPeaks::pairs_at_most(const Sum& a, const Sum& b) {
  Sum rest = a, room = b;
  for (auto& [kind, count] : rest)
    for (auto& [other, more] : room)
      if (other == kind) {
        int64_t both = std::min(count, more);
        count -= both, more -= both;
      }
  auto larger_first = [&](const auto& x, const auto& y) { return values_[x.first] > values_[y.first]; };
  std::stable_sort(rest.begin(), rest.end(), larger_first);
  std::stable_sort(room.begin(), room.end(), larger_first);
  for (auto& [kind, count] : rest)
    for (auto other = room.rbegin(); other != room.rend() && count > 0; ++other) {
      if (other->second == 0 || !kind_at_most(kind, other->first)) continue;
      int64_t taken = std::min(count, other->second);
      count -= taken, other->second -= taken;
    }
  return std::all_of(rest.begin(), rest.end(), [](const auto& left) { return left.second == 0; });
}

void SymbolicPeaks::raise(Tops& tops, const Sum& sum) {
  for (const Sum& top : tops)
    if (at_most(sum, top)) return;
  std::erase_if(tops, [&](const Sum& top) { return at_most(top, sum); });
  tops.push_back(sum);
}

Expr SymbolicPeaks::to_expr(const Tops& tops) const {
  Expr largest;
  for (const Sum& sum : tops) {
    Expr total = context_.index(0);
    for (auto [kind, count] : sum) total = total + bytes_[kind] * count;
    largest = largest ? arith::max(largest, total) : total;
  }
  return largest ? largest : context_.index(0);
}

}  // namespace relaxc::plan
