// vector.cpp: reads values and stores of several lanes.
//
// `A[T.Ramp(i * 4, 1, 4)] = B[i * 4 : i * 4 + 4] + T.Broadcast(x, 4)` is a vectorized loop over the lanes. All lanes
// are read before any is written; if the store could change what a later lane reads, the values are computed first.
// `A.vstore([i], value, predicate=mask)` writes only the lanes where the mask is true; `B.vload([i], "float32x4",
// predicate=mask)` is 0 in the others and does not access their memory.
#include "frontends/relax/prim/vector.h"

#include <algorithm>

#include "frontends/relax/prim/subscripts.h"
#include "frontends/relax/text/call_text.h"
#include "frontends/relax/text/literals.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;

namespace {

constexpr int64_t kMostLanes = 1024;

/// Returns the length of `begin : end : step`; 0 if it is not constant. Errors are reported where the slice is read.
int64_t slice_length(PrimParts& fn, const ast::Expr& e) {
  Result<arith::Expr> begin = fn.scalars.index(*e.items[0]), end = fn.scalars.index(*e.items[1]);
  if (!begin || !end) return 0;
  arith::Expr length = arith::simplify(*end - *begin);
  int64_t step = 1;
  if (e.items.size() > 2 && e.items[2] != nullptr && e.items[2]->is(AstKind::kInt))
    if (Result<int64_t> given = integer_value(fn.source, *e.items[2])) step = std::max<int64_t>(*given, 1);
  return length.constant() != nullptr ? (*length.constant() + step - 1) / step : 0;
}

}  // namespace

int64_t dtype_lanes(std::string_view text) {
  size_t at = text.rfind('x');
  if (at == std::string_view::npos || at == 0 || at + 1 == text.size() || text.size() - at > 5) return 0;
  int64_t lanes = 0;
  for (char c : text.substr(at + 1)) {
    if (c < '0' || c > '9') return 0;
    lanes = lanes * 10 + (c - '0');
  }
  std::string_view element = text.substr(0, at);
  return element == "uint1" || parse_dtype(element) ? lanes : 0;  // masks are of uint1
}

int64_t lanes_in(PrimParts& fn, const ast::Expr& root) {
  int64_t found = 0;
  std::vector<const ast::Expr*> pending{&root};
  while (!pending.empty()) {
    const ast::Expr* e = pending.back();
    pending.pop_back();
    if (e == nullptr) continue;
    std::string callee = callee_of(e);
    const ast::Expr* count = callee == "T.Ramp" && e->items.size() == 4        ? e->items[3]
                             : callee == "T.Broadcast" && e->items.size() == 3 ? e->items[2]
                                                                               : nullptr;
    if (callee == "T.Shuffle" && e->items.size() == 3 && e->items[2]->is_sequence() && e->items[2]->items.size() > 1)
      found = std::max(found, static_cast<int64_t>(e->items[2]->items.size()));
    if (count != nullptr && count->is(AstKind::kInt))
      if (Result<int64_t> lanes = integer_value(fn.source, *count)) found = std::max(found, *lanes);
    if (e->is(AstKind::kString)) found = std::max(found, dtype_lanes(e->text));
    const auto* named =
        e->is(AstKind::kSubscript) && e->items[0]->is(AstKind::kName) ? fn.names.find(e->items[0]->text) : nullptr;
    if (named != nullptr && named->value.buffer != nullptr)
      found = std::max(found, fn.lanes.of_element(named->value.buffer));
    if (e->is(AstKind::kName)) found = std::max(found, lanes_of_name(fn, *e));
    if (e->is(AstKind::kAttribute)) found = std::max(found, dtype_lanes(e->text));
    if (e->is(AstKind::kSlice) && e->items[0] != nullptr && e->items[1] != nullptr)
      found = std::max(found, slice_length(fn, *e));
    pending.insert(pending.end(), e->items.begin(), e->items.end());
    for (const ast::Keyword& keyword : e->keywords) pending.push_back(keyword.value);
  }
  return std::min(found, kMostLanes);
}

int64_t lanes_of_name(PrimParts& fn, const ast::Expr& e) {
  const auto* named = fn.names.find(e.text);
  return named != nullptr && named->value.kind == PrimName::kLanes ? fn.lanes.of_element(named->value.buffer) : 0;
}

Result<Scalar> value_of_lane(PrimParts& fn, const ast::Expr& e) {
  const auto& name = fn.names.find(e.text)->value;
  if (fn.lanes.of_element(name.buffer) != fn.lanes.count())
    return fn.source.error(e.place, Kind::shape_mismatch, "'{}' has {} lanes, in a value of {}", e.text,
                           fn.lanes.of_element(name.buffer), fn.lanes.count());
  return Scalar{fn.builder.load(name.buffer, {fn.lanes.var()})};
}

/// The lanes are stored in a buffer of their own, which the rest of the suite reads as it reads other buffers.
Status bind_lanes(PrimParts& fn, const ast::Stmt& stmt, const ast::Expr& value, int64_t count, Suite& out) {
  RELAXC_DO(out.check_room(fn.source, stmt.place));
  Lanes::Store lanes(fn.lanes, count);
  RELAXC_TRY(arith::Expr lane, let_type(fn, stmt, value, out));
  tir::BufferRef kept =
      fn.builder.buffer(stmt.target->text, lane.dtype(), {fn.context().index(count)}, tir::Scope::kLocal);
  tir::Stmt store = fn.builder.store(kept, {fn.lanes.var()}, lane);
  store = fn.builder.loop(fn.lanes.var(), fn.context().index(0), fn.context().index(count), store,
                          tir::LoopKind::kVectorized);
  fn.lanes.set_element(kept, count);
  fn.names.bind(stmt.target->text, {PrimName::kLanes, {}, kept}, stmt.target->place);
  out.open([&fn, kept](tir::Stmt body) { return fn.builder.alloc(kept, body); }, {store});
  return Done{};
}

