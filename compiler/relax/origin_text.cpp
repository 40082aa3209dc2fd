// origin_text.cpp: see origin_text.h.
#include "compiler/relax/origin_text.h"

#include <fmt/format.h>

#include "compiler/relax/op_def.h"
#include "compiler/support/quote.h"
#include "compiler/tir/visit.h"

namespace relaxc::relax {
namespace {

std::string word_of(const Op& op) {
  switch (op.kind) {
    case OpKind::kOperator:
      return std::string(op.def->name.text());
    case OpKind::kCallTir:
    case OpKind::kCallFunction:
    case OpKind::kCallExternal:
    case OpKind::kShapeFunction:
    case OpKind::kCallInplace:
      return base_name(op.callee);
    case OpKind::kIf:
      return "if";
    case OpKind::kLoop:
      return "loop";
    case OpKind::kMatchCast:
      return "match_cast";
    case OpKind::kAssert:
      return "assert";
    case OpKind::kPrint:
      return "print";
    case OpKind::kConstant:
    case OpKind::kShape:
    case OpKind::kPrim:
    case OpKind::kTuple:
    case OpKind::kTupleGet:
    case OpKind::kMakeClosure:
    case OpKind::kCallClosure:
      return "value";
  }
  RELAXC_UNREACHABLE();
}

}  // namespace

std::string base_name(const std::string& name) {
  size_t end = name.find_last_not_of("0123456789");
  return end != std::string::npos && end + 1 < name.size() && name[end] == '_' ? name.substr(0, end) : name;
}

std::string call_text(const Op& op, const tir::PrimFunc& kernel) {
  std::string text;
  for (const std::string& member : op.guarded) text += (text.empty() ? "" : ", ") + member;
  if (op.guarded.empty()) text = origin_text(op);
  tir::for_each_stmt(kernel.body, [&](tir::Stmt s) {
    const auto* guard = s.as<tir::Guard>();
    if (guard != nullptr && !guard->message.empty()) text += ": " + guard->message;
  });
  return text;
}

std::string located_text(const Op& op, const Requirement& requirement) {
  bool placed = !requirement.text.empty() && requirement.text[0] != ':';
  return placed ? requirement.text : origin_text(op) + requirement.text;
}

std::string origin_text(const Op& op) {
  if (op.location != nullptr)
    if (const auto* node = std::get_if<NodeOrigin>(op.location))
      return printable(fmt::format("{} '{}'", node->op, node->node));
  if (!op.results.empty() && !op.results[0]->name.empty())
    return printable(fmt::format("{} '{}'", word_of(op), op.results[0]->name));
  if (op.location == nullptr) return word_of(op);
  return printable(fmt::format("{} at {}", word_of(op), short_name(op.location)));
}

}  // namespace relaxc::relax
