// prim_buffer.cpp: buffers: their descriptions, and the ways in which they come to be.
//
// A prim func is given compact memory whose first element the pointer points to. So an offset that a parameter names is
// 0 and strides that it names are those of a compact buffer; a part of a buffer that a block matches gets both from
// where it lies.
#include <algorithm>
#include <span>

#include "frontends/relax/grammar.h"
#include "frontends/relax/literals.h"
#include "frontends/relax/prim_func.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;

/// The arguments of a buffer; null: not given.
struct PrimFuncReader::Description {
  Place place;
  const ast::Expr *shape = nullptr, *dtype = nullptr, *data = nullptr, *strides = nullptr, *elem_offset = nullptr,
                  *byte_offset = nullptr, *scope = nullptr;
  uint32_t alignment = 0;
};

namespace {

constexpr std::string_view kBufferArguments[] = {"shape",       "dtype",           "data",       "strides",
                                                 "elem_offset", "scope",           "align",      "offset_factor",
                                                 "buffer_type", "axis_separators", "byte_offset"};
constexpr std::string_view kAllocateArguments[] = {"shape", "dtype", "scope", "condition", "annotations"};

std::vector<arith::Expr> compact_strides(arith::Context& context, const std::vector<arith::Expr>& shape) {
  std::vector<arith::Expr> strides(shape.size(), context.index(1));
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = arith::simplify(strides[i] * shape[i]);
  return strides;
}

bool same_buffer(const tir::Buffer& a, const tir::Buffer& b) {
  return a.name == b.name && a.dtype == b.dtype && a.shape == b.shape && a.strides == b.strides && a.scope == b.scope &&
         a.alignment == b.alignment;
}

}  // namespace

Result<PrimFuncReader::Description> PrimFuncReader::describe_buffer(const ast::Expr& call, size_t first,
                                                                    const std::string& callee) {
  Diagnostics& diag = source_.diag();
  std::map<std::string_view, const ast::Expr*> given;
  bool allocate = callee == "T.allocate";
  std::span<const std::string_view> names = kBufferArguments;
  if (allocate) names = kAllocateArguments;
  if (call.items.size() > first + names.size())
    return source_.error(call.place, Kind::wrong_arity, "a buffer takes at most {} arguments", names.size());
  for (size_t i = first; i < call.items.size(); ++i) given[names[i - first]] = call.items[i];
  for (const ast::Keyword& keyword : call.keywords) {
    std::string_view name = keyword.name;
    if (name == "extents") name = "shape";
    auto known = std::find(names.begin(), names.end(), name);
    if (known == names.end())
      return source_.error(keyword.place, Kind::invalid_attribute, "a buffer has no argument '{}'", keyword.name);
    given[*known] = keyword.value;
  }
  Description out;
  out.place = call.place;
  out.shape = given["shape"], out.dtype = given["dtype"], out.data = given["data"], out.strides = given["strides"];
  out.elem_offset = given["elem_offset"], out.byte_offset = given["byte_offset"], out.scope = given["scope"];
  if (is_none(out.shape)) return source_.error(call.place, Kind::wrong_arity, "a buffer needs a shape");
  if (!is_none(given["align"])) RELAXC_DO(read_alignment(*given["align"], out));
  const ast::Expr *type = given["buffer_type"], *separators = given["axis_separators"];
  if (!is_none(type) && !(type->is(AstKind::kString) && (type->text == "default" || type->text.empty())))
    return source_.error(type->place, Kind::unsupported,
                         "a buffer's type is \"default\"; write broadcasts as subscripts");
  if (!is_none(separators) && !(separators->is_sequence() && separators->items.empty()))
    return source_.error(separators->place, Kind::unsupported, "memory has one axis here; leave axis_separators out");
  const ast::Expr* condition = given["condition"];
  if (!is_none(condition) && !condition->is(AstKind::kTrue) && callee_of(condition) != "T.bool")
    return source_.error(condition->place, Kind::unsupported,
                         "an allocation has no condition; write an 'if' around it");
  return out;
}

Status PrimFuncReader::read_alignment(const ast::Expr& e, Description& out) {
  Diagnostics& diag = source_.diag();
  if (e.is(AstKind::kUnary)) return Done{};  // -1: as the compiler likes
  if (!e.is(AstKind::kInt)) return source_.error(e.place, Kind::invalid_value, "expected an alignment in bytes");
  RELAXC_TRY(int64_t bytes, integer_value(source_, e));
  if (bytes > 4096 || (bytes & (bytes - 1)) != 0)
    return source_.error(e.place, Kind::invalid_value, "an alignment is a power of two up to 4096");
  out.alignment = static_cast<uint32_t>(bytes);
  return Done{};
}

