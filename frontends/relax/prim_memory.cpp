// prim_memory.cpp: the ways in which buffers come to be: matched to handles and to parts of buffers, allocated, opened
// on the memory of others, filled with constants; and the pointers that name such memory.
#include <algorithm>
#include <span>

#include "frontends/relax/grammar.h"
#include "frontends/relax/literals.h"
#include "frontends/relax/prim_func.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;

namespace {

bool same_buffer(const tir::Buffer& a, const tir::Buffer& b) {
  return a.name == b.name && a.dtype == b.dtype && a.shape == b.shape && a.strides == b.strides && a.scope == b.scope &&
         a.alignment == b.alignment;
}

}  // namespace

/// `A = T.match_buffer(a, (n,), "float32")` of a handle; of a part of a buffer: match_region.
Status PrimFuncReader::match_buffer(const ast::Stmt& stmt, Suite& out) {
  Diagnostics& diag = source_.diag();
  const ast::Expr& call = *stmt.value;
  bool from_handle = call.items.size() >= 2 && call.items[1]->is(AstKind::kName);
  bool from_part = call.items.size() >= 2 && call.items[1]->is(AstKind::kSubscript);
  if (!stmt.target->is(AstKind::kName) || (!from_handle && !from_part))
    return source_.error(call.place, Kind::ill_formed, "expected A = T.match_buffer(handle, shape, dtype)");
  if (from_part) {
    RELAXC_DO(open_scope(stmt));
    size_t pieces = out.size();
    Status matched = match_region(stmt, out);
    if (out.size() == pieces) --open_scopes_;
    return matched;
  }
  auto* handle = names_.find(call.items[1]->text);
  if (handle == nullptr) return unbound(*call.items[1]);
  if (handle->value.kind == PrimName::kPoison) return diag.failed();
  if (handle->value.kind != PrimName::kHandle)
    return source_.error(call.items[1]->place, Kind::invalid_value, "'{}' is not a handle", call.items[1]->text);
  size_t position = handle->value.param;
  if (function_.params[position].buffer != nullptr)
    return source_.error(call.items[1]->place, Kind::redefinition, "the handle '{}' is matched twice",
                         call.items[1]->text);
  RELAXC_TRY(Description description, describe_buffer(call, 2, "T.match_buffer"));
  RELAXC_TRY(tir::BufferRef made, make_buffer(description, stmt.target->text));
  function_.params[position].buffer = made;
  names_.bind_outermost(stmt.target->text, {PrimName::kBuffer, {}, made}, stmt.target->place);
  return Done{};
}

/// `B = T.match_buffer(A[i * 4 : i * 4 + 4, 0:8], (4, 8))`: B is that part of A. Where A has more dims, the part has
/// one element along the first of them.
Status PrimFuncReader::match_region(const ast::Stmt& stmt, Suite& out) {
  const ast::Expr& call = *stmt.value;
  RELAXC_TRY(tir::BufferRegion part, region(*call.items[1]));
  RELAXC_TRY(Description description, describe_buffer(call, 2, "T.match_buffer"));
  const tir::Buffer& from = *part.buffer;
  std::vector<arith::Expr> begins;
  for (const tir::Span& span : part.spans) begins.push_back(span.begin);
  std::vector<arith::Expr> dims;
  if (is_none(description.shape)) {
    for (const tir::Span& span : part.spans) dims.push_back(span.extent);
  } else {
    RELAXC_TRY(dims, shape(*description.shape));
  }
  size_t rank = dims.size();
  if (rank > from.shape.size())
    return source_.error(call.place, Kind::rank_mismatch, "a part of '{}' has {} dims, found {}", from.name,
                         from.shape.size(), rank);
  size_t dropped = from.shape.size() - rank;
  tir::Buffer base = from;
  base.strides = from.strides.empty() ? compact_strides(context_, from.shape) : from.strides;
  base.strides.erase(base.strides.begin(), base.strides.begin() + static_cast<ptrdiff_t>(dropped));
  arith::Expr offset = arith::simplify(tir::element_offset(context_, from, begins));
  Description own = description;
  own.elem_offset = nullptr;
  RELAXC_TRY(tir::BufferRef made, make_buffer(own, stmt.target->text, std::move(dims), &base));
  std::vector<arith::Expr> ignored;
  own.strides = nullptr, own.elem_offset = description.elem_offset;
  RELAXC_DO(parameter_layout(own, ignored, base.strides, offset));
  for (size_t i = 0; i < part.spans.size(); ++i) {
    arith::Expr wanted = i < dropped ? context_.index(1) : made->shape[i - dropped];
    if (arith::prove_equal(part.spans[i].extent, wanted)) continue;
    return source_.error(call.items[1]->place, Kind::shape_mismatch, "dim {} of the part is {}, that of '{}' is {}", i,
                         arith::to_string(part.spans[i].extent), made->name, arith::to_string(wanted));
  }
  if (made->dtype != from.dtype)
    return source_.error(call.place, Kind::dtype_mismatch, "a part of '{}' holds {}, found {}", from.name,
                         to_string(from.dtype), to_string(made->dtype));
  return open_view(stmt, made, {part.buffer, offset * from.dtype.bytes()}, out);
}

