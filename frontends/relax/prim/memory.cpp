// memory.cpp: reads buffers that are allocated, that use the memory of others, or that are filled with constants.
#include "frontends/relax/prim/buffers.h"

#include "frontends/relax/prim/subscripts.h"
#include "frontends/relax/text/call_text.h"
#include "frontends/relax/text/literals.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;

namespace {

bool same_buffer(const tir::Buffer& a, const tir::Buffer& b) {
  return a.name == b.name && a.dtype == b.dtype && a.shape == b.shape && a.strides == b.strides && a.scope == b.scope &&
         a.alignment == b.alignment;
}

/// Reads `A = T.allocate_const([1, 2, 3], "int32", [3])`: memory that is filled where it is declared.
Status open_constant(PrimParts& fn, const ast::Stmt& stmt, Suite& out) {
  const ast::Expr& call = *stmt.value;
  constexpr size_t kMostElements = 4096;
  if (call.items.size() != 4 || !call.items[1]->is_sequence() || call.items[1]->items.size() > kMostElements)
    return fn.source.error(call.place, Kind::ill_formed,
                           "expected T.allocate_const([numbers], dtype, shape) of at most {} numbers", kMostElements);
  RELAXC_TRY(DType dtype, dtype_value(fn.source, *call.items[2]));
  RELAXC_TRY(std::vector<arith::Expr> dims, buffer_shape(fn, *call.items[3]));
  const std::vector<const ast::Expr*>& numbers = call.items[1]->items;
  int64_t count = 1;
  for (arith::Expr dim : dims)
    if (dim.constant() == nullptr || __builtin_mul_overflow(count, *dim.constant(), &count)) count = -1;
  if (count != static_cast<int64_t>(numbers.size()))
    return fn.source.error(call.place, Kind::shape_mismatch, "{} numbers do not fill the shape", numbers.size());
  tir::BufferRef made = fn.builder.buffer(stmt.target->text, dtype, dims);
  std::vector<tir::Stmt> stores;
  for (int64_t i = 0; i < count; ++i) {
    RELAXC_TRY(arith::Expr number, fn.scalars.value(*numbers[static_cast<size_t>(i)], dtype));
    std::vector<arith::Expr> indices(dims.size());
    for (size_t axis = dims.size(), rest = static_cast<size_t>(i); axis-- > 0;) {
      auto extent = static_cast<size_t>(*dims[axis].constant());
      indices[axis] = fn.context().index(static_cast<int64_t>(rest % extent));
      rest /= extent;
    }
    stores.push_back(fn.builder.store(made, std::move(indices), number));
  }
  RELAXC_DO(out.check_room(fn.source, stmt.place));
  fn.names.bind_buffer(*stmt.target, made);
  fn.blocks.note_written(made);
  out.open([&fn, made](tir::Stmt body) { return fn.builder.alloc(made, body); }, std::move(stores));
  return Done{};
}

/// Opens new memory whose elements are not side by side, as T.alloc_buffer(…, strides=[17, 1]) asks for: a compact
/// buffer of all elements up to the last one, and a view of it.
Status open_strided(PrimParts& fn, const ast::Stmt& stmt, tir::BufferRef opened, Suite& out) {
  arith::Expr elements = fn.context().index(1);
  for (size_t axis = 0; axis < opened->shape.size(); ++axis)
    elements = elements + (opened->shape[axis] - 1) * opened->strides[axis];
  RELAXC_DO(out.check_room(fn.source, stmt.place));
  tir::BufferRef memory = fn.builder.buffer(opened->name + "_memory", opened->dtype, {arith::simplify(elements)},
                                            opened->scope, opened->alignment);
  out.open([&fn, memory](tir::Stmt body) { return fn.builder.alloc(memory, body); });
  return open_view(fn, stmt, opened, {memory, fn.context().index(0)}, out);
}

/// Whether new memory of several dims has one stride, a 1, which TVM takes: elements of the last dim are side by side.
bool is_last_stride(const Description& description) {
  if (is_none(description.strides) || is_none(description.shape)) return false;
  const std::vector<const ast::Expr*> strides = targets_of(*description.strides);
  return strides.size() == 1 && strides[0]->is(AstKind::kInt) && strides[0]->text == "1" &&
         targets_of(*description.shape).size() > 1;
}

/// Opens newly allocated memory.
Status open_allocation(PrimParts& fn, const std::string& callee, const ast::Stmt& stmt, const Description& description,
                       Suite& out) {
  Description fitting = description;
  if (is_last_stride(description)) fitting.strides = nullptr;
  RELAXC_TRY(tir::BufferRef opened, make_buffer(fn, fitting, stmt.target->text));
  if (!opened->strides.empty()) return open_strided(fn, stmt, opened, out);
  if (callee == "T.alloc_local") {
    tir::Buffer local = *opened;
    local.scope = tir::Scope::kLocal;
    opened = fn.context().arena().make<tir::Buffer>(std::move(local));
  }
  RELAXC_DO(out.check_room(fn.source, stmt.place));
  fn.names.bind_buffer(*stmt.target, opened);
  if (callee == "T.allocate") fn.names.note_allocated(opened);
  out.open([&fn, opened](tir::Stmt body) { return fn.builder.alloc(opened, body); });
  return Done{};
}

/// Opens a view of the memory that `data=` names.
Status open_on(PrimParts& fn, const std::string& callee, const ast::Stmt& stmt, const Description& description,
               Suite& out) {
  RELAXC_TRY(Pointer base, read_pointer(fn, *description.data));
  if (base.buffer == nullptr && callee != "T.decl_buffer")
    return fn.source.error(description.data->place, Kind::invalid_value, "an address is for T.decl_buffer");
  if (!is_none(description.byte_offset)) {
    RELAXC_TRY(arith::Expr more, fn.scalars.index(*description.byte_offset));
    base.byte_offset = base.byte_offset + more;
  }
  base.round_up = description.round_up;
  RELAXC_TRY(tir::BufferRef opened, make_buffer(fn, description, stmt.target->text));
  if (!is_none(description.elem_offset)) {
    RELAXC_TRY(arith::Expr elements, fn.scalars.index(*description.elem_offset));
    base.byte_offset = base.byte_offset + elements * opened->dtype.bytes();
  }
  RELAXC_DO(out.check_room(fn.source, stmt.place));
  return open_view(fn, stmt, opened, base, out);
}

}  // namespace

