// index_checks.cpp: interval arithmetic with 128-bit bounds.
//
// Every value is an int64, so int64 is the widest interval. An interval that exceeds it means that a check is needed;
// after that check the value fits again. A variable that several Lets bind gets no range from them.
#include "compiler/tir/index_checks.h"

#include <algorithm>
#include <bit>
#include <unordered_set>
#include <utility>

#include "compiler/arith/walks.h"
#include "compiler/tir/visit.h"

namespace relaxc::tir {
namespace {

using arith::ExprKind;
using arith::Range;

__extension__ using Wide = __int128;

constexpr int32_t kFirstDataCode = 32, kOutOfMemory = 38;

struct WideRange {
  Wide lower, upper;
};

WideRange arithmetic(ExprKind kind, Range a, Range b) {
  if (kind == ExprKind::kAdd) return {Wide(a.lower) + b.lower, Wide(a.upper) + b.upper};
  if (kind == ExprKind::kSub) return {Wide(a.lower) - b.upper, Wide(a.upper) - b.lower};
  const Wide ends[] = {Wide(a.lower) * b.lower, Wide(a.lower) * b.upper, Wide(a.upper) * b.lower,
                       Wide(a.upper) * b.upper};
  return {*std::min_element(ends, ends + 4), *std::max_element(ends, ends + 4)};
}

int64_t floor_quotient(int64_t a, int64_t b) {
  return a / b - (a % b < 0 ? 1 : 0);
}

Range quotient_range(Range a, Range b) {
  if (!b.is_exact() || b.lower <= 0) return {};
  return {floor_quotient(a.lower, b.lower), floor_quotient(a.upper, b.lower)};
}

Range remainder_range(Range b) {
  return b.lower > 0 ? Range{0, b.upper - 1} : Range{};
}

Range of_dtype(DType dtype) {
  if (dtype.is_bool()) return {0, 1};
  if (!dtype.is_integer() || dtype.bits >= 64) return {};
  int64_t values = int64_t{1} << (dtype.bits - dtype.is_int());
  return {dtype.is_int() ? -values : 0, values - 1};
}

bool is_index_arithmetic(Expr e) {
  return e.dtype().is_index() && (e->kind == ExprKind::kAdd || e->kind == ExprKind::kSub || e->kind == ExprKind::kMul);
}

/// Narrows the range of `var` if `condition` compares it with a constant.
void narrow(Range& range, Expr var, Expr condition) {
  if (condition->kind != ExprKind::kLe && condition->kind != ExprKind::kLt) return;
  const auto& sides = *static_cast<const arith::Binary*>(condition.node());
  int64_t strict = condition->kind == ExprKind::kLt ? 1 : 0;
  if (sides.a == var && sides.b.constant() != nullptr && *sides.b.constant() > INT64_MIN)
    range.upper = std::min(range.upper, *sides.b.constant() - strict);
  if (sides.b == var && sides.a.constant() != nullptr && *sides.a.constant() < INT64_MAX)
    range.lower = std::max(range.lower, *sides.a.constant() + strict);
}

}  // namespace

IndexRanges::IndexRanges(const PrimFunc& function) : function_(&function) {
  size_t scalar = 0;
  auto given = [&](Expr var) {
    if (scalar < function.checks.ranges.size()) bind(var, function.checks.ranges[scalar++]);
  };
  for (const Param& param : function.params)
    if (param.buffer == nullptr) given(param.var);
  for (Var symbol : function.symbols) given(symbol);
  std::unordered_map<Expr, int> lets;
  for_each_stmt(function.body, [&](Stmt s) {
    if (const auto* let = s.as<Let>()) ++lets[let->var];
  });
  bind_all(lets);
  while (std::exchange(widened_, false)) {  // what was derived from a smaller range has to be derived again
    known_.clear();
    bind_all(lets);
  }
}

void IndexRanges::bind_all(const std::unordered_map<Expr, int>& lets) {
  for_each_stmt(function_->body, [&](Stmt s) {  // what binds a variable comes before what uses it
    const auto* let = s.as<Let>();
    if (let != nullptr && let->var.dtype().is_index() && lets.at(let->var) == 1) bind(let->var, range_of_let(*let));
    if (const auto* block = s.as<Block>())
      for (const IterVar& axis : block->iters) bind(axis.var, known(axis.binding).range);
    const auto* loop = s.as<For>();
    if (loop == nullptr) return;
    Range first = known(loop->min).range, count = known(loop->extent).range;
    WideRange last = arithmetic(ExprKind::kAdd, first, count);
    Range all{first.lower, static_cast<int64_t>(std::clamp<Wide>(last.upper - 1, first.lower, INT64_MAX - 1))};
    bind(loop->var, all);
  });
}

void IndexRanges::bind(Expr var, Range range) {
  auto [known, fresh] = vars_.emplace(var, range);
  if (fresh || (range.lower >= known->second.lower && range.upper <= known->second.upper)) return;
  known->second = {std::min(known->second.lower, range.lower), std::max(known->second.upper, range.upper)};
  widened_ = true;
}

/// The range of a let's variable. Guards directly after the let hold for all that follows, so they narrow it.
Range IndexRanges::range_of_let(const Let& let) {
  Range range = known(let.value).range;
  Stmt next = let.body;
  if (const auto* seq = next.as<Seq>()) {
    for (Stmt s : seq->body) {
      const auto* guard = s.as<Guard>();
      if (guard == nullptr) break;
      narrow(range, let.var, guard->condition);
    }
  } else if (const auto* guard = next.as<Guard>()) {
    narrow(range, let.var, guard->condition);
  }
  return range.lower <= range.upper ? range : Range();
}

IndexRanges::Known IndexRanges::known(Expr root) {
  if (auto found = known_.find(root); found != known_.end()) return found->second;
  std::vector<std::pair<Expr, bool>> pending{{root, false}};
  while (!pending.empty()) {
    auto [e, ready] = pending.back();
    pending.pop_back();
    if (known_.count(e) != 0) continue;
    if (ready) {
      Known learned = learn(e);
      learned.all = learned.fits;
      for (Expr operand : arith::operands(e)) learned.all = learned.all && known_.at(operand).all;
      known_.emplace(e, learned);
      continue;
    }
    pending.push_back({e, true});
    for (Expr operand : arith::operands(e))
      if (known_.count(operand) == 0) pending.push_back({operand, false});
  }
  return known_.at(root);
}

IndexRanges::Known IndexRanges::learn(Expr e) const {
  if (const int64_t* value = e.constant()) return {Range::exactly(*value)};
  if (!e.dtype().is_index()) return {of_dtype(e.dtype())};
  auto of = [&](Expr part) { return known_.at(part).range; };
  if (e.as<arith::VarNode>() != nullptr) {
    auto var = vars_.find(e);
    return {var == vars_.end() ? Range() : var->second};
  }
  if (const auto* cast = e.as<arith::Cast>()) return {of_dtype(cast->value.dtype())};
  if (const auto* pick = e.as<arith::Select>()) {
    Range a = of(pick->then_value), b = of(pick->else_value);
    return {{std::min(a.lower, b.lower), std::max(a.upper, b.upper)}};
  }
  if (e->kind < ExprKind::kAdd || e->kind > ExprKind::kMax) return {};
  const auto& n = *static_cast<const arith::Binary*>(e.node());
  Range a = of(n.a), b = of(n.b);
  if (e->kind == ExprKind::kMin) return {{std::min(a.lower, b.lower), std::min(a.upper, b.upper)}};
  if (e->kind == ExprKind::kMax) return {{std::max(a.lower, b.lower), std::max(a.upper, b.upper)}};
  if (e->kind == ExprKind::kFloorDiv) return {quotient_range(a, b)};
  if (e->kind == ExprKind::kFloorMod) return {remainder_range(b)};
  if (!is_index_arithmetic(e)) return {};
  WideRange exact = arithmetic(e->kind, a, b);
  bool fits = exact.lower >= INT64_MIN && exact.upper <= INT64_MAX;
  bool never = exact.lower > INT64_MAX || exact.upper < INT64_MIN;
  return {{static_cast<int64_t>(std::clamp<Wide>(exact.lower, INT64_MIN, INT64_MAX)),
           static_cast<int64_t>(std::clamp<Wide>(exact.upper, INT64_MIN, INT64_MAX))},
          fits,
          never};
}

/// Whether a node that is always computed never fits. Of a select, an `and` or an `or`, that is only the first operand.
bool IndexRanges::never_fits(Expr root) {
  std::unordered_set<Expr> seen;
  std::vector<Expr> pending{root};
  while (!pending.empty()) {
    Expr e = pending.back();
    pending.pop_back();
    if (!seen.insert(e).second) continue;
    if (known(e).never) return true;
    std::vector<Expr> parts = arith::operands(e);
    bool chooses = e->kind == ExprKind::kSelect || e->kind == ExprKind::kAnd || e->kind == ExprKind::kOr;
    if (chooses) parts.resize(1);
    pending.insert(pending.end(), parts.begin(), parts.end());
  }
  return false;
}

bool IndexRanges::all_fit() {
  bool all = true;
  auto look = [&](Expr e) { all = all && (!e || all_fit(e)); };
  auto look_at = [&](BufferRef buffer) {
    for (Expr dim : buffer->shape) look(dim);
  };
  for (const Param& param : function_->params)
    if (param.buffer != nullptr) look_at(param.buffer);
  for_each_stmt(function_->body, [&](Stmt s) {
    if (!all) return;
    for (Expr e : expressions(s)) look(e);
    if (const auto* loop = s.as<For>()) look(loop->min + loop->extent);
    if (const auto* view = s.as<View>()) look_at(view->buffer);
    if (const auto* alloc = s.as<Alloc>()) look_at(alloc->buffer);
  });
  return all;
}

int64_t most_that_fits(Expr size, Expr var, const std::unordered_map<Expr, Range>& known) {
  constexpr size_t kBudget = 2'000'000, kFewest = 8, kEnough = 80;  // nodes visited in all, fewest and most steps
  const Range all = known.at(var);
  const size_t most_nodes = kBudget / known.size();
  size_t nodes = 1;
  arith::for_each_reached(
      size, [&](Expr node) { return ++nodes > most_nodes ? std::vector<Expr>{} : arith::operands(node); });
  if (nodes > most_nodes || all.lower < 0) return all.upper;
  std::unordered_map<Expr, Range> ranges = known;
  auto never_from = [&](int64_t value) {
    ranges[var] = {value, all.upper};
    return IndexRanges(ranges).never_fits(size);
  };
  if (!never_from(all.upper)) return all.upper;
  int64_t fits = all.lower, never = all.upper;
  size_t steps = std::clamp(kBudget / (nodes * ranges.size()), kFewest, kEnough);
  for (; steps > 0 && never - fits > 1; --steps) {
    // Powers of two first: few steps find the order of magnitude.
    int high = std::bit_width(static_cast<uint64_t>(never)), low = std::bit_width(static_cast<uint64_t>(fits));
    int64_t middle = high - low > 1 ? int64_t{1} << ((high + low) / 2) : fits + (never - fits) / 2;
    middle = std::clamp(middle, fits + 1, never - 1);
    (never_from(middle) ? never : fits) = middle;
  }
  return never - 1;
}

Guard overflow_record(const PrimFunc& function, const Guard* computed_by) {
  Guard record;
  if (computed_by != nullptr) record = *computed_by;
  if (computed_by == nullptr) record.error_node = function.checks.error_node;
  record.condition = {};
  if (computed_by == nullptr || function.checks.overflow_code < kFirstDataCode)
    record.code = function.checks.overflow_code;
  return record;
}

Guard overflow_of(const PrimFunc& function, const Invoke& call) {
  Guard record;
  record.code = function.checks.overflow_code, record.error_node = call.error_node;
  return record;
}

int64_t overflow_actual(const Guard& record) {
  return record.code == kOutOfMemory ? 0 : INT64_MAX;
}

}  // namespace relaxc::tir
