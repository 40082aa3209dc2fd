// prim_func.cpp: signature, buffers and names of a prim func.
//
// A handle parameter becomes a buffer when T.match_buffer says which; its place among the parameters stays the
// handle's. Symbols are declared (`n = T.int64()`) and bound where they stand alone in a matched shape; a name in a
// shape of the signature declares itself.
#include "frontends/relax/prim_func.h"

#include "frontends/relax/grammar.h"
#include "frontends/relax/literals.h"
#include "frontends/relax/suggest.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;

std::vector<const ast::Expr*> targets_of(const ast::Expr& target) {
  return target.is_sequence() ? target.items : std::vector<const ast::Expr*>{&target};
}

Result<tir::PrimFunc> PrimFuncReader::run(const ast::Stmt& definition) {
  Diagnostics& diag = source_.diag();
  function_.name = definition.text;
  function_.location = source_.at(definition.name_place);
  function_.origins = {function_.location};
  function_.is_private = false;
  bool ok = bool(decorators(definition)) & bool(type_parameters(definition));
  function_.params.resize(definition.params.size());
  for (const ast::Parameter& param : definition.params) {
    if (!parameter(param)) {
      ok = false;
      bind(param.name, {}, param.place);
    }
  }
  Result<tir::Stmt> body = suite(definition.body);
  ok = ok && body && finish_signature(definition);
  if (!ok) return diag.failed();
  function_.body = *body;
  tir::collect_symbols(function_);
  return std::move(function_);
}

Status PrimFuncReader::decorators(const ast::Stmt& definition) {
  for (const ast::Expr* decorator : definition.decorators) {
    if (!decorator->is(AstKind::kCall)) continue;
    for (const ast::Keyword& keyword : decorator->keywords) {
      bool flag = keyword.value->is(AstKind::kTrue);
      if (!flag && !keyword.value->is(AstKind::kFalse))
        return source_.error(keyword.value->place, Kind::invalid_attribute, "'{}' is True or False", keyword.name);
      if (keyword.name == "private")
        function_.is_private = flag;
      else if (keyword.name != "s_tir" && keyword.name != "check_well_formed")
        return source_.error(keyword.place, Kind::invalid_attribute, "T.prim_func has no option '{}'", keyword.name);
    }
  }
  return Done{};
}

Status PrimFuncReader::type_parameters(const ast::Stmt& definition) {
  for (const ast::Parameter& symbol : definition.type_params) declare_symbol(symbol.name, symbol.place);
  return Done{};
}

Status PrimFuncReader::parameter(const ast::Parameter& param) {
  Diagnostics& diag = source_.diag();
  size_t position = param_names_.size();
  param_names_.push_back({param.name, param.place});
  if (param.annotation == nullptr)
    return source_.error(param.place, Kind::ill_formed, "parameter '{}' needs a type, such as T.handle", param.name);
  const ast::Expr& annotation = *param.annotation;
  const ast::Expr& head =
      annotation.is(AstKind::kCall) || annotation.is(AstKind::kSubscript) ? *annotation.items[0] : annotation;
  std::string path = dotted_path(head).value_or("");
  if (path == "T.handle" || path == "T.ptr" || path == "ty.handle") {
    bind(param.name, {PrimName::kHandle, {}, nullptr, position}, param.place);
    return Done{};
  }
  if (path == "T.Buffer") {
    RELAXC_TRY(tir::BufferRef buffer, buffer_annotation(annotation, param.name));
    function_.params[position].buffer = buffer;
    bind(param.name, {PrimName::kBuffer, {}, buffer}, param.place);
    return Done{};
  }
  std::optional<DType> dtype;
  if (path.rfind("T.", 0) == 0) dtype = parse_dtype(path.substr(2));
  if (!dtype)
    return source_.error(annotation.place, Kind::ill_formed,
                         "expected T.handle, T.Buffer(shape, dtype) or a scalar type such as T.int64");
  // Integers that a prim func takes are extents and offsets.
  if (*dtype == DType::i(64) || *dtype == DType::i(32)) dtype = DType::index();
  arith::Var var = context_.var(param.name, *dtype);
  function_.params[position].var = var;
  bind(param.name, {PrimName::kScalar, var}, param.place);
  return Done{};
}

Status PrimFuncReader::finish_signature(const ast::Stmt& definition) {
  for (const auto& [name, place] : symbols_) {
    auto* symbol = names_.find(name);
    if (symbol == nullptr || !symbol->value.unbound) continue;
    return source_.error(place, Kind::ill_formed, "no buffer's shape holds the symbol '{}' alone, so it has no value",
                         name);
  }
  for (size_t i = 0; i < function_.params.size(); ++i) {
    const tir::Param& param = function_.params[i];
    if (param.buffer != nullptr || param.var) continue;
    Failure failure = source_.error(definition.params[i].place, Kind::ill_formed,
                                    "no T.match_buffer says what the handle '{}' points to", definition.params[i].name);
    return failure;
  }
  return Done{};
}

