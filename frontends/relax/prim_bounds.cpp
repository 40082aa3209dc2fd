// prim_bounds.cpp: what can be told of subscripts and stores while they are read.
//
// A subscript is wrong for certain where it leaves its dim in every iteration, or where it takes, in a place that is
// reached unconditionally, a value beyond it. The second needs exact ranges: variables of loops with constant bounds
// take all their values, and so does a sum of constant multiples of different ones.
#include <unordered_set>

#include "compiler/arith/visit.h"
#include "frontends/relax/prim_func.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;

tir::BufferRef PrimFuncReader::root_of(tir::BufferRef buffer) const {
  for (auto base = bases_.find(buffer); base != bases_.end(); base = bases_.find(buffer)) buffer = base->second;
  return buffer;
}

/// Stores of a block count as written when the block ends: its own reductions must not see them.
void PrimFuncReader::note_store(tir::BufferRef buffer, arith::Expr value) {
  if (block_.block == nullptr) {
    written_.insert(root_of(buffer));
    return;
  }
  block_.stored.push_back(buffer);
  if (!value) return;
  bool reads = false;
  arith::for_each_node(value, [&](arith::Expr node) {
    const auto* load = node.as<arith::Load>();
    reads |= load != nullptr && load->buffer == buffer;
  });
  if (reads && choices_ == 0) block_.combined.push_back(buffer);
}

void PrimFuncReader::note_range(arith::Expr var, arith::Expr min, arith::Expr extent) {
  const int64_t *first = min.constant(), *count = extent.constant();
  int64_t last = 0;
  bool exact = first != nullptr && count != nullptr && *count > 0 && !__builtin_add_overflow(*first, *count - 1, &last);
  if (exact) attained_[var->id] = {*first, last};
}

/// The range between whose ends an expression reaches both; nothing where that is not certain.
std::optional<arith::Range> PrimFuncReader::attained(arith::Expr e) {
  arith::Expr simple = arith::simplify(e);
  int64_t lower = 0, upper = 0;
  std::vector<std::pair<arith::Expr, int64_t>> terms{{simple, 1}};
  std::set<uint32_t> seen;
  while (!terms.empty()) {
    auto [term, factor] = terms.back();
    terms.pop_back();
    int64_t a = 0, b = 0;
    if (const int64_t* number = term.constant()) {
      a = b = *number;
    } else if (auto range = attained_.find(term->id); range != attained_.end()) {
      if (!seen.insert(term->id).second) return std::nullopt;
      a = range->second.lower, b = range->second.upper;
    } else if (const auto* sum = term.as<arith::Add>()) {
      terms.push_back({sum->a, factor}), terms.push_back({sum->b, factor});
      continue;
    } else if (const auto* difference = term.as<arith::Sub>()) {
      terms.push_back({difference->a, factor}), terms.push_back({difference->b, -factor});
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

Status PrimFuncReader::check_bounds(tir::BufferRef buffer, size_t axis, arith::Expr at, Place place) {
  const int64_t* extent = buffer->shape[axis].constant();
  std::optional<arith::Range> range = attained(at);
  if (!range) return Done{};
  bool never = range->upper < 0 || (extent != nullptr && range->lower >= *extent);
  bool sometimes = range->lower < 0 || (extent != nullptr && range->upper >= *extent);
  if (!never && (!sometimes || choices_ > 0)) return Done{};
  std::string dim = arith::to_string(buffer->shape[axis]);
  if (range->lower == range->upper)
    return source_.error(place, Kind::invalid_value, "subscript {} is outside of '{}', whose dim {} is {}",
                         range->lower, buffer->name, axis, dim);
  return source_.error(place, Kind::invalid_value, "the subscript runs from {} to {}, and dim {} of '{}' is {}",
                       range->lower, range->upper, axis, buffer->name, dim);
}

Status PrimFuncReader::check_reached(arith::Expr e, Place place) {
  std::vector<arith::Expr> waiting{e};
  std::unordered_set<arith::Expr> seen;
  while (!waiting.empty()) {
    arith::Expr node = waiting.back();
    waiting.pop_back();
    if (!seen.insert(node).second) continue;
    if (const auto* load = node.as<arith::Load>())
      for (size_t axis = 0; axis < load->indices.size(); ++axis)
        RELAXC_DO(check_bounds(load->buffer, axis, load->indices[axis], place));
    std::vector<arith::Expr> parts = arith::operands(node);
    bool chooses = node->kind == arith::ExprKind::kSelect || node->kind == arith::ExprKind::kAnd ||
                   node->kind == arith::ExprKind::kOr;
    waiting.insert(waiting.end(), parts.begin(), chooses ? parts.begin() + 1 : parts.end());
  }
  return Done{};
}

Result<std::vector<arith::Expr>> PrimFuncReader::subscripts(tir::BufferRef buffer,
                                                            const std::vector<const ast::Expr*>& given, Place place) {
  Diagnostics& diag = source_.diag();
  std::vector<const ast::Expr*> items = given;
  if (items.size() == 1 && items[0]->is_sequence()) items = items[0]->items;
  if (items.size() != buffer->shape.size())
    return source_.error(place, Kind::rank_mismatch, "'{}' has {} dims, found {} subscripts", buffer->name,
                         buffer->shape.size(), items.size());
  std::vector<arith::Expr> indices;
  bool ok = true;
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i]->is(AstKind::kSlice) && lanes_.count == 0)
      return source_.error(items[i]->place, Kind::unsupported, "a slice of this kind is no subscript; write a loop");
    Result<arith::Expr> value =
        items[i]->is(AstKind::kSlice) ? lane_subscript(*items[i], buffer->shape[i]) : index(*items[i]);
    ok = ok && value && check_bounds(buffer, i, *value, items[i]->place);
    if (ok) indices.push_back(*value);
  }
  if (!ok) return diag.failed();
  return indices;
}

/// `A[i, j]`, and A.vload([i, j]) whose last subscript begins a row of lanes.
Result<Scalar> PrimFuncReader::element(const ast::Expr& buffer, const ast::Expr& at) {
  RELAXC_TRY(tir::BufferRef found, find_buffer(buffer));
  RELAXC_TRY(std::vector<arith::Expr> indices, subscripts(found, targets_of(at), at.place));
  if (lanes_.count > 0 && !indices.empty() && !moves_with_lanes(indices)) indices.back() = indices.back() + lanes_.var;
  return Scalar{builder_.load(found, std::move(indices))};
}

Result<Scalar> PrimFuncReader::subscript(const ast::Expr& e) {
  if (tir::BufferRef of = described(*e.items[0], "shape"); of != nullptr && e.items.size() == 2) {
    RELAXC_TRY(arith::Expr axis, index(*e.items[1]));
    auto rank = static_cast<int64_t>(of->shape.size());
    if (axis.constant() == nullptr || *axis.constant() < -rank || *axis.constant() >= rank)
      return source_.error(e.items[1]->place, Kind::invalid_value, "'{}' has {} dims, which numbers choose from",
                           of->name, rank);
    return Scalar{of->shape[static_cast<size_t>(*axis.constant() + (*axis.constant() < 0 ? rank : 0))]};
  }
  RELAXC_TRY(tir::BufferRef buffer, find_buffer(*e.items[0]));
  RELAXC_TRY(std::vector<arith::Expr> indices, subscripts(buffer, {e.items.begin() + 1, e.items.end()}, e.place));
  return Scalar{builder_.load(buffer, std::move(indices))};
}

}  // namespace relaxc::frontend