Status open_buffer(PrimParts& fn, const std::string& callee, const ast::Stmt& stmt, Suite& out) {
  if (!stmt.target->is(AstKind::kName))
    return fn.source.error(stmt.target->place, Kind::syntax, "expected a name for the buffer");
  if (callee == "T.allocate_const") return open_constant(fn, stmt, out);
  RELAXC_TRY(Description description, describe_buffer(fn, *stmt.value, 1, callee));
  if (is_none(description.data)) {
    if (callee != "T.Buffer") return open_allocation(fn, callee, stmt, description, out);
    RELAXC_TRY(tir::BufferRef declared, make_buffer(fn, description, stmt.target->text));
    PrimName name{PrimName::kBuffer, {}, declared};
    name.without_memory = true;
    fn.names.bind(stmt.target->text, name, stmt.target->place);
    return Done{};
  }
  const ast::Expr& data = *description.data;
  const auto* handle = data.is(AstKind::kName) ? fn.names.find(data.text) : nullptr;
  bool unmatched = handle != nullptr && handle->value.kind == PrimName::kHandle &&
                   fn.function.params[handle->value.param].buffer == nullptr;
  if (!unmatched) return open_on(fn, callee, stmt, description, out);
  size_t position = handle->value.param;
  RELAXC_TRY(tir::BufferRef made, make_buffer(fn, description, stmt.target->text));
  fn.function.params[position].buffer = made;
  fn.names.bind_outermost(stmt.target->text, {PrimName::kBuffer, {}, made}, stmt.target->place);
  return Done{};
}