Status PrimFuncReader::open_scope(const ast::Stmt& stmt) {
  /// Walks over TIR go along scopes that reach to the end of a suite, they do not recurse into them.
  constexpr size_t kMostOpenScopes = 200'000;
  if (open_scopes_ >= kMostOpenScopes)
    return source_.error(stmt.place, Kind::unsupported, "more than {} buffers and names in one scope", kMostOpenScopes);
  ++open_scopes_;
  return Done{};
}

/// T.alloc_buffer and the like; with `data=` the memory is that of another buffer or of a handle.
Status PrimFuncReader::open_buffer(const std::string& callee, const ast::Stmt& stmt, Suite& out) {
  Diagnostics& diag = source_.diag();
  if (!stmt.target->is(AstKind::kName))
    return source_.error(stmt.target->place, Kind::syntax, "expected a name for the buffer");
  if (callee == "T.allocate_const") return open_constant(stmt, out);
  RELAXC_TRY(Description description, describe_buffer(*stmt.value, 1, callee));
  const ast::Expr* data = is_none(description.data) ? nullptr : description.data;
  auto* handle = data != nullptr && data->is(AstKind::kName) ? names_.find(data->text) : nullptr;
  if (handle != nullptr && handle->value.kind == PrimName::kHandle &&
      function_.params[handle->value.param].buffer == nullptr) {
    RELAXC_TRY(tir::BufferRef made, make_buffer(description, stmt.target->text));
    function_.params[handle->value.param].buffer = made;
    names_.bind_outermost(stmt.target->text, {PrimName::kBuffer, {}, made}, stmt.target->place);
    return Done{};
  }
  if (data == nullptr && callee == "T.Buffer")
    return source_.error(stmt.value->place, Kind::ill_formed,
                         "T.Buffer in a body says what its memory is (data=); T.alloc_buffer makes new memory");
  Pointer base;
  if (data != nullptr) {
    RELAXC_TRY(base, pointer(*data));
    if (base.buffer == nullptr && callee != "T.decl_buffer")
      return source_.error(data->place, Kind::invalid_value, "an address is for T.decl_buffer");
    if (!is_none(description.byte_offset)) {
      RELAXC_TRY(arith::Expr more, index(*description.byte_offset));
      base.byte_offset = base.byte_offset + more;
    }
    base.round_up = description.round_up;
  }
  Result<tir::BufferRef> made = make_buffer(description, stmt.target->text);
  if (!made) return diag.failed();
  tir::BufferRef opened = *made;
  if (data == nullptr && !opened->strides.empty())
    return source_.error(description.strides->place, Kind::unsupported, "new memory is compact; leave the strides out");
  if (data == nullptr && callee == "T.alloc_local") {
    tir::Buffer local = *opened;
    local.scope = tir::Scope::kLocal;
    opened = context_.arena().make<tir::Buffer>(std::move(local));
  }
  if (data != nullptr && !is_none(description.elem_offset)) {
    RELAXC_TRY(arith::Expr elements, index(*description.elem_offset));
    base.byte_offset = base.byte_offset + elements * opened->dtype.bytes();
  }
  RELAXC_DO(open_scope(stmt));
  if (data != nullptr) return open_view(stmt, opened, base, out);
  bind(stmt.target->text, {PrimName::kBuffer, {}, opened}, stmt.target->place);
  out.push_back({[this, opened](tir::Stmt body) { return builder_.alloc(opened, body); }, {}, nullptr});
  return Done{};
}