Result<Scalar> shuffle(PrimParts& fn, const ast::Expr& call) {
  bool lists = call.items.size() == 3 && call.items[1]->is_sequence() && call.items[2]->is_sequence() &&
               !call.items[1]->items.empty() && !call.items[2]->items.empty();
  if (!lists) return fn.source.error(call.place, Kind::ill_formed, "expected T.Shuffle([values], [places])");
  std::vector<arith::Expr> values;
  for (const ast::Expr* item : call.items[1]->items) {
    if (lanes_in(fn, *item) > 0)
      return fn.source.error(item->place, Kind::unsupported,
                             "T.Shuffle takes its values one by one, found several lanes");
    RELAXC_TRY(Scalar value, fn.scalars.read(*item));
    if (!values.empty() && value.expr.dtype() != values[0].dtype())
      return fn.source.error(item->place, Kind::dtype_mismatch, "T.Shuffle of {} and {}", to_string(values[0].dtype()),
                             to_string(value.expr.dtype()));
    values.push_back(value.expr);
  }
  std::vector<arith::Expr> chosen;
  for (const ast::Expr* item : call.items[2]->items) {
    RELAXC_TRY(arith::Expr at, fn.scalars.index(*item));
    if (at.constant() == nullptr || *at.constant() < 0 || *at.constant() >= static_cast<int64_t>(values.size()))
      return fn.source.error(item->place, Kind::invalid_value, "a place in T.Shuffle is a constant below {}",
                             values.size());
    chosen.push_back(values[static_cast<size_t>(*at.constant())]);
  }
  if (chosen.size() == 1) return Scalar{chosen[0]};
  if (static_cast<int64_t>(chosen.size()) != fn.lanes.count())
    return fn.source.error(call.place, Kind::shape_mismatch, "{} lanes in a store of {}", chosen.size(),
                           fn.lanes.count());
  arith::Expr made = chosen.back();
  for (size_t k = chosen.size() - 1; k-- > 0;)
    made = arith::select(arith::eq(fn.lanes.var(), fn.context().index(static_cast<int64_t>(k))), chosen[k], made);
  return Scalar{made};
}

Result<arith::Expr> lane_subscript(PrimParts& fn, const ast::Expr& e, arith::Expr extent) {
  bool ramp = e.is(AstKind::kCall);
  if (ramp && e.items.size() != 4)
    return fn.source.error(e.place, Kind::wrong_arity, "T.Ramp takes a base, a stride and a number of lanes");
  const ast::Expr *first = e.items[ramp ? 1 : 0], *stride = ramp                 ? e.items[2]
                                                            : e.items.size() > 2 ? e.items[2]
                                                                                 : nullptr;
  arith::Expr begin = fn.context().index(0), step = fn.context().index(1);
  if (first != nullptr) {
    RELAXC_TRY(begin, fn.scalars.index(*first));
  }
  if (stride != nullptr) {
    RELAXC_TRY(step, fn.scalars.index(*stride));
  }
  int64_t lanes = 0;
  if (ramp) {
    RELAXC_TRY(arith::Expr count, fn.scalars.index(*e.items[3]));
    lanes = count.constant() != nullptr ? *count.constant() : 0;
  } else {
    arith::Expr end = extent;
    if (e.items[1] != nullptr) {
      RELAXC_TRY(end, fn.scalars.index(*e.items[1]));
    }
    arith::Expr length = arith::simplify(end - begin);
    bool constant = length.constant() != nullptr && step.constant() != nullptr && *step.constant() > 0;
    lanes = constant ? (*length.constant() + *step.constant() - 1) / *step.constant() : 0;
  }
  if (lanes == fn.lanes.count()) return begin + fn.lanes.var() * step;
  return fn.source.error(e.place, Kind::shape_mismatch, "{} lanes in a store of {}", lanes, fn.lanes.count());
}

Result<Scalar> vector_load(PrimParts& fn, const ast::Expr& call) {
  Diagnostics& diag = fn.source.diag();
  const ast::Keyword* masked = call.keyword("predicate");
  const ast::Expr* mask = masked != nullptr ? masked->value : call.items.size() > 3 ? call.items[3] : nullptr;
  if (is_none(mask)) return buffer_element(fn, *call.items[0]->items[0], *call.items[1]);
  ScalarReader::Choice choice(fn.scalars);
  Result<arith::Expr> test = fn.scalars.condition(*mask);
  Result<Scalar> loaded = buffer_element(fn, *call.items[0]->items[0], *call.items[1]);
  if (!test || !loaded) return diag.failed();
  return Scalar{arith::select(*test, loaded->expr, fn.context().number(loaded->expr.dtype(), 0))};
}

Result<Scalar> active_lane(PrimParts& fn, const ast::Expr& call) {
  if (call.items.size() != 4)
    return fn.source.error(call.place, Kind::wrong_arity, "T.get_active_lane_mask takes a dtype, a start and an end");
  RELAXC_TRY(arith::Expr begin, fn.scalars.index(*call.items[2]));
  RELAXC_TRY(arith::Expr end, fn.scalars.index(*call.items[3]));
  return Scalar{arith::lt(begin + fn.lanes.var(), end)};
}

}  // namespace relaxc::frontend
