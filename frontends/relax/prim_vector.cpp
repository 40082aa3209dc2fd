// prim_vector.cpp: stores of several lanes at once.
//
// `A[T.Ramp(i * 4, 1, 4)] = B[i * 4 : i * 4 + 4] + T.Broadcast(x, 4)` is a vectorized loop over the lanes. All lanes
// are read before any is written; where the store could change what a later lane reads, the values are kept first.
// `A.vstore([i], value, predicate=mask)` writes the lanes alone that the mask is true for; `B.vload([i], "float32x4",
// predicate=mask)` is 0 in the others and does not look at their memory.
#include <algorithm>

#include "frontends/relax/literals.h"
#include "frontends/relax/prim_func.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;

namespace {

/// The lanes of "float32x4"; 0 if there are none.
int64_t dtype_lanes(std::string_view text) {
  size_t at = text.rfind('x');
  if (at == std::string_view::npos || at == 0 || at + 1 == text.size() || text.size() - at > 5) return 0;
  int64_t lanes = 0;
  for (char c : text.substr(at + 1)) {
    if (c < '0' || c > '9') return 0;
    lanes = lanes * 10 + (c - '0');
  }
  std::string_view element = text.substr(0, at);
  return element == "uint1" || parse_dtype(element) ? lanes : 0;  // uint1 is what masks are of
}

constexpr int64_t kMostLanes = 1024;

}  // namespace

/// How many lanes the text shows: by a Ramp, a Broadcast, a slice of constant length or a dtype. 0: it shows none.
int64_t PrimFuncReader::lanes_in(const ast::Expr& root) {
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
      if (Result<int64_t> lanes = integer_value(source_, *count)) found = std::max(found, *lanes);
    if (e->is(AstKind::kString)) found = std::max(found, dtype_lanes(e->text));
    if (e->is(AstKind::kAttribute)) found = std::max(found, dtype_lanes(e->text));
    if (e->is(AstKind::kSlice) && e->items[0] != nullptr && e->items[1] != nullptr) found = std::max(found, slice(*e));
    pending.insert(pending.end(), e->items.begin(), e->items.end());
    for (const ast::Keyword& keyword : e->keywords) pending.push_back(keyword.value);
  }
  return std::min(found, kMostLanes);
}

/// The length of `begin : end : step`; 0 if it is no constant. Errors in it are reported where it is read.
int64_t PrimFuncReader::slice(const ast::Expr& e) {
  Result<arith::Expr> begin = index(*e.items[0]), end = index(*e.items[1]);
  if (!begin || !end) return 0;
  arith::Expr length = arith::simplify(*end - *begin);
  int64_t step = 1;
  if (e.items.size() > 2 && e.items[2] != nullptr && e.items[2]->is(AstKind::kInt))
    if (Result<int64_t> given = integer_value(source_, *e.items[2])) step = std::max<int64_t>(*given, 1);
  return length.constant() != nullptr ? (*length.constant() + step - 1) / step : 0;
}

/// T.Shuffle([a, b, c], [2, 0]): the values at those places, one a lane.
Result<Scalar> PrimFuncReader::shuffle(const ast::Expr& call) {
  bool lists = call.items.size() == 3 && call.items[1]->is_sequence() && call.items[2]->is_sequence() &&
               !call.items[1]->items.empty() && !call.items[2]->items.empty();
  if (!lists) return source_.error(call.place, Kind::ill_formed, "expected T.Shuffle([values], [places])");
  std::vector<arith::Expr> values;
  for (const ast::Expr* item : call.items[1]->items) {
    if (lanes_in(*item) > 0)
      return source_.error(item->place, Kind::unsupported,
                           "T.Shuffle takes its values one by one, found several lanes");
    RELAXC_TRY(Scalar value, read(*item));
    if (!values.empty() && value.expr.dtype() != values[0].dtype())
      return source_.error(item->place, Kind::dtype_mismatch, "T.Shuffle of {} and {}", to_string(values[0].dtype()),
                           to_string(value.expr.dtype()));
    values.push_back(value.expr);
  }
  std::vector<arith::Expr> chosen;
  for (const ast::Expr* item : call.items[2]->items) {
    RELAXC_TRY(arith::Expr at, index(*item));
    if (at.constant() == nullptr || *at.constant() < 0 || *at.constant() >= static_cast<int64_t>(values.size()))
      return source_.error(item->place, Kind::invalid_value, "a place in T.Shuffle is a constant below {}",
                           values.size());
    chosen.push_back(values[static_cast<size_t>(*at.constant())]);
  }
  if (chosen.size() == 1) return Scalar{chosen[0]};
  if (static_cast<int64_t>(chosen.size()) != lanes_.count)
    return source_.error(call.place, Kind::shape_mismatch, "{} lanes in a store of {}", chosen.size(), lanes_.count);
  arith::Expr made = chosen.back();
  for (size_t k = chosen.size() - 1; k-- > 0;)
    made = arith::select(arith::eq(lanes_.var, context_.index(static_cast<int64_t>(k))), chosen[k], made);
  return Scalar{made};
}