/// A view that is opened again is the same buffer, and an opening in this suite ends here: the printer writes two
/// scopes so.
Status PrimFuncReader::open_view(const ast::Stmt& stmt, tir::BufferRef opened, Pointer base, Suite& out) {
  bool whole = base.buffer != nullptr && base.byte_offset.is_constant(0) && opened->dtype == base.buffer->dtype &&
               opened->shape == base.buffer->shape && opened->strides == base.buffer->strides;
  if (whole && callee_of(stmt.value) == "T.Buffer") {  // what T.allocate gave, under the name that it is used by
    --open_scopes_;
    bind(stmt.target->text, {PrimName::kBuffer, {}, base.buffer}, stmt.target->place);
    return Done{};
  }
  auto* known = names_.find(stmt.target->text);
  tir::BufferRef before = known != nullptr ? known->value.buffer : nullptr;
  auto [seen, first] = views_.emplace(stmt.target->text, opened);
  size_t here = 1;
  while (here < out.size() && out[here].view != before) ++here;
  bool ends = before != nullptr && before == seen->second && here < out.size();
  if (!first && same_buffer(*seen->second, *opened) && (before == nullptr || ends)) {
    opened = seen->second;
    if (ends) reopen(out, here);
  }
  seen->second = opened;
  bind(stmt.target->text, {PrimName::kBuffer, {}, opened}, stmt.target->place);
  if (base.buffer != nullptr) bases_[opened] = base.buffer;
  auto wrap = [this, opened, base](tir::Stmt body) {
    return builder_.view(opened, base.buffer, base.byte_offset, body, base.round_up);
  };
  out.push_back({wrap, {}, opened});
  return Done{};
}

/// `A = T.allocate_const([1, 2, 3], "int32", [3])`: memory that is filled where it is declared.
Status PrimFuncReader::open_constant(const ast::Stmt& stmt, Suite& out) {
  const ast::Expr& call = *stmt.value;
  constexpr size_t kMostElements = 4096;
  if (call.items.size() != 4 || !call.items[1]->is_sequence() || call.items[1]->items.size() > kMostElements)
    return source_.error(call.place, Kind::ill_formed,
                         "expected T.allocate_const([numbers], dtype, shape) of at most {} numbers", kMostElements);
  RELAXC_TRY(DType dtype, dtype_value(source_, *call.items[2]));
  RELAXC_TRY(std::vector<arith::Expr> dims, shape(*call.items[3]));
  const std::vector<const ast::Expr*>& numbers = call.items[1]->items;
  int64_t count = 1;
  for (arith::Expr dim : dims)
    if (dim.constant() == nullptr || __builtin_mul_overflow(count, *dim.constant(), &count)) count = -1;
  if (count != static_cast<int64_t>(numbers.size()))
    return source_.error(call.place, Kind::shape_mismatch, "{} numbers do not fill the shape", numbers.size());
  tir::BufferRef made = builder_.buffer(stmt.target->text, dtype, dims);
  std::vector<tir::Stmt> stores;
  for (int64_t i = 0; i < count; ++i) {
    RELAXC_TRY(arith::Expr number, value(*numbers[static_cast<size_t>(i)], dtype));
    std::vector<arith::Expr> indices(dims.size());
    for (size_t axis = dims.size(), rest = static_cast<size_t>(i); axis-- > 0;) {
      auto extent = static_cast<size_t>(*dims[axis].constant());
      indices[axis] = context_.index(static_cast<int64_t>(rest % extent));
      rest /= extent;
    }
    stores.push_back(builder_.store(made, std::move(indices), number));
  }
  RELAXC_DO(open_scope(stmt));
  bind(stmt.target->text, {PrimName::kBuffer, {}, made}, stmt.target->place);
  written_.insert(made);
  out.push_back({[this, made](tir::Stmt body) { return builder_.alloc(made, body); }, std::move(stores), nullptr});
  return Done{};
}

