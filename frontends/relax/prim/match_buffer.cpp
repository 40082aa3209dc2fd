// match_buffer.cpp: reads buffers that match handles and parts of other buffers.
#include "frontends/relax/prim/buffers.h"

#include "frontends/relax/prim/subscripts.h"
#include "frontends/relax/text/literals.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;

namespace {

/// Reads `B = T.match_buffer(A[i * 4 : i * 4 + 4, 0:8], (4, 8))`: B is that part of A. If A has more dims, the part has
/// one element along the first of them.
Status match_region(PrimParts& fn, const ast::Stmt& stmt, Suite& out) {
  const ast::Expr& call = *stmt.value;
  RELAXC_TRY(tir::BufferRegion part, buffer_region(fn, *call.items[1]));
  RELAXC_TRY(Description description, describe_buffer(fn, call, 2, "T.match_buffer"));
  const tir::Buffer& from = *part.buffer;
  std::vector<arith::Expr> begins;
  for (const tir::Span& span : part.spans) begins.push_back(span.begin);
  std::vector<arith::Expr> dims;
  if (is_none(description.shape)) {
    for (const tir::Span& span : part.spans) dims.push_back(span.extent);
  } else {
    RELAXC_TRY(dims, buffer_shape(fn, *description.shape));
  }
  size_t rank = dims.size();
  if (rank > from.shape.size())
    return fn.source.error(call.place, Kind::rank_mismatch, "a part of '{}' has {} dims, found {}", from.name,
                           from.shape.size(), rank);
  size_t dropped = from.shape.size() - rank;
  tir::Buffer base = from;
  base.strides = from.strides.empty() ? compact_strides(fn.context(), from.shape) : from.strides;
  base.strides.erase(base.strides.begin(), base.strides.begin() + static_cast<ptrdiff_t>(dropped));
  arith::Expr offset = arith::simplify(tir::element_offset(fn.context(), from, begins));
  Description own = description;
  own.elem_offset = nullptr;
  RELAXC_TRY(tir::BufferRef made, make_buffer(fn, own, stmt.target->text, std::move(dims), &base));
  std::vector<arith::Expr> ignored;
  own.strides = nullptr, own.elem_offset = description.elem_offset;
  RELAXC_DO(parameter_layout(fn, own, ignored, base.strides, offset));
  for (size_t i = 0; i < part.spans.size(); ++i) {
    arith::Expr wanted = i < dropped ? fn.context().index(1) : made->shape[i - dropped];
    if (arith::prove_equal(part.spans[i].extent, wanted)) continue;
    return fn.source.error(call.items[1]->place, Kind::shape_mismatch, "dim {} of the part is {}, that of '{}' is {}",
                           i, arith::to_string(part.spans[i].extent), made->name, arith::to_string(wanted));
  }
  if (made->dtype != from.dtype)
    return fn.source.error(call.place, Kind::dtype_mismatch, "a part of '{}' holds {}, found {}", from.name,
                           to_string(from.dtype), to_string(made->dtype));
  RELAXC_DO(open_view(fn, stmt, made, {part.buffer, offset * from.dtype.bytes()}, out));
  const arith::Expr outer = fn.views.offset_of(part.buffer);
  fn.views.set_offset(*fn.names.find_buffer(*stmt.target), outer ? outer + offset : offset);
  return Done{};
}

}  // namespace

Status match_buffer(PrimParts& fn, const ast::Stmt& stmt, Suite& out) {
  Diagnostics& diag = fn.source.diag();
  const ast::Expr& call = *stmt.value;
  bool from_handle = call.items.size() >= 2 && call.items[1]->is(AstKind::kName);
  bool from_part = call.items.size() >= 2 && call.items[1]->is(AstKind::kSubscript);
  if (!stmt.target->is(AstKind::kName) || (!from_handle && !from_part))
    return fn.source.error(call.place, Kind::ill_formed, "expected A = T.match_buffer(handle, shape, dtype)");
  if (from_part) {
    RELAXC_DO(out.check_room(fn.source, stmt.place));
    return match_region(fn, stmt, out);
  }
  auto* handle = fn.names.find(call.items[1]->text);
  if (handle == nullptr) return fn.names.unbound(*call.items[1]);
  if (handle->value.kind == PrimName::kPoison) return diag.failed();
  if (handle->value.kind != PrimName::kHandle)
    return fn.source.error(call.items[1]->place, Kind::invalid_value, "'{}' is not a handle", call.items[1]->text);
  size_t position = handle->value.param;
  if (fn.function.params[position].buffer != nullptr)
    return fn.source.error(call.items[1]->place, Kind::redefinition, "the handle '{}' is matched twice",
                           call.items[1]->text);
  RELAXC_TRY(Description description, describe_buffer(fn, call, 2, "T.match_buffer"));
  description.is_parameter = true;
  if (!is_none(description.scope) && description.scope->text == "local")
    description.scope = nullptr;  // memory of the caller is global to this function, whatever it is to the caller
  RELAXC_TRY(tir::BufferRef made, make_buffer(fn, description, stmt.target->text));
  fn.function.params[position].buffer = made;
  fn.names.bind_outermost(stmt.target->text, {PrimName::kBuffer, {}, made}, stmt.target->place);
  return Done{};
}

}  // namespace relaxc::frontend
