// callable_info.cpp: reads function types: symbols in quotes, and those that no scope knows, are the type's own.
#include <algorithm>
#include <cctype>
#include <optional>

#include "compiler/relax/callable.h"
#include "frontends/relax/function/infos.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;
using relax::Info;

namespace {

/// Returns dims of a type that are names in quotes. They are the type's own symbols, also where it names them again.
std::vector<std::string> quoted_dims(const ast::Expr& type) {
  std::vector<std::string> names;
  std::vector<const ast::Expr*> waiting{&type};
  while (!waiting.empty()) {
    const ast::Expr& e = *waiting.back();
    waiting.pop_back();
    for (const ast::Expr* item : e.items) {
      bool plain = !item->text.empty() && std::isdigit(static_cast<unsigned char>(item->text[0])) == 0 &&
                   std::all_of(item->text.begin(), item->text.end(),
                               [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
      if (e.is_sequence() && item->is(AstKind::kString) && plain) names.push_back(item->text);
      waiting.push_back(item);
    }
    for (const ast::Keyword& keyword : e.keywords) waiting.push_back(keyword.value);
  }
  return names;
}

/// The arguments of R.Callable(params, result, purity).
struct CallableType {
  const ast::Expr *params = nullptr, *result = nullptr, *purity = nullptr;
};

Result<CallableType> callable_type(SourceText& source, const ast::Expr& e) {
  std::vector<const ast::Expr*> arguments = info_arguments(e);
  CallableType type;
  if (!arguments.empty()) type.params = arguments[0];
  if (arguments.size() > 1) type.result = arguments[1];
  if (arguments.size() > 2) type.purity = arguments[2];
  for (const ast::Keyword& keyword : e.keywords) {
    if (keyword.name == "ret") type.result = keyword.value;
    if (keyword.name == "purity") type.purity = keyword.value;
  }
  if (type.params != nullptr && type.params->is_sequence() && type.result != nullptr) return type;
  Failure failure = source.error(e.place, Kind::ill_formed, "expected R.Callable((parameters,), result)");
  if (type.params != nullptr && type.result != nullptr)
    source.hint("a list of one parameter is written with a comma: ({},)",
                source.text().substr(type.params->place.begin, std::min<uint32_t>(type.params->place.length, 40)));
  return failure;
}

/// Returns the type with its own symbols listed, in order of first mention.
Info with_own_symbols(arith::Context& context, Info type, const DimPattern::OwnSymbols& own) {
  std::vector<arith::Var> symbols = relax::symbols_of(type);
  std::erase_if(symbols, [&](arith::Var var) {
    return std::none_of(own.begin(), own.end(), [&](const auto& entry) { return entry.second == var; });
  });
  const auto& callable = *type->as<relax::CallableInfo>();
  return relax::callable_info(context, std::move(symbols), callable.params, callable.result, callable.pure);
}

}  // namespace

Result<Info> read_callable_info(FunctionParts& fn, const ast::Expr& e) {
  RELAXC_TRY(CallableType written, callable_type(fn.source, e));
  DimPattern& pattern = fn.dims.pattern();
  DimPattern::OwnSymbols own;
  std::optional<DimPattern::Callable> outermost;
  if (pattern.own_symbols() == nullptr) {
    outermost.emplace(pattern, own);
    for (const std::string& name : quoted_dims(e)) (void)pattern.own_symbol(fn.context(), name);
  }
  std::vector<Info> params;
  bool ok = true;
  for (const ast::Expr* item : written.params->items) {
    Result<Info> param = read_info(fn, *item);
    ok = ok && param;
    if (param) params.push_back(*param);
  }
  Result<Info> result = read_info(fn, *written.result);
  if (!ok || !result) return fn.diag().failed();
  bool pure = written.purity == nullptr || !written.purity->is(AstKind::kFalse);
  Info type = relax::callable_info(fn.context(), {}, std::move(params), *result, pure);
  return outermost ? with_own_symbols(fn.context(), type, own) : type;
}

}  // namespace relaxc::frontend
