// operator_text.cpp: prints the rows of the op table as signatures.
#include "compiler/language_server/operator_text.h"

#include "compiler/relax/attr_text.h"

namespace relaxc::language_server {

const relax::OpDef* operator_of(const relax::OpTable& ops, const std::string& path) {
  for (std::string_view prefix : {"R.", "relax.op.", "relax."})
    if (path.rfind(prefix, 0) == 0)
      if (const relax::OpDef* found = ops.find(path.substr(prefix.size()))) return found;
  return nullptr;
}

std::string signature(const relax::OpDef& op) {
  std::string parameters;
  auto add = [&](const std::string& text) { parameters += (parameters.empty() ? "" : ", ") + text; };
  for (const relax::OperandDef& operand : op.operands) {
    const bool any = operand.arity == relax::OperandDef::kVariadic;
    const bool optional = operand.arity == relax::OperandDef::kOptional;
    add((any ? "*" : "") + std::string(operand.name) + (optional ? "=None" : ""));
  }
  for (const relax::AttrDef& attr : op.attrs) {
    std::string text(attr.name);
    if (!attr.required) text += "=" + relax::attr_text(relax::parse_attr(attr.fallback, attr.type));
    add(text);
  }
  return "R." + std::string(op.name.text()) + "(" + parameters + ")";
}

}  // namespace relaxc::language_server
