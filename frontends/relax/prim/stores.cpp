// stores.cpp: reads stores of one element, and of several lanes.
//
// All lanes are read before any is written; if the store could change what a later lane reads, the values are computed
// first.
#include "frontends/relax/prim/statements.h"

#include <algorithm>

#include "frontends/relax/prim/subscripts.h"
#include "frontends/relax/prim/vector.h"
#include "frontends/relax/text/call_text.h"
#include "frontends/relax/text/literals.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;

namespace {

tir::Stmt if_chosen(PrimParts& fn, arith::Expr mask, tir::Stmt store) {
  return mask ? fn.builder.branch(mask, store, {}) : store;
}

Status store_lanes(PrimParts& fn, tir::BufferRef buffer, std::vector<arith::Expr> indices, arith::Expr value,
                   arith::Expr mask, Place place, Suite& out) {
  bool overlaps = false;
  if (!fn.lanes.move(indices))
    return fn.source.error(place, Kind::shape_mismatch, "a value of {} lanes is stored into one element",
                           fn.lanes.count());
  arith::for_each_node(value, [&](arith::Expr node) {
    const auto* load = node.as<arith::Load>();
    if (load == nullptr || fn.views.root_of(load->buffer) != fn.views.root_of(buffer)) return;
    overlaps |= load->buffer != buffer || load->indices != indices;
  });
  arith::Expr count = fn.context().index(fn.lanes.count()), zero = fn.context().index(0);
  tir::Stmt made;
  if (!overlaps) {
    made = if_chosen(fn, mask, fn.builder.store(buffer, std::move(indices), value));
    made = fn.builder.loop(fn.lanes.var(), zero, count, made, tir::LoopKind::kVectorized);
  } else {
    tir::BufferRef kept = fn.builder.buffer("lanes", buffer->dtype, {count}, tir::Scope::kLocal);
    arith::Var second = fn.context().var("lane");
    for (arith::Expr& at : indices) at = arith::substitute(at, {{fn.lanes.var(), second}});
    tir::Stmt keep = if_chosen(fn, mask, fn.builder.store(kept, {fn.lanes.var()}, value));
    tir::Stmt read = fn.builder.loop(fn.lanes.var(), zero, count, keep, tir::LoopKind::kVectorized);
    if (mask) mask = arith::substitute(mask, {{fn.lanes.var(), second}});
    tir::Stmt put = if_chosen(fn, mask, fn.builder.store(buffer, std::move(indices), fn.builder.load(kept, {second})));
    tir::Stmt write = fn.builder.loop(second, zero, count, put, tir::LoopKind::kVectorized);
    made = fn.builder.alloc(kept, fn.builder.seq({read, write}));
  }
  out.add(made);
  return Done{};
}

}  // namespace

Status store_statement(PrimParts& fn, const ast::Expr& target, const ast::Expr& value, const std::string& op,
                       Suite& out) {
  Diagnostics& diag = fn.source.diag();
  if (!target.is(AstKind::kSubscript))
    return fn.source.error(target.place, Kind::unsupported, "only an element of a buffer can be changed");
  if (fn.names.pointed_to(*target.items[0]) == nullptr && !fn.names.find_buffer(*target.items[0])) {
    (void)fn.scalars.read(value);  // report errors of the value as well
    return diag.failed();
  }
  Lanes::Store lanes(fn.lanes, std::max(lanes_in(fn, target), lanes_in(fn, value)));
  Result<Element> element =
      element_of(fn, *target.items[0], {target.items.begin() + 1, target.items.end()}, target.place);
  Result<Scalar> scalar = value_or_call(fn, value, out);
  if (element && scalar && !op.empty())
    scalar = fn.scalars.binary(op, Scalar{fn.builder.load(element->buffer, element->indices)}, *scalar, target.place);
  if (!element || !scalar) return diag.failed();
  return store_element(fn, element->buffer, std::move(element->indices), *scalar, value.place, out);
}

Status store_element(PrimParts& fn, tir::BufferRef buffer, std::vector<arith::Expr> indices, Scalar scalar, Place place,
                     Suite& out, arith::Expr mask) {
  RELAXC_TRY(arith::Expr typed, fn.scalars.stored(scalar, buffer->dtype, place));
  fn.note_store(buffer, typed);
  if (fn.lanes.any()) return store_lanes(fn, buffer, std::move(indices), typed, mask, place, out);
  out.add(if_chosen(fn, mask, fn.builder.store(buffer, std::move(indices), typed)));
  return Done{};
}

Status vector_store(PrimParts& fn, const ast::Expr& call, Suite& out) {
  const ast::Keyword* masked = call.keyword("predicate");
  const ast::Expr* mask = masked != nullptr ? masked->value : call.items.size() > 3 ? call.items[3] : nullptr;
  if (call.items.size() < 3 || call.items.size() > 4)
    return fn.source.error(call.place, Kind::wrong_arity, "vstore takes subscripts, a value and a predicate");
  const ast::Expr &at = *call.items[1], &value = *call.items[2];
  RELAXC_TRY(tir::BufferRef buffer, fn.names.find_buffer(*call.items[0]->items[0]));
  Lanes::Store lanes(fn.lanes, std::max(lanes_in(fn, at), lanes_in(fn, value)));
  Result<arith::Expr> test = arith::Expr();
  std::optional<ScalarReader::Choice> choice;
  if (!is_none(mask)) {
    choice.emplace(fn.scalars);  // a masked-off lane may be out of bounds
    test = fn.scalars.condition(*mask);
  }
  Result<std::vector<arith::Expr>> indices = subscripts(fn, buffer, targets_of(at), at.place);
  Result<Scalar> scalar = fn.scalars.read(value);
  choice.reset();
  if (!test || !indices || !scalar) return fn.diag().failed();
  if (fn.lanes.any() && !indices->empty() && !fn.lanes.move(*indices))
    indices->back() = indices->back() + fn.lanes.var();
  return store_element(fn, buffer, std::move(*indices), *scalar, value.place, out, *test);
}

}  // namespace relaxc::frontend
