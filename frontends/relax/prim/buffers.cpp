// buffers.cpp: reads declarations of buffers: shape, dtype, layout.
//
// A prim func receives compact memory, and the pointer points to its first element. So a named offset of a parameter is
// 0, and named strides are those of a compact buffer; for a part of a buffer that a block matches, both follow from its
// position.
#include "frontends/relax/prim/buffers.h"

#include <algorithm>
#include <iterator>

#include "frontends/relax/prim/vector.h"
#include "frontends/relax/text/call_text.h"
#include "frontends/relax/text/grammar.h"
#include "frontends/relax/text/literals.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;

namespace {

/// How TVM's names of memory of a GPU begin.
constexpr std::string_view kGpuScopes[] = {"shared", "warp", "wmma.", "m16n8k8.", "metal.", "texture", "tmem"};

/// Reads a dim of a shape; binds a symbol that is a dim on its own and has no value yet.
Result<arith::Expr> buffer_dim(PrimParts& fn, const ast::Expr& e) {
  Diagnostics& diag = fn.source.diag();
  if (e.is(AstKind::kString)) {
    const ast::Expr* quoted = parse_quoted(fn.source, fn.scope.tree, {e.place.begin + 1, e.place.length - 2});
    if (quoted == nullptr) return diag.failed();
    return buffer_dim(fn, *quoted);
  }
  if (e.is(AstKind::kName)) {
    auto* known = fn.names.find(e.text);
    if (known == nullptr && fn.names.declaring()) {
      arith::Var var = fn.context().var(e.text);
      fn.names.bind_outermost(e.text, {PrimName::kScalar, var}, e.place);
      return var;
    }
    if (known != nullptr) known->value.unbound = false;
  }
  RELAXC_TRY(arith::Expr value, fn.scalars.index(e));
  if (value.constant() != nullptr && *value.constant() < 0)
    return fn.source.error(e.place, Kind::invalid_value, "a dim cannot be negative, found {}", *value.constant());
  return value;
}

}  // namespace

Result<tir::Scope> storage_scope(PrimParts& fn, const ast::Expr& e) {
  RELAXC_TRY(std::string text, string_value(fn.source, e, "a scope"));
  if (text == "global" || text.empty()) return tir::Scope::kGlobal;
  if (text == "local") return tir::Scope::kLocal;
  if (text == "weights") return tir::Scope::kWeights;
  // What follows "global." names the pool that the memory is taken from, and all pools are one arena here.
  if (text.rfind("global.", 0) == 0) return tir::Scope::kGlobal;
  const bool gpu = std::any_of(std::begin(kGpuScopes), std::end(kGpuScopes),
                               [&](std::string_view prefix) { return text.rfind(prefix, 0) == 0; });
  return fn.source.error(e.place, Kind::unsupported, "scope \"{}\" {}; here are \"global\" and \"local\"", text,
                         gpu ? "belongs to a GPU" : "is not known");
}

std::vector<arith::Expr> compact_strides(arith::Context& context, const std::vector<arith::Expr>& shape) {
  std::vector<arith::Expr> strides(shape.size(), context.index(1));
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = arith::simplify(strides[i] * shape[i]);
  return strides;
}

Result<tir::BufferRef> make_buffer(PrimParts& fn, const Description& description, const std::string& name) {
  RELAXC_TRY(std::vector<arith::Expr> dims, buffer_shape(fn, *description.shape));
  return make_buffer(fn, description, name, std::move(dims), nullptr);
}

Result<tir::BufferRef> make_buffer(PrimParts& fn, const Description& description, const std::string& name,
                                   std::vector<arith::Expr> dims, const tir::Buffer* base) {
  DType dtype = base != nullptr ? base->dtype : DType::f(32);
  int64_t lanes = 0;
  if (!is_none(description.dtype) && description.dtype->is(AstKind::kString))
    lanes = dtype_lanes(description.dtype->text);
  if (lanes > 0) {
    std::string_view text = description.dtype->text;
    dtype = parse_dtype(text.substr(0, text.rfind('x'))).value_or(DType::boolean());
    dims.push_back(fn.context().index(lanes));
  } else if (!is_none(description.dtype)) {
    RELAXC_TRY(dtype, fn.scalars.element_dtype(*description.dtype));
    if (dtype == DType::index())
      return fn.source.error(description.dtype->place, Kind::invalid_value, "a buffer cannot hold {}",
                             to_string(dtype));
  }
  tir::Scope scope = base != nullptr ? base->scope : tir::Scope::kGlobal;
  if (base == nullptr && !is_none(description.scope)) {
    RELAXC_TRY(scope, storage_scope(fn, *description.scope));
  }
  std::vector<arith::Expr> bounded;  // the functions that relaxc prints write INT64_MAX for a dim that nothing bounds
  std::copy_if(dims.begin(), dims.end(), std::back_inserter(bounded),
               [](arith::Expr dim) { return dim.constant() == nullptr || *dim.constant() != INT64_MAX; });
  if (tir::beyond_memory(bounded, dtype.bytes()))
    return fn.source.error(description.place, Kind::overflow, "a buffer of this shape is larger than any memory");
  tir::Buffer made = *fn.builder.buffer(name, dtype, std::move(dims), scope, description.alignment);
  std::vector<arith::Expr> compact = compact_strides(fn.context(), made.shape);
  std::vector<arith::Expr> usual = base != nullptr ? base->strides : compact;
  RELAXC_DO(parameter_layout(fn, description, made.strides, usual, fn.context().index(0)));
  if (made.strides == compact) made.strides.clear();
  tir::BufferRef kept = fn.context().arena().make<tir::Buffer>(std::move(made));
  if (lanes > 0) fn.lanes.set_element(kept, lanes);
  if (description.is_parameter && !is_none(description.elem_offset)) {
    const ast::Expr& written = *description.elem_offset;
    bool symbol =
        written.is(AstKind::kString) || (callee_of(&written).rfind("T.int", 0) == 0 && written.items.size() == 1);
    RELAXC_TRY(arith::Expr offset, symbol ? Result<arith::Expr>(fn.context().index(0)) : fn.scalars.index(written));
    fn.views.set_offset(kept, offset);
  }
  return kept;
}