Status PrimFuncReader::function_attributes(const ast::Expr& call) {
  Diagnostics& diag = source_.diag();
  if (call.items.size() != 2 || !call.items[1]->is(AstKind::kDict))
    return source_.error(call.place, Kind::invalid_attribute, "T.func_attr takes one dict");
  const std::vector<const ast::Expr*>& entries = call.items[1]->items;
  for (size_t i = 0; i + 1 < entries.size(); i += 2) RELAXC_DO(attribute(*entries[i], *entries[i + 1]));
  return Done{};
}

Status PrimFuncReader::attribute(const ast::Expr& key, const ast::Expr& value) {
  Diagnostics& diag = source_.diag();
  RELAXC_TRY(std::string name, string_value(source_, key, "an attribute's name"));
  bool flag = value.is(AstKind::kTrue);
  if (name == "tir.noalias" || name == "tir.is_scheduled" || name == "tir.is_private") {
    bool number = value.is(AstKind::kInt);
    if (!flag && !value.is(AstKind::kFalse) && !number)
      return source_.error(value.place, Kind::invalid_attribute, "'{}' is True or False", name);
    if (name == "tir.noalias") function_.noalias = flag || (number && value.text != "0");
    return Done{};
  }
  if (name == "global_symbol") {
    RELAXC_TRY(std::string symbol, string_value(source_, value, "a symbol"));
    if (symbol == function_.name) return Done{};
    return source_.error(value.place, Kind::ill_formed, "global_symbol \"{}\" differs from the function's name '{}'",
                         symbol, function_.name);
  }
  bool text = value.is(AstKind::kString) || value.is(AstKind::kInt);
  if (!text && !flag && !value.is(AstKind::kFalse))
    return source_.error(value.place, Kind::invalid_attribute, "'{}' must be a string, an integer or a bool", name);
  function_.attrs[name] = text ? value.text : flag ? "True" : "False";
  return Done{};
}

/// T.Buffer(shape, dtype), T.Buffer[shape, dtype], T.Buffer[(shape), dtype], T.Buffer[8, dtype].
Result<tir::BufferRef> PrimFuncReader::buffer_annotation(const ast::Expr& annotation, const std::string& name) {
  if (annotation.items.size() < 2)
    return source_.error(annotation.place, Kind::ill_formed,
                         "T.Buffer needs a shape, as in T.Buffer((8,), \"float32\")");
  pattern_ = true;
  Result<tir::BufferRef> made = buffer(annotation, 1, name);
  pattern_ = false;
  return made;
}

Result<tir::BufferRef> PrimFuncReader::buffer(const ast::Expr& call, size_t first, const std::string& name) {
  Diagnostics& diag = source_.diag();
  const ast::Keyword* shape_keyword = call.keyword("shape");
  const ast::Keyword* dtype_keyword = call.keyword("dtype");
  const ast::Expr* shape_argument = call.items.size() > first ? call.items[first] : nullptr;
  const ast::Expr* dtype_argument = call.items.size() > first + 1 ? call.items[first + 1] : nullptr;
  if (shape_keyword != nullptr) shape_argument = shape_keyword->value;
  if (dtype_keyword != nullptr) dtype_argument = dtype_keyword->value;
  if (shape_argument == nullptr)
    return source_.error(call.place, Kind::wrong_arity, "the buffer '{}' needs a shape", name);
  Result<std::vector<arith::Expr>> dims = shape(*shape_argument);
  DType dtype = DType::f(32);
  if (dtype_argument != nullptr) {
    RELAXC_TRY(dtype, dtype_value(source_, *dtype_argument));
    if (dtype == DType::index() || dtype == DType::handle())
      return source_.error(dtype_argument->place, Kind::invalid_value, "a buffer cannot hold {}", to_string(dtype));
  }
  if (!dims) return diag.failed();
  RELAXC_TRY(tir::Scope scope, storage(call));
  uint32_t alignment = 0;
  if (const ast::Keyword* align = call.keyword("align")) {
    bool number = align->value->is(AstKind::kInt) || align->value->is(AstKind::kUnary);
    if (!number) return source_.error(align->value->place, Kind::invalid_value, "expected an alignment in bytes");
    if (align->value->is(AstKind::kInt)) {
      RELAXC_TRY(int64_t bytes, integer_value(source_, *align->value));
      if (bytes > 4096 || (bytes & (bytes - 1)) != 0)
        return source_.error(align->value->place, Kind::invalid_value, "an alignment is a power of two up to 4096");
      alignment = static_cast<uint32_t>(bytes);
    }
  }
  tir::BufferRef made = builder_.buffer(name, dtype, *dims, scope, alignment);
  if (const ast::Keyword* strides = call.keyword("strides")) {
    if (strides->value->is(AstKind::kNone)) return made;
    RELAXC_TRY(std::vector<arith::Expr> list, shape(*strides->value));
    if (!list.empty() && list.size() != dims->size())
      return source_.error(strides->value->place, Kind::rank_mismatch, "{} strides for {} dims", list.size(),
                           dims->size());
    tir::Buffer strided = *made;
    strided.strides = std::move(list);
    return context_.arena().make<tir::Buffer>(std::move(strided));
  }
  return made;
}

