// parts.cpp: what concerns several parts of the reader.
#include "frontends/relay/text/parts.h"

namespace relaxc::relay {

Expr ReaderParts::named(Expr value, const std::string& wanted, Place place) {
  const bool has_name = value->is(ast::ExprKind::kName) && !value->text.empty();  // a hole has none yet
  if (has_name) return value;
  const std::string name = tree.unique(wanted);
  if (values.are_inferred()) values.set_name(name, values.of(value));
  return tree.bind(name, value, place);
}

std::string ReaderParts::declare(const std::string& variable) {
  std::string name = tree.unique(variable);
  variables.set_local(variable, name);
  return name;
}

}  // namespace relaxc::relay
