// host_match.cpp: match_cast: a value seen as more than was known of it.
//
// Rank and dtype are known when compiling wherever a value has memory; what a cast can still find out is numbers: dims,
// elements of shapes, scalars, in the fields of tuples as well. Symbols that stand alone for the first time are bound
// by what is found, all of them before the first comparison, so that `n * 4` may come before `n`. A comparison whose
// outcome the inputs decide is a guard of the entry; what a later comparison repeats costs nothing.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/transform/lower/host_function.h"

namespace relaxc::lower {

using namespace relax;

/// A number that was found where the program says another.
struct HostFunction::Match {
  Expr found, expected;
  int32_t tensor = -1, axis = -1;  ///< the input and axis it was found at
};

Status HostFunction::lower_match_cast(Op& op) {
  const Value &from = *op.operand(0), &to = *op.result();
  if (opens_object(op)) return open_object(op);
  std::vector<Match> matches;
  RELAXC_DO(list_matches(op, values_.slot(from), from.info, to.info, matches));
  for (const Match& match : matches) {
    const auto* node = match.expected.as<arith::VarNode>();
    if (node == nullptr || symbols_.in_scope(Var(node))) continue;
    bool decided = symbols_.of_entry(match.found) || match.found.as<arith::VarNode>() != nullptr;
    // A declared bound of a symbol that the data gives is a promise to be checked; then memory is planned by it.
    bool promised = function_.facts.range_of(Var(node)).has_upper() && !symbols_.of_entry(match.found);
    if (!promised && (decided || to.info->as<TensorInfo>() != nullptr))
      symbols_.define(Var(node), match.found);
    else
      shapes_.bind_from_data(Var(node), match.found, symbols_.bounded(match.found), false);
  }
  for (const Match& match : matches) require_match(match);
  if (to.info->as<TensorInfo>() != nullptr) return lower_view(op);
  values_.slot(to) = seen_fields(values_.slot(from), from.info, to.info);
  return Done{};
}

Status HostFunction::list_matches(const Op& op, const Slot& from, Info known, Info wanted, std::vector<Match>& out) {
  Diagnostics& diag = this->diag();
  if (wanted->kind == InfoKind::kObject) return Done{};
  auto never = [&](Kind kind) {
    return diag.error(op.location, kind, "match_cast to {} of a value that is {}", to_string(wanted), to_string(known));
  };
  if (known->kind != wanted->kind) return never(Kind::dtype_mismatch);
  if (const auto* tuple = wanted->as<TupleInfo>()) {
    const std::vector<Info>& fields = known->as<TupleInfo>()->fields;
    if (fields.size() != tuple->fields.size()) return never(Kind::wrong_arity);
    for (size_t i = 0; i < fields.size(); ++i)
      RELAXC_DO(list_matches(op, from.fields[i], fields[i], tuple->fields[i], out));
    return Done{};
  }
  const auto *x = known->as<TensorInfo>(), *y = wanted->as<TensorInfo>();
  if (x != nullptr && y->dtype && x->dtype != y->dtype) return never(Kind::dtype_mismatch);
  if (y != nullptr && !y->shape) return y->ndim < 0 || y->ndim == x->ndim ? Status(Done{}) : never(Kind::rank_mismatch);
  const auto *s = known->as<ShapeInfo>(), *t = wanted->as<ShapeInfo>();
  if (t != nullptr && !t->dims) return t->ndim < 0 || t->ndim == s->ndim ? Status(Done{}) : never(Kind::rank_mismatch);
  const auto *p = known->as<PrimInfo>(), *q = wanted->as<PrimInfo>();
  if (p != nullptr && p->dtype != q->dtype) return never(Kind::dtype_mismatch);
  std::vector<Expr> found = symbols_.known(numbers(known)), expected = numbers(wanted);
  if (p != nullptr && found.empty()) found.push_back(arith::cast(q->dtype, build_.load(from.buffer, {})));
  if (!(q != nullptr && expected.empty()) && found.size() != expected.size()) return never(Kind::rank_mismatch);
  auto input = std::find_if(inputs_.begin(), inputs_.end(), [&](const Input& i) { return i.buffer == from.buffer; });
  int32_t tensor =
      from.buffer == nullptr || input == inputs_.end() ? -1 : static_cast<int32_t>(input - inputs_.begin());
  for (size_t k = 0; k < expected.size(); ++k)
    out.push_back({found[k], expected[k], tensor, p != nullptr ? -1 : static_cast<int32_t>(k)});
  return Done{};
}

void HostFunction::require_match(const Match& match) {
  Expr expected = symbols_.known(match.expected);
  if (expected == match.found) return;
  tir::Guard record;
  record.tensor = match.tensor, record.axis = match.axis;
  record.symbol = shapes_.our_symbol(expected);
  record.code = expected.constant() != nullptr ? kStaticDim : record.symbol >= 0 ? kSymbolEquality : kDerivedDim;
  if (expected.dtype().is_index()) record.expected = expected, record.actual = match.found;
  Found found{Finding::kExact, match.axis < 0 ? "the value" : fmt::format("dim {}", match.axis)};
  shapes_.require(arith::eq(expected, match.found), std::move(record), found);
}

/// The fields of a tuple under the dims that they were matched with.
Slot HostFunction::seen_fields(const Slot& from, Info known, Info wanted) {
  Slot to = from;
  const auto* tuple = wanted->as<TupleInfo>();
  for (size_t i = 0; tuple != nullptr && i < tuple->fields.size(); ++i)
    to.fields[i] = seen_fields(from.fields[i], known->as<TupleInfo>()->fields[i], tuple->fields[i]);
  const auto* tensor = wanted->as<TensorInfo>();
  if (tensor != nullptr && tensor->shape && symbols_.known(*tensor->shape) != from.buffer->shape)
    to.buffer = memory_.view_as(from.buffer, from.buffer->name, from.buffer->dtype, symbols_.known(*tensor->shape));
  return to;
}

}  // namespace relaxc::lower
