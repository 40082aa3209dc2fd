// prim_func.cpp: signature, attributes and names of a prim func.
//
// A handle parameter becomes a buffer when T.match_buffer says which; its place among the parameters stays the
// handle's. Symbols are declared (`n = T.int64()`) and bound where they stand alone in a matched shape; a name in a
// shape of the signature declares itself.
//
// The text has one type for an extent and for a number that is computed with: T.int64. Which of the two a parameter is
// shows in the body, so a function is read with its integers as numbers first, and again if some turn out to be
// extents.
#include "frontends/relax/prim_func.h"

#include <algorithm>

#include "compiler/support/quote.h"
#include "compiler/tir/func_attrs.h"
#include "frontends/relax/literals.h"
#include "frontends/relax/name_uses.h"
#include "frontends/relax/suggest.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;

Result<tir::PrimFunc> read_prim_func(ModuleScope& scope, const ast::Stmt& definition) {
  std::set<std::string> index_params;
  for (;;) {
    PrimFuncReader reader(scope, index_params);
    Result<tir::PrimFunc> made = reader.run(definition);
    size_t known = index_params.size();
    index_params.insert(reader.used_as_index().begin(), reader.used_as_index().end());
    if (!made || index_params.size() == known) return made;
  }
}

std::string callee_of(const ast::Expr* e) {
  if (e == nullptr || !e->is(AstKind::kCall)) return {};
  std::string path = dotted_path(*e->items[0]).value_or("");
  for (std::string_view old : {"tir.", "ty.", "tvm.script.tir.", "Ts.", "tirx."})
    if (path.rfind(old, 0) == 0) path = "T." + path.substr(old.size());
  return path == "T.ramp" ? "T.Ramp" : path == "T.broadcast" ? "T.Broadcast" : path;  // of 2021
}

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
  if (module_symbols_.empty()) return Done{};
  std::set<std::string> used = names_used(definition.body);
  for (const ast::Parameter& param : definition.params)
    if (param.annotation != nullptr) used.merge(names_used(*param.annotation));
  for (const auto& [name, place] : module_symbols_)
    if (used.count(name) != 0 && names_.find(name) == nullptr) declare_symbol(name, place);
  return Done{};
}