Status realize(PrimParts& fn, const ast::Expr& call, Suite& out) {
  const ast::Expr* part = call.items.size() >= 2 ? call.items[1] : nullptr;
  if (call.items.size() < 3 || !part->is(AstKind::kSubscript) || !part->items[0]->is(AstKind::kName))
    return fn.source.error(call.place, Kind::ill_formed, "expected T.realize(A[0:8], \"global\")");
  const ast::Expr& name = *part->items[0];
  if (auto* known = fn.names.find(name.text); known != nullptr && known->value.without_memory) {
    tir::Buffer made = *known->value.buffer;
    RELAXC_TRY(made.scope, storage_scope(fn, *call.items[2]));
    tir::BufferRef opened = fn.context().arena().make<tir::Buffer>(std::move(made));
    RELAXC_DO(out.check_room(fn.source, call.place));
    fn.names.bind_buffer(name, opened);
    out.open([&fn, opened](tir::Stmt body) { return fn.builder.alloc(opened, body); });
  }
  // TE's schedules realize the part that an iteration needs; here it is all of the buffer, where that part is as well.
  return buffer_region(fn, *part) ? Status(Done{}) : fn.diag().failed();
}

Status view_buffer(PrimParts& fn, const ast::Stmt& stmt, Suite& out) {
  const ast::Expr& call = *stmt.value;
  if (!stmt.target->is(AstKind::kName))
    return fn.source.error(stmt.target->place, Kind::syntax, "expected a name for the buffer");
  RELAXC_TRY(tir::BufferRef from, fn.names.find_buffer(*call.items[0]->items[0]));
  if (!from->strides.empty())
    return fn.source.error(call.place, Kind::unsupported, "'{}' is not compact, and a view is of all its memory",
                           from->name);
  DType dtype = from->dtype;
  std::vector<arith::Expr> dims;
  for (size_t i = 1; i < call.items.size(); ++i) {
    if (call.items[i]->is(AstKind::kString)) {
      RELAXC_TRY(dtype, dtype_value(fn.source, *call.items[i]));
      continue;
    }
    RELAXC_TRY(std::vector<arith::Expr> more, buffer_shape(fn, *call.items[i]));
    dims.insert(dims.end(), more.begin(), more.end());
  }
  if (dims.empty()) dims = from->shape;
  auto bytes = [&](const std::vector<arith::Expr>& shape, DType element) {
    arith::Expr size = fn.context().index(element.bytes());
    for (arith::Expr dim : shape) size = size * dim;
    return arith::simplify(size);
  };
  if (!arith::prove_equal(bytes(dims, dtype), bytes(from->shape, from->dtype)))
    return fn.source.error(call.place, Kind::shape_mismatch, "the view has {} bytes, '{}' has {}",
                           arith::to_string(bytes(dims, dtype)), from->name,
                           arith::to_string(bytes(from->shape, from->dtype)));
  RELAXC_DO(out.check_room(fn.source, stmt.place));
  tir::BufferRef opened = fn.builder.buffer(stmt.target->text, dtype, std::move(dims), from->scope);
  return open_view(fn, stmt, opened, {from, fn.context().index(0)}, out);
}

Status open_view(PrimParts& fn, const ast::Stmt& stmt, tir::BufferRef opened, Pointer base, Suite& out) {
  bool whole = base.buffer != nullptr && base.byte_offset.is_constant(0) && opened->dtype == base.buffer->dtype &&
               opened->shape == base.buffer->shape && opened->strides == base.buffer->strides;
  if (whole && callee_of(stmt.value) == "T.Buffer") {  // what T.allocate gave, under the name that it is used by
    fn.names.bind_buffer(*stmt.target, base.buffer);
    return Done{};
  }
  // A view that is opened again is the same buffer, and its earlier opening in this suite ends here, since the printer
  // writes two scopes this way.
  const auto* known = fn.names.find(stmt.target->text);
  tir::BufferRef before = known != nullptr ? known->value.buffer : nullptr;
  tir::BufferRef latest = fn.views.latest(stmt.target->text);
  bool ends = before != nullptr && before == latest && out.has_open(before);
  if (latest != nullptr && same_buffer(*latest, *opened) && (before == nullptr || ends)) {
    opened = latest;
    if (ends) out.end(before);
  }
  fn.views.set_latest(stmt.target->text, opened);
  fn.names.bind_buffer(*stmt.target, opened);
  if (base.buffer != nullptr) fn.views.set_base(opened, base.buffer);
  auto wrap = [&fn, opened, base](tir::Stmt body) {
    return fn.builder.view(opened, base.buffer, base.byte_offset, body, base.round_up);
  };
  out.open(wrap, {}, opened);
  return Done{};
}

}  // namespace relaxc::frontend
