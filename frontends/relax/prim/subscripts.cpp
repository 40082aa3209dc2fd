// subscripts.cpp: reads elements and regions of buffers.
#include "frontends/relax/prim/subscripts.h"

#include "frontends/relax/prim/buffers.h"
#include "frontends/relax/prim/vector.h"
#include "frontends/relax/text/call_text.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;

Result<std::vector<arith::Expr>> subscripts(PrimParts& fn, tir::BufferRef buffer,
                                            const std::vector<const ast::Expr*>& given, Place place) {
  Diagnostics& diag = fn.source.diag();
  std::vector<const ast::Expr*> items = given;
  if (items.size() == 1 && items[0]->is_sequence()) items = items[0]->items;
  const int64_t lanes = fn.lanes.of_element(buffer);
  const size_t rank = buffer->shape.size() - (lanes > 0 ? 1 : 0);
  if (items.size() != rank)
    return fn.source.error(place, Kind::rank_mismatch, "'{}' has {} dims, found {} subscripts", buffer->name, rank,
                           items.size());
  if (lanes > 0 && lanes != fn.lanes.count())
    return fn.source.error(place, Kind::shape_mismatch,
                           "an element of '{}' has {} lanes and can only be stored as a vector of them", buffer->name,
                           lanes);
  std::vector<arith::Expr> indices;
  bool ok = true;
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i]->is(AstKind::kSlice) && !fn.lanes.any())
      return fn.source.error(items[i]->place, Kind::unsupported,
                             "a slice of this kind is not a subscript; write a loop");
    Result<arith::Expr> value =
        items[i]->is(AstKind::kSlice) ? lane_subscript(fn, *items[i], buffer->shape[i]) : fn.scalars.index(*items[i]);
    ok = ok && value && fn.ranges.check(buffer, i, *value, fn.scalars.certain(), items[i]->place);
    if (ok) indices.push_back(*value);
  }
  if (!ok) return diag.failed();
  if (lanes > 0) indices.emplace_back(fn.lanes.var());
  return indices;
}

namespace {

/// Returns the subscripts of element number `place_in` of compact memory.
std::vector<arith::Expr> indices_at(PrimParts& fn, const tir::Buffer& buffer, arith::Expr place_in) {
  std::vector<arith::Expr> strides = compact_strides(fn.context(), buffer.shape), indices;
  for (size_t axis = 0; axis < strides.size(); ++axis) {
    arith::Expr at = arith::floordiv(place_in, strides[axis]);
    indices.push_back(fn.ranges.simplified(axis > 0 ? arith::floormod(at, buffer.shape[axis]) : at));
  }
  return indices;
}

}  // namespace

Result<Element> element_of(PrimParts& fn, const ast::Expr& base, const std::vector<const ast::Expr*>& at, Place place) {
  tir::BufferRef pointed = fn.names.pointed_to(base);
  const bool counted = pointed != nullptr && at.size() == 1 && pointed->shape.size() != 1 && pointed->strides.empty() &&
                       fn.lanes.of_element(pointed) == 0;
  if (!counted) {
    RELAXC_TRY(tir::BufferRef buffer, pointed != nullptr ? Result(pointed) : fn.names.find_buffer(base));
    RELAXC_TRY(std::vector<arith::Expr> indices, subscripts(fn, buffer, at, place));
    return Element{buffer, std::move(indices)};
  }
  arith::Expr count = fn.context().index(1);
  for (arith::Expr dim : pointed->shape) count = count * dim;
  tir::BufferRef flat = fn.builder.buffer(pointed->name, pointed->dtype, {arith::simplify(count)}, pointed->scope);
  RELAXC_TRY(std::vector<arith::Expr> found, subscripts(fn, flat, at, place));
  return Element{pointed, indices_at(fn, *pointed, found[0])};
}

Result<Scalar> buffer_element(PrimParts& fn, const ast::Expr& buffer, const ast::Expr& at) {
  RELAXC_TRY(Element found, element_of(fn, buffer, targets_of(at), at.place));
  std::vector<arith::Expr>& indices = found.indices;
  if (fn.lanes.any() && !indices.empty() && !fn.lanes.move(indices)) indices.back() = indices.back() + fn.lanes.var();
  return Scalar{fn.builder.load(found.buffer, std::move(indices))};
}

Result<tir::BufferRegion> buffer_region(PrimParts& fn, const ast::Expr& e) {
  bool whole = e.is(AstKind::kName);
  if (!whole && !e.is(AstKind::kSubscript))
    return fn.source.error(e.place, Kind::invalid_value, "expected a buffer or a part of one, as in A[i, 0:8]");
  tir::BufferRegion region;
  RELAXC_TRY(region.buffer, fn.names.find_buffer(whole ? e : *e.items[0]));
  std::vector<const ast::Expr*> parts;
  if (!whole) parts.assign(e.items.begin() + 1, e.items.end());
  if (parts.size() == 1 && parts[0]->is(AstKind::kTuple)) parts = parts[0]->items;
  if (!whole && parts.size() != region.buffer->shape.size())
    return fn.source.error(e.place, Kind::rank_mismatch, "'{}' has {} dims, found {} subscripts", region.buffer->name,
                           region.buffer->shape.size(), parts.size());
  for (size_t i = 0; i < region.buffer->shape.size(); ++i) {
    arith::Expr begin = fn.context().index(0), end = region.buffer->shape[i];
    if (whole) {
      region.spans.push_back({begin, end});
    } else if (parts[i]->is(AstKind::kSlice)) {
      if (parts[i]->items[0] != nullptr) {
        RELAXC_TRY(begin, fn.scalars.index(*parts[i]->items[0]));
      }
      if (parts[i]->items[1] != nullptr) {
        RELAXC_TRY(end, fn.scalars.index(*parts[i]->items[1]));
      }
      region.spans.push_back({begin, arith::simplify(end - begin)});
    } else {
      RELAXC_TRY(begin, fn.scalars.index(*parts[i]));
      region.spans.push_back({begin, fn.context().index(1)});
    }
  }
  return region;
}

}  // namespace relaxc::frontend