/// `base`: what the buffer is a part of; its strides are the default then.
Result<tir::BufferRef> PrimFuncReader::make_buffer(const Description& description, const std::string& name,
                                                   const tir::Buffer* base) {
  Diagnostics& diag = source_.diag();
  Result<std::vector<arith::Expr>> dims = shape(*description.shape);
  DType dtype = base != nullptr ? base->dtype : DType::f(32);
  if (!is_none(description.dtype)) {
    RELAXC_TRY(dtype, dtype_value(source_, *description.dtype));
    if (dtype == DType::index())
      return source_.error(description.dtype->place, Kind::invalid_value, "a buffer cannot hold {}", to_string(dtype));
  }
  if (!dims) return diag.failed();
  tir::Scope scope = base != nullptr ? base->scope : tir::Scope::kGlobal;
  if (base == nullptr && !is_none(description.scope)) {
    RELAXC_TRY(scope, storage(*description.scope));
  }
  tir::Buffer made = *builder_.buffer(name, dtype, *dims, scope, description.alignment);
  std::vector<arith::Expr> compact = compact_strides(context_, made.shape);
  std::vector<arith::Expr> usual = base != nullptr ? base->strides : compact;
  RELAXC_DO(parameter_layout(description, made.strides, usual, context_.index(0)));
  if (made.strides == compact) made.strides.clear();
  return context_.arena().make<tir::Buffer>(std::move(made));
}

Status PrimFuncReader::parameter_layout(const Description& description, std::vector<arith::Expr>& strides,
                                        const std::vector<arith::Expr>& usual, arith::Expr offset) {
  Diagnostics& diag = source_.diag();
  // A name that has no value yet takes the usual one.
  auto takes = [&](const ast::Expr& e, arith::Expr value) {
    auto* known = e.is(AstKind::kName) ? names_.find(e.text) : nullptr;
    bool fresh = e.is(AstKind::kName) && known == nullptr && pattern_;
    if (!fresh && (known == nullptr || !known->value.unbound)) return false;
    names_.bind_outermost(e.text, {PrimName::kScalar, value}, e.place);
    return true;
  };
  strides = usual;
  if (!is_none(description.strides) && !targets_of(*description.strides).empty()) {
    std::vector<const ast::Expr*> items = targets_of(*description.strides);
    if (items.size() != usual.size())
      return source_.error(description.strides->place, Kind::rank_mismatch, "{} strides for {} dims", items.size(),
                           usual.size());
    for (size_t i = 0; i < items.size(); ++i) {
      if (takes(*items[i], usual[i])) continue;
      RELAXC_TRY(strides[i], index(*items[i]));
    }
  }
  const ast::Expr* at = description.elem_offset;
  if (is_none(at) || takes(*at, offset)) return Done{};
  RELAXC_TRY(arith::Expr given, index(*at));
  if (description.data == nullptr && !arith::prove_equal(given, offset))
    return source_.error(at->place, Kind::unsupported, "a pointer points to the first element; elem_offset is {} here",
                         arith::to_string(offset));
  return Done{};
}

/// T.Buffer(shape, dtype), T.Buffer[shape, dtype], T.Buffer[(shape), dtype], T.Buffer[8, dtype].
Result<tir::BufferRef> PrimFuncReader::buffer_annotation(const ast::Expr& annotation, const std::string& name) {
  Diagnostics& diag = source_.diag();
  if (annotation.items.size() < 2 && annotation.keywords.empty())
    return source_.error(annotation.place, Kind::ill_formed,
                         "T.Buffer needs a shape, as in T.Buffer((8,), \"float32\")");
  RELAXC_TRY(Description description, describe_buffer(annotation, 1, "T.Buffer"));
  pattern_ = true;
  Result<tir::BufferRef> made = make_buffer(description, name);
  pattern_ = false;
  return made;
}

Result<tir::Scope> PrimFuncReader::storage(const ast::Expr& e) {
  Diagnostics& diag = source_.diag();
  RELAXC_TRY(std::string text, string_value(source_, e, "a scope"));
  if (text == "global" || text.empty()) return tir::Scope::kGlobal;
  if (text == "local") return tir::Scope::kLocal;
  if (text == "weights") return tir::Scope::kWeights;
  return source_.error(e.place, Kind::unsupported, "scope \"{}\" belongs to a GPU; here are \"global\" and \"local\"",
                       text);
}