Status PrimFuncReader::parameter(const ast::Parameter& param) {
  size_t position = param_names_.size();
  param_names_.push_back({param.name, param.place});
  if (names_.find(param.name) != nullptr && !is_symbol(param.name))
    return source_.error(param.place, Kind::redefinition, "two parameters are named '{}'", param.name);
  if (param.annotation == nullptr)
    return source_.error(param.place, Kind::ill_formed, "parameter '{}' needs a type, such as T.handle", param.name);
  const ast::Expr& annotation = *param.annotation;
  const ast::Expr& head =
      annotation.is(AstKind::kCall) || annotation.is(AstKind::kSubscript) ? *annotation.items[0] : annotation;
  std::string path = dotted_path(head).value_or("");
  if (path.rfind("ty.", 0) == 0) path = "T." + path.substr(3);
  if (path == "T.handle" || path == "T.ptr") {
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
  if (path == "int") dtype = DType::i(64);
  if (path == "T.boolean") dtype = DType::boolean();
  if (!dtype)
    return source_.error(annotation.place, Kind::ill_formed,
                         "expected T.handle, T.Buffer(shape, dtype) or a scalar type such as T.int64");
  bool integer = *dtype == DType::i(64) || *dtype == DType::i(32);
  if (integer && index_params_.count(param.name) != 0) dtype = DType::index();
  arith::Var var = context_.var(param.name, *dtype);
  if (integer && !dtype->is_index()) integer_params_.emplace(var->id, param.name);
  function_.params[position].var = var;
  bind(param.name, {PrimName::kScalar, var}, param.place);
  return Done{};
}

bool PrimFuncReader::is_symbol(const std::string& name) const {
  return std::any_of(symbols_.begin(), symbols_.end(), [&](const auto& symbol) { return symbol.first == name; });
}

/// Whether a parameter's dims speak of the symbol: callers solve it, as `n * 4` against 12, and pass it on.
bool PrimFuncReader::in_some_shape(arith::Expr symbol) const {
  for (const tir::Param& param : function_.params) {
    if (param.buffer == nullptr) continue;
    for (arith::Expr dim : param.buffer->shape)
      for (arith::Var var : arith::free_vars(dim))
        if (arith::Expr(var) == symbol) return true;
  }
  return false;
}

Status PrimFuncReader::finish_signature(const ast::Stmt& definition) {
  for (const auto& [name, place] : symbols_) {
    auto* symbol = names_.find(name);
    if (symbol == nullptr || !symbol->value.unbound || in_some_shape(symbol->value.scalar)) continue;
    return source_.error(place, Kind::ill_formed, "no buffer's shape holds the symbol '{}', so it has no value", name);
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
  if (call.items.size() != 2 || !call.items[1]->is(AstKind::kDict))
    return source_.error(call.place, Kind::invalid_attribute, "T.func_attr takes one dict");
  const std::vector<const ast::Expr*>& entries = call.items[1]->items;
  for (size_t i = 0; i + 1 < entries.size(); i += 2) RELAXC_DO(attribute(*entries[i], *entries[i + 1]));
  return Done{};
}

Status PrimFuncReader::attribute(const ast::Expr& key, const ast::Expr& written) {
  RELAXC_TRY(std::string name, string_value(source_, key, "an attribute's name"));
  // T.bool(True), as TVM printed flags for a while.
  bool boxed = written.is(AstKind::kCall) && written.items.size() == 2 && callee_of(&written) == "T.bool";
  const ast::Expr& value = boxed ? *written.items[1] : written;
  bool flag = value.is(AstKind::kTrue);
  std::string plain = name.rfind("tirx.", 0) == 0 ? "tir." + name.substr(5) : name;
  if (plain == "tir.noalias" || plain == "tir.is_scheduled" || plain == "tir.is_private") {
    bool number = value.is(AstKind::kInt);
    if (!flag && !value.is(AstKind::kFalse) && !number)
      return source_.error(value.place, Kind::invalid_attribute, "'{}' is True or False", name);
    if (plain == "tir.noalias") function_.noalias = flag || (number && value.text != "0");
    return Done{};
  }
  if (name == "global_symbol") {
    RELAXC_TRY(std::string symbol, string_value(source_, value, "a symbol"));
    if (symbol == function_.name) return Done{};
    return source_.error(value.place, Kind::ill_formed, "global_symbol \"{}\" differs from the function's name '{}'",
                         symbol, function_.name);
  }
  // What TVM keeps for its own passes: the target it compiled for, layouts, options.
  bool foreign = callee_of(&value) == "T.target" || value.is(AstKind::kDict) || value.is_sequence() ||
                 value.is(AstKind::kNone) || value.is(AstKind::kFloat);
  if (foreign) return Done{};
  bool text = value.is(AstKind::kString) || value.is(AstKind::kInt);
  if (!text && !flag && !value.is(AstKind::kFalse))
    return source_.error(value.place, Kind::invalid_attribute, "'{}' must be a string, an integer or a bool", name);
  std::string written_text = text ? value.text : flag ? "True" : "False";
  const tir::FuncAttr* row = tir::find_func_attr(name);
  if (row != nullptr && !row->parse(function_, written_text))
    return source_.error(value.place, Kind::invalid_attribute, "'{}' is {}, found {}", name, row->form,
                         quoted(written_text));
  if (row == nullptr) function_.attrs[name] = std::move(written_text);
  return Done{};
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
      if (known->value.loop_level > 0 && known->value.loop_level <= axis_blocks_ && !in_head_) {
        Failure failure =
            source_.error(e.place, Kind::ill_formed,
                          "'{}' is the variable of a loop around the block, whose body sees its axes only", e.text);
        source_.hint("bind an axis to it, as in v{0} = T.axis.spatial(extent, {0})", e.text);
        return failure;
      }
      return Scalar{known->value.scalar};
    case PrimName::kBuffer:
      return source_.error(e.place, Kind::invalid_value, "'{}' is a buffer; read an element, as in {}[i]", e.text,
                           e.text);
    case PrimName::kHandle:
      break;
  }
  return source_.error(e.place, Kind::invalid_value, "'{}' is a handle; T.match_buffer gives it elements", e.text);
}

/// An integer parameter that stands where an index belongs is one.
void PrimFuncReader::use_as_index(arith::Expr e) {
  for (arith::Var var : arith::free_vars(e))
    if (auto param = integer_params_.find(var->id); param != integer_params_.end())
      used_as_index_.insert(param->second);
}

}  // namespace relaxc::frontend
