// prim_attributes.cpp: reads T.func_attr: attributes of a prim func.
#include "compiler/support/quote.h"
#include "compiler/tir/func_attrs.h"
#include "frontends/relax/prim/signature.h"
#include "frontends/relax/text/call_text.h"
#include "frontends/relax/text/literals.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;

namespace {

Status read_attribute(PrimParts& fn, const ast::Expr& key, const ast::Expr& written) {
  RELAXC_TRY(std::string name, string_value(fn.source, key, "an attribute's name"));
  // Some versions of TVM print flags as T.bool(True), and numbers as T.int64(1).
  const std::string callee = callee_of(&written);
  bool boxed = written.items.size() == 2 && (callee == "T.bool" || callee == "T.int32" || callee == "T.int64");
  const ast::Expr& value = boxed ? *written.items[1] : written;
  bool flag = value.is(AstKind::kTrue);
  std::string plain = name.rfind("tirx.", 0) == 0 ? "tir." + name.substr(5) : name;
  if (plain == "tir.noalias" || plain == "tir.is_scheduled" || plain == "tir.is_private") {
    bool number = value.is(AstKind::kInt);
    if (!flag && !value.is(AstKind::kFalse) && !number)
      return fn.source.error(value.place, Kind::invalid_attribute, "'{}' is True or False", name);
    if (plain == "tir.noalias") fn.function.noalias = flag || (number && value.text != "0");
    return Done{};
  }
  if (name == "global_symbol") {
    RELAXC_TRY(std::string symbol, string_value(fn.source, value, "a symbol"));
    if (symbol == fn.function.name) return Done{};
    if (fn.scope.globals.count(symbol) == 0 && fn.scope.module.find_prim_func(symbol) == nullptr) {
      fn.function.name = symbol;  // the name that it is exported by; the text calls it by the other
      return Done{};
    }
    return fn.source.error(value.place, Kind::ill_formed,
                           "global_symbol \"{}\" is the name of another function of the module", symbol);
  }
  // Ignore what TVM keeps for its own passes: the target it compiled for, layouts, options.
  bool foreign = (value.is(AstKind::kCall) && tir::find_func_attr(name) == nullptr) || value.is(AstKind::kDict) ||
                 value.is_sequence() || value.is(AstKind::kNone) || value.is(AstKind::kFloat) ||
                 value.is(AstKind::kSubscript);
  if (foreign) return Done{};
  const bool negative = value.is(AstKind::kUnary) && value.text == "-" && value.items[0]->is(AstKind::kInt);
  bool text = value.is(AstKind::kString) || value.is(AstKind::kInt) || negative;
  if (!text && !flag && !value.is(AstKind::kFalse))
    return fn.source.error(value.place, Kind::invalid_attribute, "'{}' must be a string, an integer or a bool", name);
  std::string written_text = negative ? "-" + value.items[0]->text : text ? value.text : flag ? "True" : "False";
  const tir::FuncAttr* row = tir::find_func_attr(name);
  if (row != nullptr && !row->parse(fn.function, written_text))
    return fn.source.error(value.place, Kind::invalid_attribute, "'{}' is {}, found {}", name, row->form,
                           relaxc::quoted(written_text));
  if (row == nullptr) fn.function.attrs[name] = std::move(written_text);
  return Done{};
}

}  // namespace

Status prim_attributes(PrimParts& fn, const ast::Expr& call) {
  if (call.items.size() != 2 || !call.items[1]->is(AstKind::kDict))
    return fn.source.error(call.place, Kind::invalid_attribute, "T.func_attr takes one dict");
  const std::vector<const ast::Expr*>& entries = call.items[1]->items;
  for (size_t i = 0; i + 1 < entries.size(); i += 2) RELAXC_DO(read_attribute(fn, *entries[i], *entries[i + 1]));
  return Done{};
}

}  // namespace relaxc::frontend