Result<std::vector<arith::Expr>> PrimFuncReader::shape(const ast::Expr& e) {
  Diagnostics& diag = source_.diag();
  std::vector<arith::Expr> dims;
  bool ok = true;
  if (e.is(AstKind::kString)) {
    const ast::Expr* quoted = parse_quoted(source_, tree_, {e.place.begin + 1, e.place.length - 2});
    if (quoted == nullptr) return diag.failed();
    return shape(*quoted);
  }
  for (const ast::Expr* item : targets_of(e)) {
    Result<arith::Expr> value = dim(*item);
    ok = ok && value;
    if (ok) dims.push_back(*value);
  }
  if (!ok) return diag.failed();
  return dims;
}

/// A dim of a shape; a symbol that stands alone there is bound by it.
Result<arith::Expr> PrimFuncReader::dim(const ast::Expr& e) {
  Diagnostics& diag = source_.diag();
  if (e.is(AstKind::kString)) {
    const ast::Expr* quoted = parse_quoted(source_, tree_, {e.place.begin + 1, e.place.length - 2});
    if (quoted == nullptr) return diag.failed();
    return dim(*quoted);
  }
  if (e.is(AstKind::kName)) {
    auto* known = names_.find(e.text);
    if (known == nullptr && pattern_) {
      arith::Var var = context_.var(e.text);
      names_.bind_outermost(e.text, {PrimName::kScalar, var}, e.place);
      return var;
    }
    if (known != nullptr) known->value.unbound = false;
  }
  RELAXC_TRY(arith::Expr value, index(e));
  if (value.constant() != nullptr && *value.constant() < 0)
    return source_.error(e.place, Kind::invalid_value, "a dim cannot be negative, found {}", *value.constant());
  return value;
}

Result<tir::BufferRef> PrimFuncReader::find_buffer(const ast::Expr& e) {
  if (!e.is(AstKind::kName)) return source_.error(e.place, Kind::invalid_value, "expected the name of a buffer");
  auto* known = names_.find(e.text);
  if (known == nullptr) return unbound(e);
  if (known->value.kind == PrimName::kPoison) return source_.diag().failed();
  if (known->value.kind == PrimName::kBuffer) return known->value.buffer;
  return source_.error(e.place, Kind::invalid_value, "'{}' is not a buffer", e.text);
}

// ---- the ways in which buffers come to be

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
  Diagnostics& diag = source_.diag();
  const ast::Expr& call = *stmt.value;
  RELAXC_TRY(tir::BufferRegion part, region(*call.items[1]));
  RELAXC_TRY(Description description, describe_buffer(call, 2, "T.match_buffer"));
  const tir::Buffer& from = *part.buffer;
  std::vector<arith::Expr> begins;
  for (const tir::Span& span : part.spans) begins.push_back(span.begin);
  size_t rank = targets_of(*description.shape).size();
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
  RELAXC_TRY(tir::BufferRef made, make_buffer(own, stmt.target->text, &base));
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
  /// Statements nest in TIR as deep as scopes are open; every walk over TIR recurses that deep.
  constexpr size_t kMostOpenScopes = 2000;
  if (open_scopes_ >= kMostOpenScopes)
    return source_.error(stmt.place, Kind::unsupported, "more than {} buffers and names in one scope", kMostOpenScopes);
  ++open_scopes_;
  return Done{};
}

/// T.alloc_buffer and kin; with `data=` the memory is that of another buffer or of a handle.
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
    return builder_.view(opened, base.buffer, base.byte_offset, body);
  };
  out.push_back({wrap, {}, opened});
  return Done{};
}

/// `A = T.allocate_const([1, 2, 3], "int32", [3])`: memory that is filled where it is declared.
Status PrimFuncReader::open_constant(const ast::Stmt& stmt, Suite& out) {
  Diagnostics& diag = source_.diag();
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
  if (callee == "T.address_of" || callee == "T.tvm_access_ptr") return true;
  const ast::Expr& head = e.is(AstKind::kCall) ? *e.items[0] : e;
  if (head.is(AstKind::kAttribute)) return head.text == (e.is(AstKind::kCall) ? "access_ptr" : "data");
  auto* known = e.is(AstKind::kName) ? names_.find(e.text) : nullptr;
  return known != nullptr && known->value.kind == PrimName::kBuffer;
}

Result<PrimFuncReader::Pointer> PrimFuncReader::pointer(const ast::Expr& e) {
  Diagnostics& diag = source_.diag();
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
  Diagnostics& diag = source_.diag();
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