// ---- pointers

/// `A.data`, `T.address_of(A[i])`, `A.access_ptr("r")`, `T.tvm_access_ptr(…)`, or the name of a buffer.
bool PrimFuncReader::is_pointer(const ast::Expr& e) {
  std::string callee = callee_of(&e);
  if (callee == "T.reinterpret")
    return e.items.size() == 3 && e.items[1]->is(AstKind::kString) && e.items[1]->text == "handle";
  if (callee == "T.address_of" || callee == "T.tvm_access_ptr" || callee == "T.handle_add_byte_offset") return true;
  const ast::Expr& head = e.is(AstKind::kCall) ? *e.items[0] : e;
  if (head.is(AstKind::kAttribute)) return head.text == (e.is(AstKind::kCall) ? "access_ptr" : "data");
  auto* known = e.is(AstKind::kName) ? names_.find(e.text) : nullptr;
  return known != nullptr && known->value.kind == PrimName::kBuffer;
}

Result<PrimFuncReader::Pointer> PrimFuncReader::pointer(const ast::Expr& e) {
  if (e.is(AstKind::kAttribute) && e.text == "data") return pointer(*e.items[0]);
  if (!is_pointer(e) && !e.is(AstKind::kName))
    return source_.error(e.place, Kind::invalid_value, "expected another buffer's data: A.data");
  if (!e.is(AstKind::kCall)) {
    RELAXC_TRY(tir::BufferRef buffer, find_buffer(e));
    return Pointer{buffer, context_.index(0)};
  }
  if (callee_of(&e) == "T.address_of") return element_pointer(e);
  if (callee_of(&e) == "T.reinterpret") {  // memory at an address, of no buffer
    RELAXC_TRY(arith::Expr address, index(*e.items[2]));
    return Pointer{nullptr, address};
  }
  if (callee_of(&e) == "T.handle_add_byte_offset") {
    if (e.items.size() != 3)
      return source_.error(e.place, Kind::wrong_arity, "expected a pointer and an offset in bytes");
    RELAXC_TRY(Pointer from, pointer(*e.items[1]));
    RELAXC_TRY(arith::Expr more, index(*e.items[2]));
    return Pointer{from.buffer, from.byte_offset + more};
  }
  // A.access_ptr(mask, …, offset=k); T.tvm_access_ptr(type, data, offset, extent, mask).
  bool function = callee_of(&e) == "T.tvm_access_ptr";
  if (function && e.items.size() < 4)
    return source_.error(e.place, Kind::wrong_arity,
                         "T.tvm_access_ptr takes a type, a pointer, an offset and an extent");
  RELAXC_TRY(Pointer out, pointer(function ? *e.items[2] : *e.items[0]->items[0]));
  const ast::Keyword* keyword = e.keyword("offset");
  const ast::Expr* offset = function ? e.items[3] : keyword != nullptr ? keyword->value : nullptr;
  if (offset != nullptr) {
    RELAXC_TRY(arith::Expr elements, index(*offset));
    out.byte_offset = out.byte_offset + elements * out.buffer->dtype.bytes();
  }
  return out;
}

Result<PrimFuncReader::Pointer> PrimFuncReader::element_pointer(const ast::Expr& e) {
  if (e.items.size() != 2 || !e.items[1]->is(AstKind::kSubscript))
    return source_.error(e.place, Kind::ill_formed, "expected the address of an element: T.address_of(A[i])");
  const ast::Expr& element = *e.items[1];
  RELAXC_TRY(tir::BufferRef buffer, find_buffer(*element.items[0]));
  RELAXC_TRY(std::vector<arith::Expr> indices,
             subscripts(buffer, {element.items.begin() + 1, element.items.end()}, element.place));
  arith::Expr offset = indices.empty() ? context_.index(0) : tir::element_offset(context_, *buffer, indices);
  return Pointer{buffer, offset * buffer->dtype.bytes()};
}

}  // namespace relaxc::frontend