Result<tir::Scope> PrimFuncReader::storage(const ast::Expr& call) {
  Diagnostics& diag = source_.diag();
  const ast::Keyword* scope = call.keyword("scope");
  if (scope == nullptr) return tir::Scope::kGlobal;
  RELAXC_TRY(std::string text, string_value(source_, *scope->value, "a scope"));
  if (text == "global" || text.empty()) return tir::Scope::kGlobal;
  if (text == "local") return tir::Scope::kLocal;
  if (text == "weights") return tir::Scope::kWeights;
  return source_.error(scope->value->place, Kind::unsupported,
                       "scope \"{}\" belongs to a GPU; here are \"global\" and \"local\"", text);
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

Failure PrimFuncReader::unbound(const ast::Expr& e) {
  auto named = [](const PrimName& name) { return name.kind != PrimName::kPoison; };
  auto near = nearest_name(e.text, names_.names(named));
  Failure failure = source_.error(e.place, Kind::unbound_name, "the name '{}' is not bound", e.text);
  if (near) source_.hint("did you mean '{}'?", *near);
  return failure;
}

void PrimFuncReader::poison(const ast::Expr* target) {
  if (target == nullptr) return;
  for (const ast::Expr* item : targets_of(*target))
    if (item->is(AstKind::kName)) bind(item->text, {}, item->place);
}

Result<Scalar> PrimFuncReader::name(const ast::Expr& e) {
  auto* known = names_.find(e.text);
  if (known == nullptr) return unbound(e);
  switch (known->value.kind) {
    case PrimName::kPoison:
      return source_.diag().failed();
    case PrimName::kScalar:
      return Scalar{known->value.scalar};
    case PrimName::kBuffer:
      return source_.error(e.place, Kind::invalid_value, "'{}' is a buffer; read an element, as in {}[i]", e.text,
                           e.text);
    case PrimName::kHandle:
      break;
  }
  return source_.error(e.place, Kind::invalid_value, "'{}' is a handle; T.match_buffer gives it elements", e.text);
}

Result<tir::BufferRef> PrimFuncReader::find_buffer(const ast::Expr& e) {
  if (!e.is(AstKind::kName)) return source_.error(e.place, Kind::invalid_value, "expected the name of a buffer");
  auto* known = names_.find(e.text);
  if (known == nullptr) return unbound(e);
  if (known->value.kind == PrimName::kPoison) return source_.diag().failed();
  if (known->value.kind == PrimName::kBuffer) return known->value.buffer;
  return source_.error(e.place, Kind::invalid_value, "'{}' is not a buffer", e.text);
}

Result<std::vector<arith::Expr>> PrimFuncReader::subscripts(tir::BufferRef buffer, const ast::Expr& e) {
  Diagnostics& diag = source_.diag();
  std::vector<const ast::Expr*> items(e.items.begin() + 1, e.items.end());
  if (items.size() == 1 && items[0]->is(AstKind::kTuple)) items = items[0]->items;
  if (items.size() != buffer->shape.size())
    return source_.error(e.place, Kind::rank_mismatch, "'{}' has {} dims, found {} subscripts", buffer->name,
                         buffer->shape.size(), items.size());
  std::vector<arith::Expr> indices;
  bool ok = true;
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i]->is(AstKind::kSlice))
      return source_.error(items[i]->place, Kind::unsupported, "a slice is no subscript; write a loop");
    Result<arith::Expr> value = index(*items[i]);
    ok = ok && value;
    if (!ok) continue;
    const int64_t *at = value->constant(), *extent = buffer->shape[i].constant();
    if (at != nullptr && (*at < 0 || (extent != nullptr && *at >= *extent)))
      return source_.error(items[i]->place, Kind::invalid_value, "subscript {} is outside of '{}', whose dim {} is {}",
                           *at, buffer->name, i, arith::to_string(buffer->shape[i]));
    indices.push_back(*value);
  }
  if (!ok) return diag.failed();
  return indices;
}

Result<Scalar> PrimFuncReader::subscript(const ast::Expr& e) {
  Diagnostics& diag = source_.diag();
  RELAXC_TRY(tir::BufferRef buffer, find_buffer(*e.items[0]));
  RELAXC_TRY(std::vector<arith::Expr> indices, subscripts(buffer, e));
  return Scalar{builder_.load(buffer, std::move(indices))};
}

}  // namespace relaxc::frontend
