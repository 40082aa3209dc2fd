// ranges.cpp: see ranges.h.
#include "frontends/relax/prim/ranges.h"

#include <set>

namespace relaxc::frontend {

void Ranges::note_loop(arith::Var var, arith::Expr min, arith::Expr extent) {
  const int64_t *first = min.constant(), *count = extent.constant();
  int64_t last = 0;
  bool exact = first != nullptr && count != nullptr && *count > 0 && !__builtin_add_overflow(*first, *count - 1, &last);
  if (exact) note(var, {*first, last});
}

void Ranges::note(arith::Var var, arith::Range range) {
  attained_[var->id] = range;
  facts_.bound(var, range);
}

void Ranges::note_value(arith::Var var, arith::Expr value) {
  values_[var->id] = value;
  if (std::optional<arith::Range> range = attained(value)) facts_.bound(var, *range);
}

/// Returns the range of `e` if the expression certainly reaches both of its ends; else nullopt. Axes of nested blocks
/// that are bound to sums of outer axes can double their terms with each block, so there is a limit.
std::optional<arith::Range> Ranges::attained(arith::Expr e) const {
  constexpr int kMostTerms = 1000;
  int visited = 0;
  arith::Expr simple = arith::simplify(e);
  int64_t lower = 0, upper = 0;
  std::vector<std::pair<arith::Expr, int64_t>> terms{{simple, 1}};
  std::set<uint32_t> seen;
  while (!terms.empty()) {
    if (++visited > kMostTerms) return std::nullopt;
    auto [term, factor] = terms.back();
    terms.pop_back();
    int64_t a = 0, b = 0;
    if (const int64_t* number = term.constant()) {
      a = b = *number;
    } else if (auto range = attained_.find(term->id); range != attained_.end()) {
      if (!seen.insert(term->id).second) return std::nullopt;
      a = range->second.lower, b = range->second.upper;
    } else if (auto value = values_.find(term->id); value != values_.end()) {
      terms.push_back({value->second, factor});
      continue;
    } else if (const auto* sum = term.as<arith::Add>()) {
      terms.push_back({sum->a, factor}), terms.push_back({sum->b, factor});
      continue;
    } else if (const auto* difference = term.as<arith::Sub>()) {
      int64_t negative = 0;
      if (__builtin_sub_overflow(int64_t{0}, factor, &negative)) return std::nullopt;
      terms.push_back({difference->a, factor}), terms.push_back({difference->b, negative});
      continue;
    } else if (const auto* product = term.as<arith::Mul>()) {
      const int64_t* by = product->b.constant();
      if (by == nullptr || __builtin_mul_overflow(factor, *by, &factor)) return std::nullopt;
      terms.push_back({product->a, factor});
      continue;
    } else {
      return std::nullopt;
    }
    if (factor < 0) std::swap(a, b);
    if (__builtin_mul_overflow(a, factor, &a) || __builtin_mul_overflow(b, factor, &b) ||
        __builtin_add_overflow(lower, a, &lower) || __builtin_add_overflow(upper, b, &upper))
      return std::nullopt;
  }
  return arith::Range{lower, upper};
}

Status Ranges::check(tir::BufferRef buffer, size_t axis, arith::Expr at, bool certain, Place place) const {
  const int64_t* extent = buffer->shape[axis].constant();
  std::optional<arith::Range> range = attained(at);
  if (!range) return Done{};
  bool never = range->upper < 0 || (extent != nullptr && range->lower >= *extent);
  bool sometimes = range->lower < 0 || (extent != nullptr && range->upper >= *extent);
  if (unreached_ || (!never && (!sometimes || !certain))) return Done{};
  std::string dim = arith::to_string(buffer->shape[axis]);
  if (range->lower == range->upper)
    return source_.error(place, Kind::invalid_value, "subscript {} is outside of '{}', whose dim {} is {}",
                         range->lower, buffer->name, axis, dim);
  return source_.error(place, Kind::invalid_value, "the subscript runs from {} to {}, and dim {} of '{}' is {}",
                       range->lower, range->upper, axis, buffer->name, dim);
}

}  // namespace relaxc::frontend
