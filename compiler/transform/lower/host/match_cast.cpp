// match_cast.cpp: match_casts, which find what is not known of a value when compiling.
//
// Rank and dtype of every value in memory are known when compiling; what a cast can still find out is numbers: dims,
// elements of shapes, scalars, in the fields of tuples as well. Symbols that stand alone for the first time are bound
// to what is found, all of them before the first comparison, so that `n * 4` may come before `n`. A comparison whose
// outcome the inputs decide is a guard of the entry; a later comparison that repeats it costs nothing.
#include <fmt/format.h>

#include "compiler/transform/lower/host/op_lowering.h"

namespace relaxc::lower {

using namespace relax;

namespace {

class MatchCast {
 public:
  MatchCast(HostLowering& host, const Op& op)
      : host_(host), op_(op), shapes_(host.shapes), symbols_(host.shapes.symbols()), memory_(host.memory) {}

  /// Binds the symbols that the cast introduces, and requires its other numbers to equal the value's.
  Status match() {
    const Value &from = *op_.operand(0), &to = *op_.result();
    RELAXC_DO(list(host_.values.slot(from), from.info, to.info));
    for (const Match& match : matches_) bind(match);
    for (const Match& match : matches_) require(match);
    return Done{};
  }
  /// Returns the storage of a tuple, with its fields viewed by the dims that the cast gives them.
  ValueStorage seen_fields(const ValueStorage& from, Info known, Info wanted) const;

 private:
  /// A number of the value, and the one that the cast expects in its place.
  struct Match {
    Expr found, expected;
    int32_t tensor = -1, axis = -1;  ///< the input and axis that it was found at; -1: none
  };

  Status list(const ValueStorage& from, Info known, Info wanted);
  Status list_numbers(const ValueStorage& from, Info known, Info wanted);
  Status never(Kind kind, Info known, Info wanted) const {
    return host_.diag().error(op_.location, kind, "match_cast to {} of a value that is {}", to_string(wanted),
                              to_string(known));
  }
  void bind(const Match& match);
  void require(const Match& match);

  HostLowering& host_;
  const Op& op_;
  ShapeProgram& shapes_;
  Symbols& symbols_;
  Memory& memory_;
  std::vector<Match> matches_;
};

Status MatchCast::list(const ValueStorage& from, Info known, Info wanted) {
  if (wanted->kind == InfoKind::kObject) return Done{};
  if (known->kind != wanted->kind) return never(Kind::dtype_mismatch, known, wanted);
  const auto* tuple = wanted->as<TupleInfo>();
  if (tuple == nullptr) return list_numbers(from, known, wanted);
  const std::vector<Info>& fields = known->as<TupleInfo>()->fields;
  if (fields.size() != tuple->fields.size()) return never(Kind::wrong_arity, known, wanted);
  for (size_t i = 0; i < fields.size(); ++i) RELAXC_DO(list(from.fields[i], fields[i], tuple->fields[i]));
  return Done{};
}

Status MatchCast::list_numbers(const ValueStorage& from, Info known, Info wanted) {
  auto ranked = [&](const auto& x, const auto& y) {
    return y->ndim < 0 || y->ndim == x->ndim ? Status(Done{}) : never(Kind::rank_mismatch, known, wanted);
  };
  const auto *x = known->as<TensorInfo>(), *y = wanted->as<TensorInfo>();
  if (x != nullptr && y->dtype && x->dtype != y->dtype) return never(Kind::dtype_mismatch, known, wanted);
  if (y != nullptr && !y->shape) return ranked(x, y);
  const auto *s = known->as<ShapeInfo>(), *t = wanted->as<ShapeInfo>();
  if (t != nullptr && !t->dims) return ranked(s, t);
  const auto *p = known->as<PrimInfo>(), *q = wanted->as<PrimInfo>();
  if (p != nullptr && p->dtype != q->dtype) return never(Kind::dtype_mismatch, known, wanted);
  std::vector<Expr> found = symbols_.known(numbers(known)), expected = numbers(wanted);
  if (p != nullptr && found.empty()) found.push_back(arith::cast(q->dtype, host_.at.build().load(from.buffer, {})));
  if (!(q != nullptr && expected.empty()) && found.size() != expected.size())
    return never(Kind::rank_mismatch, known, wanted);
  int32_t tensor = from.buffer == nullptr ? -1 : host_.signature.input_of(from.buffer);
  for (size_t k = 0; k < expected.size(); ++k)
    matches_.push_back({found[k], expected[k], tensor, p != nullptr ? -1 : static_cast<int32_t>(k)});
  return Done{};
}

/// Binds a symbol that the cast introduces as a number of its own to the number that was found.
void MatchCast::bind(const Match& match) {
  const auto* node = match.expected.as<arith::VarNode>();
  if (node == nullptr || symbols_.in_scope(Var(node))) return;
  bool decided = symbols_.of_entry(match.found) || match.found.as<arith::VarNode>() != nullptr;
  // A declared bound of a symbol that data gives is a promise: it is checked, and then memory is planned by it.
  bool promised = host_.function.facts.range_of(Var(node)).has_upper() && !symbols_.of_entry(match.found);
  if (!promised && (decided || op_.result()->info->as<TensorInfo>() != nullptr))
    symbols_.define(Var(node), match.found);
  else
    shapes_.bind_from_data(Var(node), match.found, symbols_.bounded(match.found), false);
}

void MatchCast::require(const Match& match) {
  Expr expected = symbols_.known(match.expected);
  if (expected == match.found) return;
  tir::Guard record;
  record.tensor = match.tensor, record.axis = match.axis;
  record.symbol = shapes_.our_symbol(expected);
  record.code = expected.constant() != nullptr ? kStaticDim : record.symbol >= 0 ? kSymbolEquality : kDerivedDim;
  if (expected.dtype().is_index()) record.expected = expected, record.actual = match.found;
  Found found{Finding::kExact, match.axis < 0 ? "the value" : fmt::format("dim {}", match.axis)};
  const auto* name = match.expected.as<arith::VarNode>();
  if (name != nullptr && record.symbol < 0)  // a symbol of data is in no table, so the text names it
    found.what += fmt::format(" ('{}')", Var(name).name());
  shapes_.require(arith::eq(expected, match.found), std::move(record), found);
}

ValueStorage MatchCast::seen_fields(const ValueStorage& from, Info known, Info wanted) const {
  ValueStorage to = from;
  const auto* tuple = wanted->as<TupleInfo>();
  for (size_t i = 0; tuple != nullptr && i < tuple->fields.size(); ++i)
    to.fields[i] = seen_fields(from.fields[i], known->as<TupleInfo>()->fields[i], tuple->fields[i]);
  const auto* tensor = wanted->as<TensorInfo>();
  if (tensor != nullptr && tensor->shape && symbols_.known(*tensor->shape) != from.buffer->shape)
    to.buffer = memory_.view_as(from.buffer, from.buffer->name, from.buffer->dtype, symbols_.known(*tensor->shape));
  return to;
}

}  // namespace

Status lower_match_cast(HostLowering& host, Op& op) {
  if (opens_object(op)) return open_object(host, op);
  MatchCast cast(host, op);
  RELAXC_DO(cast.match());
  const Value &from = *op.operand(0), &to = *op.result();
  if (to.info->as<TensorInfo>() != nullptr) return lower_view(host, op);
  host.values.slot(to) = cast.seen_fields(host.values.slot(from), from.info, to.info);
  return Done{};
}

}  // namespace relaxc::lower