/// T.Ramp(begin, stride, lanes) or begin : end : step as the subscript of one lane.
Result<arith::Expr> PrimFuncReader::lane_subscript(const ast::Expr& e, arith::Expr extent) {
  bool ramp = e.is(AstKind::kCall);
  if (ramp && e.items.size() != 4)
    return source_.error(e.place, Kind::wrong_arity, "T.Ramp takes a begin, a stride and a number of lanes");
  const ast::Expr *first = e.items[ramp ? 1 : 0], *stride = ramp                 ? e.items[2]
                                                            : e.items.size() > 2 ? e.items[2]
                                                                                 : nullptr;
  arith::Expr begin = context_.index(0), step = context_.index(1);
  if (first != nullptr) {
    RELAXC_TRY(begin, index(*first));
  }
  if (stride != nullptr) {
    RELAXC_TRY(step, index(*stride));
  }
  int64_t lanes = 0;
  if (ramp) {
    RELAXC_TRY(arith::Expr count, index(*e.items[3]));
    lanes = count.constant() != nullptr ? *count.constant() : 0;
  } else {
    arith::Expr end = extent;
    if (e.items[1] != nullptr) {
      RELAXC_TRY(end, index(*e.items[1]));
    }
    arith::Expr length = arith::simplify(end - begin);
    bool constant = length.constant() != nullptr && step.constant() != nullptr && *step.constant() > 0;
    lanes = constant ? (*length.constant() + *step.constant() - 1) / *step.constant() : 0;
  }
  if (lanes == lanes_.count) return begin + lanes_.var * step;
  return source_.error(e.place, Kind::shape_mismatch, "{} lanes in a store of {}", lanes, lanes_.count);
}

bool PrimFuncReader::moves_with_lanes(const std::vector<arith::Expr>& indices) const {
  for (arith::Expr at : indices)
    for (arith::Var var : arith::free_vars(at))
      if (var == lanes_.var) return true;
  return false;
}

/// A.vstore([i, j], value, predicate=mask); the last subscript begins the row of lanes unless a Ramp says it.
Status PrimFuncReader::vector_store(const ast::Expr& call, Suite& out) {
  Diagnostics& diag = source_.diag();
  const ast::Keyword* masked = call.keyword("predicate");
  const ast::Expr* mask = masked != nullptr ? masked->value : call.items.size() > 3 ? call.items[3] : nullptr;
  if (call.items.size() < 3 || call.items.size() > 4)
    return source_.error(call.place, Kind::wrong_arity, "vstore takes subscripts, a value and a predicate");
  const ast::Expr &at = *call.items[1], &value = *call.items[2];
  RELAXC_TRY(tir::BufferRef buffer, find_buffer(*call.items[0]->items[0]));
  lanes_.count = std::max(lanes_in(at), lanes_in(value));
  lanes_.var = lanes_.count > 0 ? context_.var("lane") : arith::Var();
  bool chosen = !is_none(mask);
  choices_ += chosen ? 1 : 0;  // a lane that is left out may lie outside
  Result<arith::Expr> test = chosen ? condition(*mask) : Result<arith::Expr>(arith::Expr());
  Result<std::vector<arith::Expr>> indices = subscripts(buffer, targets_of(at), at.place);
  Result<Scalar> scalar = read(value);
  choices_ -= chosen ? 1 : 0;
  bool read_all = test && indices && scalar;
  if (read_all && lanes_.count > 0 && !indices->empty() && !moves_with_lanes(*indices))
    indices->back() = indices->back() + lanes_.var;
  Status stored =
      read_all ? store_element(buffer, std::move(*indices), *scalar, value.place, out, *test) : Status(diag.failed());
  lanes_ = {};
  return stored;
}

