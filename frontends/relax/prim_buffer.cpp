// prim_buffer.cpp: descriptions of buffers: shape, dtype, layout; prim_memory.cpp has the ways in which they come to
// be.
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

namespace {

constexpr std::string_view kBufferArguments[] = {"shape",       "dtype",           "data",        "strides",
                                                 "elem_offset", "scope",           "align",       "offset_factor",
                                                 "buffer_type", "axis_separators", "byte_offset", "round_up"};
constexpr std::string_view kAllocateArguments[] = {"shape", "dtype", "scope", "condition", "annotations"};

}  // namespace

std::vector<arith::Expr> compact_strides(arith::Context& context, const std::vector<arith::Expr>& shape) {
  std::vector<arith::Expr> strides(shape.size(), context.index(1));
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = arith::simplify(strides[i] * shape[i]);
  return strides;
}

Result<PrimFuncReader::Description> PrimFuncReader::describe_buffer(const ast::Expr& call, size_t first,
                                                                    const std::string& callee) {
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
  bool part = callee == "T.match_buffer" && call.items.size() > 1 && call.items[1]->is(AstKind::kSubscript);
  if (is_none(out.shape) && !part) return source_.error(call.place, Kind::wrong_arity, "a buffer needs a shape");
  if (!is_none(given["align"])) {
    RELAXC_TRY(out.alignment, read_alignment(*given["align"]));
  }
  if (!is_none(given["round_up"])) {
    RELAXC_TRY(out.round_up, read_alignment(*given["round_up"]));
  }
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

/// 0: as the compiler likes.
Result<uint32_t> PrimFuncReader::read_alignment(const ast::Expr& e) {
  if (e.is(AstKind::kUnary)) return uint32_t{0};  // -1
  if (!e.is(AstKind::kInt)) return source_.error(e.place, Kind::invalid_value, "expected an alignment in bytes");
  RELAXC_TRY(int64_t bytes, integer_value(source_, e));
  if (bytes > 4096 || (bytes & (bytes - 1)) != 0)
    return source_.error(e.place, Kind::invalid_value, "an alignment is a power of two up to 4096");
  return static_cast<uint32_t>(bytes);
}

Result<tir::BufferRef> PrimFuncReader::make_buffer(const Description& description, const std::string& name) {
  RELAXC_TRY(std::vector<arith::Expr> dims, shape(*description.shape));
  return make_buffer(description, name, std::move(dims), nullptr);
}

Result<tir::BufferRef> PrimFuncReader::make_buffer(const Description& description, const std::string& name,
                                                   std::vector<arith::Expr> dims, const tir::Buffer* base) {
  DType dtype = base != nullptr ? base->dtype : DType::f(32);
  if (!is_none(description.dtype)) {
    RELAXC_TRY(dtype, element_dtype(*description.dtype));
    if (dtype == DType::index())
      return source_.error(description.dtype->place, Kind::invalid_value, "a buffer cannot hold {}", to_string(dtype));
  }
  tir::Scope scope = base != nullptr ? base->scope : tir::Scope::kGlobal;
  if (base == nullptr && !is_none(description.scope)) {
    RELAXC_TRY(scope, storage(*description.scope));
  }
  tir::Buffer made = *builder_.buffer(name, dtype, std::move(dims), scope, description.alignment);
  std::vector<arith::Expr> compact = compact_strides(context_, made.shape);
  std::vector<arith::Expr> usual = base != nullptr ? base->strides : compact;
  RELAXC_DO(parameter_layout(description, made.strides, usual, context_.index(0)));
  if (made.strides == compact) made.strides.clear();
  return context_.arena().make<tir::Buffer>(std::move(made));
}

Status PrimFuncReader::parameter_layout(const Description& description, std::vector<arith::Expr>& strides,
                                        const std::vector<arith::Expr>& usual, arith::Expr offset) {
  // A name that has no value yet takes the usual one, and so does T.int32(), a symbol without a name.
  auto takes = [&](const ast::Expr& e, arith::Expr value) {
    std::string callee = callee_of(&e);
    if ((callee == "T.int32" || callee == "T.int64") && e.items.size() == 1) return true;
    bool named = e.is(AstKind::kName) || e.is(AstKind::kString);
    auto* known = named ? names_.find(e.text) : nullptr;
    bool fresh = known == nullptr && (e.is(AstKind::kString) || (named && pattern_));
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
  if (tir::BufferRef other = described(e, "shape")) return other->shape;
  for (const ast::Expr* item : targets_of(e)) {
    if (tir::BufferRef other = described(*item, "shape"); other != nullptr && item->is(AstKind::kStarred)) {
      dims.insert(dims.end(), other->shape.begin(), other->shape.end());
      continue;
    }
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

tir::BufferRef PrimFuncReader::described(const ast::Expr& e, std::string_view what) {
  const ast::Expr& path = e.is(AstKind::kStarred) ? *e.items[0] : e;
  if (!path.is(AstKind::kAttribute) || path.text != what || !path.items[0]->is(AstKind::kName)) return nullptr;
  auto* known = names_.find(path.items[0]->text);
  return known != nullptr && known->value.kind == PrimName::kBuffer ? known->value.buffer : nullptr;
}

Result<tir::BufferRef> PrimFuncReader::find_buffer(const ast::Expr& e) {
  if (!e.is(AstKind::kName)) return source_.error(e.place, Kind::invalid_value, "expected the name of a buffer");
  auto* known = names_.find(e.text);
  if (known == nullptr) return unbound(e);
  if (known->value.kind == PrimName::kPoison) return source_.diag().failed();
  if (known->value.kind == PrimName::kBuffer) return known->value.buffer;
  return source_.error(e.place, Kind::invalid_value, "'{}' is not a buffer", e.text);
}

}  // namespace relaxc::frontend