Status parameter_layout(PrimParts& fn, const Description& description, std::vector<arith::Expr>& strides,
                        const std::vector<arith::Expr>& usual, arith::Expr offset) {
  // A name without a value takes the usual one, and so does T.int32(), which is a symbol without a name.
  auto takes = [&](const ast::Expr& e, arith::Expr value) {
    std::string callee = callee_of(&e);
    if ((callee == "T.int32" || callee == "T.int64") && e.items.size() == 1) return true;
    bool named = e.is(AstKind::kName) || e.is(AstKind::kString);
    auto* known = named ? fn.names.find(e.text) : nullptr;
    bool fresh = known == nullptr && (e.is(AstKind::kString) || (named && fn.names.declaring()));
    if (!fresh && (known == nullptr || !known->value.unbound)) return false;
    fn.names.bind_outermost(e.text, {PrimName::kScalar, value}, e.place);
    return true;
  };
  strides = usual;
  if (!is_none(description.strides) && !targets_of(*description.strides).empty()) {
    std::vector<const ast::Expr*> items = targets_of(*description.strides);
    if (items.size() != usual.size())
      return fn.source.error(description.strides->place, Kind::rank_mismatch, "{} strides for {} dims", items.size(),
                             usual.size());
    for (size_t i = 0; i < items.size(); ++i) {
      if (takes(*items[i], usual[i])) continue;
      RELAXC_TRY(strides[i], fn.scalars.index(*items[i]));
    }
  }
  const ast::Expr* at = description.elem_offset;
  if (is_none(at) || takes(*at, offset)) return Done{};
  RELAXC_TRY(arith::Expr given, fn.scalars.index(*at));
  if (description.is_parameter) return Done{};  // its pointer points to the first element, wherever that is
  if (description.data == nullptr && !arith::prove_equal(given, offset))
    return fn.source.error(at->place, Kind::unsupported,
                           "a pointer points to the first element; elem_offset is {} here", arith::to_string(offset));
  return Done{};
}

Result<tir::BufferRef> buffer_annotation(PrimParts& fn, const ast::Expr& annotation, const std::string& name) {
  if (annotation.items.size() < 2 && annotation.keywords.empty())
    return fn.source.error(annotation.place, Kind::ill_formed,
                           "T.Buffer needs a shape, as in T.Buffer((8,), \"float32\")");
  RELAXC_TRY(Description description, describe_buffer(fn, annotation, 1, "T.Buffer"));
  description.is_parameter = true;
  PrimNames::Declaring declaring(fn.names);
  return make_buffer(fn, description, name);
}

Result<std::vector<arith::Expr>> buffer_shape(PrimParts& fn, const ast::Expr& e) {
  Diagnostics& diag = fn.source.diag();
  std::vector<arith::Expr> dims;
  bool ok = true;
  if (e.is(AstKind::kString)) {
    const ast::Expr* quoted = parse_quoted(fn.source, fn.scope.tree, {e.place.begin + 1, e.place.length - 2});
    if (quoted == nullptr) return diag.failed();
    return buffer_shape(fn, *quoted);
  }
  if (tir::BufferRef other = fn.names.described(e, "shape")) return other->shape;
  for (const ast::Expr* item : targets_of(e)) {
    if (tir::BufferRef other = fn.names.described(*item, "shape"); other != nullptr && item->is(AstKind::kStarred)) {
      dims.insert(dims.end(), other->shape.begin(), other->shape.end());
      continue;
    }
    Result<arith::Expr> value = buffer_dim(fn, *item);
    ok = ok && value;
    if (ok) dims.push_back(*value);
  }
  if (!ok) return diag.failed();
  return dims;
}

}  // namespace relaxc::frontend