/// A.vload([i, j], "float32x4", predicate=mask)
Result<Scalar> PrimFuncReader::vector_load(const ast::Expr& call) {
  Diagnostics& diag = source_.diag();
  const ast::Keyword* masked = call.keyword("predicate");
  const ast::Expr* mask = masked != nullptr ? masked->value : call.items.size() > 3 ? call.items[3] : nullptr;
  if (is_none(mask)) return element(*call.items[0]->items[0], *call.items[1]);
  ++choices_;
  Result<arith::Expr> test = condition(*mask);
  Result<Scalar> loaded = element(*call.items[0]->items[0], *call.items[1]);
  --choices_;
  if (!test || !loaded) return diag.failed();
  return Scalar{arith::select(*test, loaded->expr, context_.number(loaded->expr.dtype(), 0))};
}

/// T.get_active_lane_mask("uint1x4", begin, end): whether begin + lane is below the end.
Result<Scalar> PrimFuncReader::active_lane(const ast::Expr& call) {
  if (call.items.size() != 4)
    return source_.error(call.place, Kind::wrong_arity, "T.get_active_lane_mask takes a dtype, a begin and an end");
  RELAXC_TRY(arith::Expr begin, index(*call.items[2]));
  RELAXC_TRY(arith::Expr end, index(*call.items[3]));
  return Scalar{arith::lt(begin + lanes_.var, end)};
}

Status PrimFuncReader::store_lanes(tir::BufferRef buffer, std::vector<arith::Expr> indices, arith::Expr value,
                                   arith::Expr mask, Place place, Suite& out) {
  bool overlaps = false;
  if (!moves_with_lanes(indices))
    return source_.error(place, Kind::shape_mismatch, "a value of {} lanes is stored into one element", lanes_.count);
  arith::for_each_node(value, [&](arith::Expr node) {
    const auto* load = node.as<arith::Load>();
    if (load == nullptr || root_of(load->buffer) != root_of(buffer)) return;
    overlaps |= load->buffer != buffer || load->indices != indices;
  });
  arith::Expr count = context_.index(lanes_.count), zero = context_.index(0);
  tir::Stmt made;
  if (!overlaps) {
    made = if_chosen(mask, builder_.store(buffer, std::move(indices), value));
    made = builder_.loop(lanes_.var, zero, count, made, tir::LoopKind::kVectorized);
  } else {
    tir::BufferRef kept = builder_.buffer("lanes", buffer->dtype, {count}, tir::Scope::kLocal);
    arith::Var second = context_.var("lane");
    for (arith::Expr& at : indices) at = arith::substitute(at, {{lanes_.var, second}});
    tir::Stmt keep = if_chosen(mask, builder_.store(kept, {lanes_.var}, value));
    tir::Stmt read = builder_.loop(lanes_.var, zero, count, keep, tir::LoopKind::kVectorized);
    if (mask) mask = arith::substitute(mask, {{lanes_.var, second}});
    tir::Stmt put = if_chosen(mask, builder_.store(buffer, std::move(indices), builder_.load(kept, {second})));
    tir::Stmt write = builder_.loop(second, zero, count, put, tir::LoopKind::kVectorized);
    made = builder_.alloc(kept, builder_.seq({read, write}));
  }
  out.back().stmts.push_back(made);
  return Done{};
}

/// In a store of lanes "float32x4" is float32; A.dtype is the buffer's.
Result<DType> PrimFuncReader::element_dtype(const ast::Expr& e) {
  if (tir::BufferRef buffer = described(e, "dtype")) return buffer->dtype;
  int64_t lanes = e.is(AstKind::kString) ? dtype_lanes(e.text) : 0;
  if (lanes > 0 && lanes == lanes_.count) return *parse_dtype(e.text.substr(0, e.text.rfind('x')));
  return ScalarReader::element_dtype(e);
}

}  // namespace relaxc::frontend
